package sandbox

import (
	"fmt"
	"os"
)

// The layers that Verify depends on.
const (
	seccompName = "seccomp"
	verifyName  = "verification"
)

// Layers is what stands between a worker and this machine, outermost first.
func Layers() []Layer {
	return []Layer{
		processLayer(),
		{Name: "no_new_privs", Promise: "executing a set-uid program gives a worker nothing", Stands: true, Required: true, Detail: "set on the thread that starts workers"},
		{Name: "capabilities", Promise: "a worker of a privileged room has no privilege", Stands: true, Required: true, Detail: "every set emptied"},
		landlockLayer(),
		{Name: "limits", Promise: "no core dump, no file, no new descriptor, no locked memory", Stands: true, Required: true, Detail: "resource limits of 0"},
		seccompLayer(),
		verifyLayer(),
	}
}

func processLayer() Layer {
	return Layer{Name: "process", Promise: "tool code shares no memory, environment or descriptor with the room or another workspace",
		Stands: true, Required: true, Detail: "own process, empty environment, two pipes; ends with the room"}
}

func landlockLayer() Layer {
	l := Layer{Name: "landlock", Promise: "a worker reaches no file and no TCP port", Required: true}
	abi, err := landlockABI()
	switch {
	case err != nil:
		l.Detail = fmt.Sprintf("this kernel has no Landlock in use (%v); it takes Linux 6.7 or later with lsm=…,landlock", err)
	case abi < needABI:
		l.Detail = fmt.Sprintf("this kernel has Landlock %d, version %d (Linux 6.7) also denies TCP", abi, needABI)
	default:
		l.Stands, l.Detail = true, fmt.Sprintf("Landlock %d", abi)
	}
	return l
}

func seccompLayer() Layer {
	l := Layer{Name: seccompName, Promise: "a worker can compute, wait, and talk on its pipes; every other system call is refused", Required: true}
	if err := seccompAvailable(); err != nil {
		l.Detail = fmt.Sprintf("this kernel, or the container around this room, has no seccomp filters (%v)", err)
		return l
	}
	if _, err := program(os.Getpid()); err != nil {
		l.Detail = err.Error()
		return l
	}
	l.Stands, l.Detail = true, fmt.Sprintf("%d calls allowed freely, others by their arguments", len(allowed()))
	return l
}

func verifyLayer() Layer {
	l := Layer{Name: verifyName, Promise: "the room checks a worker before it trusts a word of it", Required: true}
	status, err := readFields("/proc/thread-self/status")
	switch {
	case err != nil:
		l.Detail = fmt.Sprintf("/proc cannot be read: %v", err)
	case status["Seccomp_filters"] == "":
		l.Detail = "this kernel does not say how many seccomp filters a thread has; it takes Linux 5.9 or later"
	default:
		l.Stands, l.Detail = true, "every thread, limit and descriptor, read from /proc"
	}
	return l
}
