package command

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"toolroom/tool"
)

// needABI is the oldest Landlock that denies TCP.
const needABI = 4

// confinable says why this kernel cannot confine a command, if so.
func confinable() error {
	if abi := landlockABI(); abi < needABI {
		return tool.Errorf(tool.InvalidArguments, "this machine cannot confine commands: it has Landlock version %d, %d is needed", abi, needABI).
			WithHint("Leave --exec out, or use Linux 6.7 or newer with Landlock enabled.")
	}
	return nil
}

func landlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// become turns this process into the command. It returns only on failure.
func become(t task) error {
	if err := os.Chdir(t.Dir); err != nil {
		return fmt.Errorf("its folder is not there")
	}
	if err := limit(); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	if err := restrict(t); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := filter(); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return syscall.Exec(t.Path, t.Args, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + t.Temp, "TMPDIR=" + t.Temp, "LANG=C.UTF-8"})
}

func limit() error {
	for what, most := range map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 1024, unix.RLIMIT_FSIZE: 1 << 30} {
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}

// dropCapabilities empties all sets of this thread: a room that runs as root
// must not hand root's powers on.
func dropCapabilities() error {
	for c := uintptr(0); c <= 63; c++ {
		held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err != nil {
			break // the kernel knows no more of them
		}
		if held == 1 {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // not root: there is nothing to drop
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData // version 3 wants two
	return unix.Capset(&header, &none[0])
}

// restrict leaves the command the workspace, a folder for its temporary files,
// and what programs need of the system to start.
func restrict(t task) error {
	config := landlock.V4
	if landlockABI() >= 6 {
		config = landlock.V6 // also keeps it from signalling processes outside
	}
	rules := []landlock.Rule{
		landlock.RODirs("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ssl", "/etc/alternatives", "/proc/self").IgnoreIfMissing(),
		landlock.ROFiles("/etc/ld.so.cache", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/gitconfig",
			"/etc/mime.types", "/proc/cpuinfo", "/proc/meminfo", "/dev/urandom", "/dev/random", "/dev/zero").IgnoreIfMissing(),
		landlock.RWFiles("/dev/null", "/dev/full").IgnoreIfMissing(),
		landlock.RODirs(filepath.Dir(t.Path)),
		landlock.RWDirs(t.Temp).WithRefer(),
	}
	switch {
	case t.Root != "" && t.Write:
		rules = append(rules, landlock.RWDirs(t.Root).WithRefer(), landlock.RODirs(t.Root))
	case t.Root != "":
		rules = append(rules, landlock.RODirs(t.Root))
	}
	return config.Restrict(rules...)
}

// filter denies the system calls that lead out of what Landlock watches: every
// kind of socket but pairs, and the kernel's larger doors.
func filter() error {
	rules := seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{{
		Action: seccomp.ActionErrno | seccomp.Action(unix.EACCES),
		Names: []string{"socket", "io_uring_setup", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "mount", "umount2", "pivot_root", "unshare", "setns",
			"bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "kexec_load", "init_module", "finit_module", "open_by_handle_at"},
	}}}
	body, err := rules.Assemble()
	if err != nil {
		return err
	}
	native, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	const archOffset = 4 // of struct seccomp_data
	raw, err := bpf.Assemble(append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: archOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(native.ID), SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}, // another architecture's calls have other numbers
	}, body...))
	if err != nil {
		return err
	}
	return load(raw)
}

// load puts this thread, which is about to become the command, behind a filter.
func load(raw []bpf.RawInstruction) error {
	filters := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filters[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filters)), Filter: &filters[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}
