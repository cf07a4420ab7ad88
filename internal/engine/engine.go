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
)

// Options are what holds for an Engine's whole life.
type Options struct {
	Isolates int   // isolates that exist at the same time; more calls may wait than that
	Memory   int64 // largest cap of one call, bytes

	// Library is what Library gave in another process of this same program, which had
	// run no body yet. With it the engine starts without compiling its scripts; nil: it compiles them.
	Library []byte
}

// Engine runs calls, each in an isolate of its own. Safe for concurrent use.
type Engine struct {
	options Options
	library *library

	deadlines *deadlines

	mu sync.Mutex
	seats
}

// Code is a body that was compiled. It stays usable as long as its Engine. Safe for concurrent use.
type Code struct {
	bytecode []byte
	needs    needs
}

// New compiles the platform and makes the first isolate.
func New(o Options) (*Engine, error) {
	l, err := newLibrary(o.Library)
	if err != nil {
		return nil, err
	}
	o.Isolates = max(1, o.Isolates)
	e := &Engine{options: o, library: l, deadlines: newDeadlines()}
	i, err := newIsolate(o.Memory, l)
	if err != nil {
		return nil, err
	}
	e.idle, e.made = []*isolate{i}, 1
	return e, nil
}

// Library is the scripts that every isolate starts with, compiled.
func (e *Engine) Library() []byte { return e.library.encode() }

// Compile compiles code, which evaluates to the function to call, and runs none
// of it. file is the name shown in stacks.
func (e *Engine) Compile(file string, code []byte) (*Code, *wire.Failure) {
	r := newRun(e, &Job{Timeout: compileTimeout, Memory: e.options.Memory})
	e.deadlines.add(r)
	defer e.deadlines.remove(r)
	if f := e.seat(r); f != nil {
		return nil, f
	}
	defer e.stand(r)
	defer r.finish()
	return r.compile(file, string(code))
}

// Call is a call that Start made.
type Call struct{ run *run }

// Start makes a call, which Run then runs. Reply and Cancel are welcome from now on.
func (e *Engine) Start(job *Job) *Call { return &Call{run: newRun(e, job)} }

// Run runs the call to its end on this goroutine, waiting for an isolate first.
// It tells the result as JSON, or why there is none, and then puts the isolate back, so that
// who waits for the result does not wait for that. Call it once.
func (c *Call) Run(tell func(result []byte, meta wire.ResultMeta)) {
	r := c.run
	r.engine.deadlines.add(r)
	defer r.engine.deadlines.remove(r)
	out, failure := r.do()
	defer r.engine.stand(r)
	tell(out, wire.ResultMeta{Error: failure, CPUNS: int64(r.busy), Peak: r.highest(), Dropped: r.dropped})
}

// Reply answers one of the call's requests. The call keeps the slices.
func (c *Call) Reply(p Reply) { c.run.reply(p) }

// Cancel ends the call soon: its signal aborts, then it is interrupted.
func (c *Call) Cancel() { c.run.cancel() }

// Close gives the memory of idle isolates back. No call may be under way.
func (e *Engine) Close() error {
	e.deadlines.watch.Stop()
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
