package toolroom

import (
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
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
	MemoryMB       int64             // memory of an isolate, MiB: 128, at most 1024
	MaxResult      int64             // bytes of a result: 1 MB, at most 16 MB
	MaxTools       int               // tools in a workspace: 100, at most 10,000
	InFlight       int               // calls of a workspace that run or wait at once: 64, at most 10,000; four times as many queue for their turn
	Workers        int               // worker processes of the room at once: 64, at most 1,000; one that holds 2 GiB is ended
	Rate           float64           // calls of a workspace a second, one second's worth of them at once: no limit

	// ExposeSecretFiles are patterns (path.Match, case ignored; a name or a path in the workspace) of
	// secret-like files, such as .env, that tools may read and change all the same. None.
	ExposeSecretFiles []string

	SecretKey SecretKey // what secrets are encrypted with; nil: a key file in Data, made when first needed

	Policy        string        // file of rules that answer approvals before anybody is asked; "": policy.json in Data, if it is there
	Approver      Approver      // asked when nobody nearer is there to ask, before the inbox; nil: nobody
	ApprovalWait  time.Duration // how long a change waits for its answer from the inbox; 0: it is refused, and the question kept
	NoGlobalTools []string      // tenants that may have no global tools; "*": none may

	Logger *slog.Logger // nil: silent
}

// Hooks are what one caller of a workspace wants to be told and asked.
type Hooks struct {
	Log      func(tool.LogLine)  // each line as it is written; must not block
	Progress func(tool.Progress) // each step as it is told; must not block
	Approver Approver            // asked before the room's own; nil: nobody nearer
}

// withDefaults completes o, or says which choice cannot be.
func (o Options) withDefaults() (Options, error) {
	if o.Data == "" {
		return o, tool.Errorf(tool.StorageFailed, "Options.Data is empty: a room needs a directory to keep things in")
	}
	if o.Isolation == "" {
		o.Isolation = PerIsolate
	}
	if o.Isolation != PerIsolate && o.Isolation != PerProcess {
		return o, tool.Errorf(tool.InvalidArguments, "isolation %q is neither isolate nor process", o.Isolation)
	}
	if o.Env == nil {
		o.Env = map[string]string{}
	}
	if o.Logger == nil {
		o.Logger = silent()
	}
	if !(o.Rate >= 0 && o.Rate <= maxRate) { // also not NaN
		return o, tool.Errorf(tool.InvalidArguments, "a workspace cannot make %g calls a second: more than 0, up to %d", o.Rate, maxRate)
	}
	ranges := []struct {
		name            string
		value           *int64
		otherwise, most int64
	}{
		{"memory in MiB", &o.MemoryMB, 128, 1024},
		{"result size in bytes", &o.MaxResult, 1 << 20, 16 << 20},
	}
	for _, r := range ranges {
		if err := within(r.name, r.value, r.otherwise, r.most); err != nil {
			return o, err
		}
	}
	return o.withCounts()
}

func (o Options) withCounts() (Options, error) {
	if o.ApprovalWait < 0 || o.ApprovalWait > maxApprovalWait {
		return o, tool.Errorf(tool.InvalidArguments, "a change cannot wait %s for its approval: 0 to %s", o.ApprovalWait, maxApprovalWait)
	}
	timeout, tools, calls, workers := int64(o.Timeout), int64(o.MaxTools), int64(o.InFlight), int64(o.Workers)
	if err := timeoutWithin(&timeout); err != nil {
		return o, err
	}
	if err := within("number of tools", &tools, 100, 10_000); err != nil {
		return o, err
	}
	if err := within("number of calls in flight", &calls, 64, 10_000); err != nil {
		return o, err
	}
	if err := within("number of worker processes", &workers, 64, 1000); err != nil {
		return o, err
	}
	for _, pattern := range o.ExposeSecretFiles {
		if _, err := path.Match(pattern, "x"); err != nil || pattern == "" {
			return o, tool.Errorf(tool.InvalidArguments, "%q is not a pattern of file names", pattern).WithHint("Write .env or config/*.env, with * and ? as wildcards.")
		}
	}
	o.Timeout, o.MaxTools, o.InFlight, o.Workers = time.Duration(timeout), int(tools), int(calls), int(workers)
	if o.Timeout < time.Millisecond {
		return o, tool.Errorf(tool.InvalidArguments, "a timeout of %s is too short: 1 ms is the least", o.Timeout)
	}
	return o, nil
}

// maxRate is the most calls a second that a limit can say.
const maxRate = 1_000_000

// maxApprovalWait is the most that a change waits for its answer.
const maxApprovalWait = time.Hour

// globalTools says whether a tenant may have global tools.
func (o Options) globalTools(tenant string) bool {
	return !slices.Contains(o.NoGlobalTools, tenant) && !slices.Contains(o.NoGlobalTools, "*")
}

func timeoutWithin(value *int64) error {
	const most = 15 * time.Minute
	if err := within("timeout", value, int64(30*time.Second), int64(most)); err != nil {
		return tool.Errorf(tool.InvalidArguments, "the timeout of a call cannot be %s: 1ms to %s", time.Duration(*value), most)
	}
	return nil
}

func within(name string, value *int64, otherwise, most int64) error {
	if *value == 0 {
		*value = otherwise
	}
	if *value < 0 || *value > most {
		return tool.Errorf(tool.InvalidArguments, "the %s cannot be %d: 1 to %d", name, *value, most)
	}
	return nil
}

// limits are the room's budgets of one call.
func (o Options) limits() tool.Limits {
	return tool.Limits{TimeoutMS: o.Timeout.Milliseconds(), MemoryMB: o.MemoryMB, MaxResultBytes: o.MaxResult}
}

// absRoot is the folder of a workspace, spelled one way.
func absRoot(root string) (string, error) {
	abs, err := filepath.Abs(root)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", tool.Errorf(tool.NotFound, "the workspace's folder %q cannot be found", root).WithCause(err).WithHint("Make the folder first, or name another.")
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return "", tool.Errorf(tool.NotFound, "the workspace's folder %q is not a folder", root).WithCause(err)
	}
	return abs, nil
}
