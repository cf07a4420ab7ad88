package sandbox

import (
	"debug/elf"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confineThread takes from the calling thread, and from all that it will fork,
// new privileges, capabilities, the filesystem and TCP. The binary at path
// (empty: the own one) stays executable.
func confineThread(path string) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if err := landlock(path); err != nil {
		return fmt.Errorf("the Landlock rules: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

// needABI is the Landlock version that a required sandbox asks for: the first
// that denies TCP.
const needABI = 4

// ruleset is all that the Landlock version can deny.
func ruleset(abi int) unix.LandlockRulesetAttr {
	const v1 = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1
	attr := unix.LandlockRulesetAttr{Handled_access_fs: v1}
	for _, step := range []struct {
		abi         int
		fs, net, to uint64
	}{
		{abi: 2, fs: unix.LANDLOCK_ACCESS_FS_REFER},
		{abi: 3, fs: unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{abi: 4, net: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
		{abi: 5, fs: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{abi: 6, to: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL},
	} {
		if abi >= step.abi {
			attr.Handled_access_fs |= step.fs
			attr.Handled_access_net |= step.net
			attr.Scoped |= step.to
		}
	}
	return attr
}

// landlockABI is the kernel's Landlock version, or why there is none.
func landlockABI() (int, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(abi), nil
}

// landlock denies the calling thread everything but to execute the binary at
// path. A kernel without Landlock is not an error: Layers reports it.
//
// The calls are made by hand because the go-landlock library restricts the
// whole process, and this must restrict one thread.
func landlock(path string) error {
	abi, err := landlockABI()
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	if err != nil {
		return err
	}
	attr := ruleset(abi)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("making the rules: %w", errno)
	}
	defer unix.Close(int(fd))
	if err := allowBinary(int(fd), executable(path)); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("applying the rules: %w", errno)
	}
	return nil
}

// allowBinary lets the binary itself be executed, and a dynamically linked one
// read the system's libraries. (Seccomp denies both again once it has started.)
func allowBinary(ruleset int, path string) error {
	const file = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE // the kernel wants both, to execute
	if err := allow(ruleset, path, file); err != nil {
		return err
	}
	if static, err := isStatic(path); err != nil || static {
		return err
	}
	for _, lib := range []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64"} {
		if err := allow(ruleset, lib, file); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	err := allow(ruleset, "/etc/ld.so.cache", unix.LANDLOCK_ACCESS_FS_READ_FILE)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

func isStatic(path string) (bool, error) {
	binary, err := elf.Open(path)
	if err != nil {
		return false, fmt.Errorf("reading the worker's binary: %w", err)
	}
	defer binary.Close()
	for _, p := range binary.Progs {
		if p.Type == elf.PT_INTERP {
			return false, nil
		}
	}
	return true, nil
}

func allow(ruleset int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allowing %s: %w", path, errno)
	}
	return nil
}

// dropCapabilities empties every capability set of the calling thread. The
// bounding set matters most: without it, executing anything as root gives all back.
func dropCapabilities() error {
	for c := uintptr(0); c <= 63; c++ {
		held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err != nil {
			break // the kernel knows no more of them
		}
		if held == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // older kernels have no such set
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&head, &none[0])
}
