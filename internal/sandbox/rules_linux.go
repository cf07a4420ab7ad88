package sandbox

import (
	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// What a worker may ask of the kernel once it has entered the sandbox. All else
// answers "operation not permitted"; a call of a foreign architecture kills.
//
// Each line is a loosening: whoever adds one says here what needs it.

// allowed may be called with any arguments.
func allowed() []string {
	return append([]string{
		// The Go scheduler and its timers.
		"futex", "nanosleep", "sched_yield", "restart_syscall", "epoll_ctl", "epoll_pwait",
		// Memory; mmap stands below.
		"munmap", "madvise",
		// Signals, by which the runtime preempts goroutines; tgkill stands below.
		"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "getpid", "gettid",
		// The pipes: no other descriptor exists.
		"read", "write", "close",
		// Time and randomness, when the vDSO does not answer.
		"clock_gettime", "getrandom",
		// The end.
		"exit", "exit_group",
	}, allowedForC()...)
}

// allowedWith may be called with these arguments. Several entries for one name
// are alternatives.
func allowedWith(pid int) []seccomp.NameWithConditions {
	rules := []seccomp.NameWithConditions{
		{Name: "mmap", Conditions: seccomp.ArgumentConditions{
			{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC},
			{Argument: 3, Operation: seccomp.BitsSet, Value: unix.MAP_ANONYMOUS},
		}},
		{Name: "tgkill", Conditions: seccomp.ArgumentConditions{
			{Argument: 0, Operation: seccomp.Equal, Value: uint64(pid)},
		}},
	}
	for _, flags := range threadFlags() {
		rules = append(rules, seccomp.NameWithConditions{Name: "clone", Conditions: seccomp.ArgumentConditions{
			{Argument: 0, Operation: seccomp.Equal, Value: flags},
		}})
	}
	return append(rules, allowedForCWith()...)
}

// goThread is how the Go runtime starts a thread.
const goThread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_THREAD

// threadFlags are the flags that clone may be called with: threads of this
// process and nothing else.
func threadFlags() []uint64 {
	return append([]uint64{goThread, goThread | unix.CLONE_SETTLS}, threadFlagsForC()...)
}

func policy(pid int) seccomp.Policy {
	return seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow, Names: allowed(), NamesWithCondtions: allowedWith(pid)},
		},
	}
}
