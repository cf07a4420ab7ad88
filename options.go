package toolroom

import (
	"log/slog"
	"time"

	"toolroom/tool"
)

// Isolation is how calls are kept apart.
type Isolation string

// The isolations. Calls of one workspace share its worker, each in an isolate
// of its own, or each call has a worker process to itself.
const (
	PerIsolate Isolation = "isolate"
	PerProcess Isolation = "process"
)

// Options are an operator's choices. Only Data must be set; a zero value
// elsewhere is the default named beside it.
type Options struct {
	Data string // directory where the room keeps everything; made if it is not there

	Isolation      Isolation         // PerIsolate
	RequireSandbox bool              // refuse to start without every layer of confinement
	NoNet          bool              // no tool reaches the network, whatever its grant says
	AllowPrivate   []string          // HOST:PORT or CIDR: private addresses that tools may reach all the same
	Exec           []string          // commands that tools may be granted
	Env            map[string]string // handed to bodies as env.vars
	Timeout        time.Duration     // wall clock of a call: 30 s, at most 15 min
	MemoryMB       int64             // memory of an isolate: 128, at most 1024
	MaxResult      int64             // bytes of a result: 1 MB, at most 16 MB
	MaxTools       int               // tools in a workspace: 100, at most 10,000

	Approver Approver     // asked when nobody nearer is there to ask, before the inbox; nil: nobody
	Logger   *slog.Logger // nil: silent
}

// Hooks are what one caller of a workspace wants to be told and asked.
type Hooks struct {
	Log      func(tool.LogLine)  // each line as it is written; must not block
	Progress func(tool.Progress) // each step as it is told; must not block
	Approver Approver            // asked before the room's own; nil: nobody nearer
}
