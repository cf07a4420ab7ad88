package runner

import (
	"context"
	"encoding/json"

	"toolroom/tool"
)

// Host answers what the body of one call asks for. Serve is called for several
// requests at a time, mostly in goroutines of their own; a call that is alone serves its
// request in the goroutine that called Runner.Call, which does not return before. Serve returns soon
// after ctx ends: that is when the body no longer wants the answer.
type Host interface {
	Serve(ctx context.Context, req Request) Response
}

// Request is what a body asks of the room: not yet checked in any way.
type Request struct {
	Op   string
	Args json.RawMessage // one JSON value without duplicate names, or empty
	Data []byte
}

// Response answers a Request: Err, or Value beside Data.
type Response struct {
	Value json.RawMessage
	Data  []byte
	Err   *tool.Error
}

// Job is one call of one code. The Runner reads it until Call returns and
// changes nothing in it.
type Job struct {
	Place  tool.Place
	Key    string // names Code: the same for ever under one key
	File   string // name of the code in stacks
	Code   []byte
	Args   json.RawMessage
	Env    json.RawMessage
	Limits tool.Limits // zero fields mean the runner's own
	Solo   bool        // no other call runs in the same worker meanwhile

	Host       Host                // nil: every request is denied
	OnLog      func(tool.LogLine)  // called in order, never after Call has returned; must not block
	OnProgress func(tool.Progress) // likewise

	Loan *Loan // of the call that made this one and waits for it; nil for others
}
