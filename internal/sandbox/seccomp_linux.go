package sandbox

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// program is the filter of process pid for the kernel. The library makes it of
// the rules; what comes before is ours: it gives a foreign architecture the
// default action, and that must be death.
func program(pid int) ([]bpf.RawInstruction, error) {
	rules := policy(pid)
	body, err := rules.Assemble()
	if err != nil {
		return nil, fmt.Errorf("assembling the system call rules: %w", err)
	}
	native, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("finding this machine's architecture: %w", err)
	}
	const archOffset = 4 // of struct seccomp_data
	head := []bpf.Instruction{
		bpf.LoadAbsolute{Off: archOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(native.ID), SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
	}
	return bpf.Assemble(append(append(head, unknownToC(native)...), body...))
}

// unknownToC answers "no such call" to what the C library tries first and has
// a substitute for. It is empty without cgo.
func unknownToC(native *arch.Info) []bpf.Instruction {
	var head []bpf.Instruction
	for _, name := range absent() {
		head = append(head,
			bpf.LoadAbsolute{Off: 0, Size: 4},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(native.SyscallNames[name]), SkipTrue: 1},
			bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)})
	}
	return head
}

// filter puts every thread of this process behind the rules, for ever.
//
// The library's own loader is not used: it takes the kernel's "thread N would
// not follow" for success.
func filter() error {
	raw, err := program(os.Getpid())
	if err != nil {
		return err
	}
	instructions := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		instructions[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	prog := unix.SockFprog{Len: uint16(len(instructions)), Filter: &instructions[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("loading the system call rules: %w", errno)
	}
	if thread != 0 {
		return fmt.Errorf("loading the system call rules: thread %d could not be confined", thread)
	}
	return nil
}

// seccompAvailable is nil when the kernel has all that filter needs.
func seccompAvailable() error {
	action := uint32(seccomp.ActionKillProcess)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return errno
	}
	return nil
}
