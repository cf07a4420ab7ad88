// Package engine is the isolate: the only package that imports the JavaScript
// engine. All memory of one engine instance lives in one arena; after each call
// the arena's bytes are copied back from a snapshot, so a call always starts in
// an isolate that no other call used, for the price of copying a few hundred
// kilobytes. The globals live in the snapshot and cost a call nothing.
//
// An isolate has no authority. It computes, and asks its Host for the rest.
// The engine's memory is unsafe memory: assume that a body can take the process
// over, and see package sandbox for what that is worth.
package engine

import (
	"sync"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// Options are what holds for an Engine's whole life.
type Options struct {
	Isolates int   // calls that may be in an isolate at the same time
	Memory   int64 // largest cap of one call, bytes
}

// Engine runs calls, each in an isolate of its own. Safe for concurrent use.
type Engine struct {
	options Options
	library *library

	mu   sync.Mutex
	idle []*isolate    // ready: at their snapshot
	room chan struct{} // one token an isolate that may still be in use
}

// Code is a body that was compiled. It is immutable and stays usable as long as
// its Engine.
type Code struct{ bytecode []byte }

// New compiles the platform and makes the first isolate.
func New(o Options) (*Engine, error) {
	l, err := newLibrary()
	if err != nil {
		return nil, err
	}
	e := &Engine{options: o, library: l, room: make(chan struct{}, max(1, o.Isolates))}
	i, err := newIsolate(o.Memory, l)
	if err != nil {
		return nil, err
	}
	e.idle = append(e.idle, i)
	return e, nil
}

// Compile compiles code, which evaluates to the function to call, and runs none
// of it. file is the name shown in stacks.
func (e *Engine) Compile(file string, code []byte) (*Code, *wire.Failure) {
	e.room <- struct{}{}
	defer func() { <-e.room }()
	i, err := e.acquire()
	if err != nil {
		return nil, noIsolate(err)
	}
	defer e.release(i)
	r := newRun(&Job{Timeout: compileTimeout, Memory: e.options.Memory})
	r.assign(i)
	return r.compile(file, string(code))
}

func noIsolate(err error) *wire.Failure {
	return &wire.Failure{Code: tool.Overloaded, Message: "no isolate could be made: " + err.Error()}
}

// Call is a call that Start made.
type Call struct {
	engine *Engine
	run    *run
}

// Start makes a call, which Run then runs. Reply and Cancel are welcome from now on.
func (e *Engine) Start(job *Job) *Call { return &Call{engine: e, run: newRun(job)} }

// Run runs the call to its end on this goroutine, waiting for an isolate first.
// It returns the result as JSON, or why there is none. Call it once.
func (c *Call) Run() ([]byte, wire.ResultMeta) {
	r, e := c.run, c.engine
	select {
	case e.room <- struct{}{}:
	default:
		if f := r.queue(e.room); f != nil {
			return nil, wire.ResultMeta{Error: f}
		}
	}
	defer func() { <-e.room }()
	i, err := e.acquire()
	if err != nil {
		return nil, wire.ResultMeta{Error: noIsolate(err)}
	}
	defer e.release(i)
	r.assign(i)
	out, failure := r.do()
	return out, wire.ResultMeta{Error: failure, CPUNS: int64(r.busy), Peak: i.peak(), Dropped: r.dropped}
}

// Reply answers one of the call's requests. The call keeps the slices.
func (c *Call) Reply(p Reply) { c.run.reply(p) }

// Cancel ends the call soon: its signal aborts, then it is interrupted.
func (c *Call) Cancel() { c.run.cancel() }

// acquire takes an isolate; the caller holds a token of room.
func (e *Engine) acquire() (*isolate, error) {
	e.mu.Lock()
	if n := len(e.idle); n > 0 {
		i := e.idle[n-1]
		e.idle = e.idle[:n-1]
		e.mu.Unlock()
		return i, nil
	}
	e.mu.Unlock()
	return newIsolate(e.options.Memory, e.library)
}

// release puts the isolate back to its snapshot and offers it again.
func (e *Engine) release(i *isolate) {
	i.restore()
	e.mu.Lock()
	e.idle = append(e.idle, i)
	e.mu.Unlock()
}

// Close gives the memory of idle isolates back. No call may be under way.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var first error
	for _, i := range e.idle {
		if err := i.close(); err != nil && first == nil {
			first = err
		}
	}
	e.idle = nil
	return first
}
