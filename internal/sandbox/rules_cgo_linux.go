//go:build cgo

package sandbox

import (
	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// A binary built with cgo makes its threads through the C library, which needs
// a little more. The product is built without; tests under -race are not.

func allowedForC() []string { return []string{"set_robust_list", "rseq", "sched_getaffinity"} }

func allowedForCWith() []seccomp.NameWithConditions {
	return []seccomp.NameWithConditions{{Name: "mprotect", Conditions: seccomp.ArgumentConditions{
		{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC},
	}}}
}

func threadFlagsForC() []uint64 {
	return []uint64{goThread | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID}
}

// absent must answer "no such call", on which the C library falls back to clone.
func absent() []string { return []string{"clone3"} }
