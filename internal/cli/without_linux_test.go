package cli_test

import (
	"fmt"
	"os"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// programs are what scripts can run besides the system's.
func programs() map[string]func() {
	return map[string]func(){"toolroom": run, "toolroom-without": without}
}

// without CALL ARGS… is the program on a kernel that never had the system call.
func without() {
	filter := seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{os.Args[1]}}}}}
	if err := seccomp.LoadFilter(filter); err != nil {
		fmt.Fprintln(os.Stderr, "taking a system call away:", err)
		os.Exit(99)
	}
	os.Args = append(os.Args[:1], os.Args[2:]...)
	run()
}
