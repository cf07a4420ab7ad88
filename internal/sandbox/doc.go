// Package sandbox starts worker processes that hold no authority, and says what
// this machine can enforce of that.
//
//	room                                        worker
//	Launcher: one thread, locked down once      inherits no_new_privs, Landlock, no capabilities
//	  └─ Start: pipes, fork, exec ────────────▶ Enter: GOMAXPROCS, limits, descriptors, seccomp
//	Process.Verify: reads /proc ◀── only then is the worker's first frame trusted
//
// On Linux, no_new_privs, the capability sets and the Landlock domain belong to
// a thread, and a forked child inherits those of the thread that forked it. So
// the room keeps one thread for starting workers and restricts that thread
// only: every worker is confined from its first instruction, by the room and
// not by its own word, without a second exec. The same thread is the parent
// whose death kills the workers.
//
// Elsewhere a worker is a separate process with an empty environment and
// nothing more; Layers says so.
package sandbox

import (
	"errors"
	"os"
)

// Marker is the zeroth argument of every worker process.
const Marker = "toolroom-worker"

// Command is what a worker is started as.
type Command struct {
	Path     string   // empty: this very executable, even when its file was replaced meanwhile
	Args     []string // seen by the worker as os.Args[2:]
	Required bool     // refuse to start when a required layer is missing, instead of going without
}

// Layer is one wall around a worker, as it stands on this machine.
type Layer struct {
	Name     string `json:"name"`
	Promise  string `json:"promise"`          // what it keeps from a worker
	Stands   bool   `json:"stands"`           // whether this machine has it
	Required bool   `json:"required"`         // whether a required sandbox fails without it
	Detail   string `json:"detail,omitempty"` // the version or rule in force, or why it does not stand
}

// Missing lists the required layers that do not stand.
func Missing(layers []Layer) []Layer {
	var missing []Layer
	for _, l := range layers {
		if l.Required && !l.Stands {
			missing = append(missing, l)
		}
	}
	return missing
}

// How a worker is told whether to go without layers that the machine lacks.
const (
	modeRequired  = "required"
	modeAvailable = "available"
)

func (c Command) argv() []string {
	mode := modeAvailable
	if c.Required {
		mode = modeRequired
	}
	return append([]string{Marker, mode}, c.Args...)
}

// Started says whether a process with these arguments was started by a
// Launcher: call it with os.Args, first thing in main.
func Started(args []string) bool {
	return len(args) >= 2 && args[0] == Marker && (args[1] == modeRequired || args[1] == modeAvailable)
}

// refuseWorker stops a program whose main does not begin by asking Started: its
// worker would start workers, and so on without end.
func refuseWorker() error {
	if Started(os.Args) {
		return errors.New("this process is a worker itself; its main must call toolroom.WorkerMain first thing")
	}
	return nil
}
