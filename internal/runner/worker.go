package runner

import (
	"bufio"
	"fmt"
	"sync"
	"time"

	"toolroom/internal/sandbox"
	"toolroom/internal/wire"
	"toolroom/tool"
)

// worker is one process. Its goroutine, live, starts it, reads what it says unless a call does, and
// sees it out.
type worker struct {
	runner *Runner
	ready  chan struct{} // closed when it may be called, or has failed to start

	process *sandbox.Process // set under mu before ready; nil when it could not be started
	out     *outbox          // set before ready

	held *held
	lead lead

	mu      sync.Mutex
	pending map[uint64]*call
	last    uint64   // the last call id
	ended   *verdict // nil while it lives

	loads  sync.Mutex // keeps Load before the Calls that need it
	loaded cache

	// The runner's lock guards these.
	crew    *crew     // nil for a spare; set once
	load    int       // calls
	solo    bool      // takes no further call
	again   bool      // the calls in it run for the second time
	used    bool      // had a call
	since   time.Time // of its last call's end
	leaving bool      // evicted
}

// verdict is why a worker was ended. The zero value is for one that ended by itself.
type verdict struct {
	why   string // for the operator
	blame *call  // whose deadline could not be held otherwise
	cause error  // of the one to blame: why it should have ended, when not for its limit
	crash bool   // counts towards unhealthy
	full  bool   // for its memory
	alone bool   // only one call was in it
	few   bool   // few enough calls were in it for each to run again alone
	start bool   // it never got as far as being ready
}

const (
	fewCalls   = 5
	startLimit = 10 * time.Second
	stallLimit = 4 * time.Second
)

func newWorker(r *Runner) *worker {
	return &worker{runner: r, ready: make(chan struct{}), pending: make(map[uint64]*call), held: newHeld(),
		lead: lead{turn: make(chan struct{}, 1), taken: true}, loaded: newCache(r.options.MaxCached), since: time.Now()}
}

// live is the whole life of a worker.
func (w *worker) live() {
	err := w.start()
	if err != nil {
		w.end(verdict{why: "it did not start: " + err.Error(), crash: true, start: true})
	}
	w.lead.turn <- struct{}{}
	close(w.ready)
	for err == nil {
		err = w.readOn()
	}
	w.end(verdict{why: err.Error(), crash: true}) // unless the room ended it before
	how := "never started"
	if w.process != nil {
		how = w.process.Wait()
	}
	w.runner.lost(w, how)
}

// start brings the worker to where it may be called: confined, and checked to
// be, before its first word is believed.
func (w *worker) start() error {
	if err := w.launch(); err != nil {
		return err
	}
	conn := w.process.Conn
	_ = conn.SetDeadline(time.Now().Add(startLimit)) // pipes that have no deadlines are read without
	w.lead.buffer = bufio.NewReaderSize(conn, 64<<10)
	compiled, err := w.greet()
	if err != nil {
		return err
	}
	if err := w.process.Verify(); err != nil {
		return fmt.Errorf("it is not confined: %w", err)
	}
	if len(compiled) > 0 {
		w.runner.platform.CompareAndSwap(nil, &compiled)
	}
	w.lead.reader = wire.NewReader(w.lead.buffer, wire.MaxMeta+wire.MaxData)
	return conn.SetDeadline(time.Time{})
}

// launch starts the process.
func (w *worker) launch() error {
	process, err := w.runner.launcher.Start()
	if err != nil {
		return err
	}
	w.out = newOutbox(process.Conn)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.process = process
	if w.ended != nil {
		process.Kill() // meanwhile the room has stopped
	}
	return nil
}

// maxPlatform bounds what a worker may send before it is called: the compiled platform.
const maxPlatform = 4 << 20

// greet says hello and waits for the worker to be ready. The first one brings the platform, compiled.
func (w *worker) greet() (compiled []byte, err error) {
	hello, err := w.hello()
	if err != nil {
		return nil, err
	}
	most := maxPlatform
	if hello.Data != nil {
		most = 0 // then no honest worker sends more than an empty frame before it is called
	}
	var first wire.Frame
	if err = w.out.send(hello); err == nil {
		first, err = wire.NewReader(w.lead.buffer, most).Read()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %s", err, w.process.Complaint())
	case first.Kind != wire.Ready || first.Call != 0 || first.Request != 0:
		return nil, fmt.Errorf("its first frame is %d", first.Kind)
	}
	return first.Data, nil // that reader reads no more
}

// hello is the first frame that a worker gets.
func (w *worker) hello() (wire.Frame, error) {
	o := w.runner.options
	meta, err := wire.Encode(wire.HelloMeta{Slots: o.Isolates, MemoryMB: o.MemoryMB, LogBytes: o.LogBytes, MaxCached: o.MaxCached})
	f := wire.Frame{Kind: wire.Hello, Meta: meta}
	if platform := w.runner.platform.Load(); platform != nil {
		f.Data = *platform
	}
	return f, err
}

// call gives c to the worker, which ends it sooner or later.
func (w *worker) call(c *call) {
	w.mu.Lock()
	if w.ended != nil {
		v := *w.ended
		w.mu.Unlock()
		c.orphan(v)
		c.spared = true // it was never sent
		return
	}
	w.last++
	c.id = w.last
	w.pending[c.id] = c
	switch {
	case w.lead.taken:
	case len(w.pending) == 1:
		w.appoint(c)
	default:
		w.handOver()
	}
	w.mu.Unlock()
	if err := w.post(c); err != nil {
		w.end(verdict{why: err.Error(), crash: true})
	}
}

// post sends the frames of c, which fit has seen to fit. An error is the worker's.
func (w *worker) post(c *call) error {
	if c.check {
		meta, err := wire.Encode(wire.CheckMeta{File: c.job.File})
		if err != nil {
			return err
		}
		return w.out.send(wire.Frame{Kind: wire.Check, Call: c.id, Meta: meta, Data: c.job.Code})
	}
	meta := wire.CallMeta{Key: c.job.Key, Env: c.job.Env, TimeoutMS: c.limits.TimeoutMS, MemoryMB: c.limits.MemoryMB, MaxResult: c.limits.MaxResultBytes}
	w.loads.Lock()
	defer w.loads.Unlock()
	frames, err := w.loaded.use(c.job)
	if err != nil {
		return err
	}
	return w.out.send(append(frames, wire.Frame{Kind: wire.Call, Call: c.id, Meta: meta.Pack(), Data: c.job.Args})...)
}

func (w *worker) isReady() bool {
	select {
	case <-w.ready:
		return true
	default:
		return false
	}
}

// end ends the worker, once, and every call in it. A call that has just ended is to blame for nothing.
func (w *worker) end(v verdict) {
	w.mu.Lock()
	if w.ended != nil || v.blame != nil && w.pending[v.blame.id] != v.blame {
		w.mu.Unlock()
		return
	}
	w.ended = &v
	if !w.lead.taken {
		w.handOver() // to see the process out
	}
	calls := w.pending
	w.pending = nil
	v.alone, v.few = len(calls) == 1, len(calls) <= fewCalls
	process := w.process
	w.mu.Unlock()
	if process != nil {
		process.Kill()
	}
	w.held.open()
	if v.blame != nil && !v.blame.check {
		w.runner.convict(v.blame)
	}
	for _, c := range calls {
		c.orphan(v)
	}
}

// orphan ends c because its worker is gone.
func (c *call) orphan(v verdict) {
	c.end(func() {
		c.blamed = v.blame == c
		switch {
		case v.blame == c && v.cause != nil:
			c.err = tool.AsError(v.cause)
		case v.blame == c:
			c.err = tool.Errorf(tool.Timeout, "the call did not end within %d ms and did not react to being stopped", c.limits.TimeoutMS).
				WithHint("Its process had to be ended. Look for a loop inside one built-in call, such as indexOf on something huge.")
		case v.full && v.alone:
			c.err = tool.Errorf(tool.MemoryExceeded, "the call's process used more memory than its share")
		case v.start:
			c.err = tool.Errorf(tool.WorkerCrashed, "no process could be started to run the call").
				WithHint("The room's log says why; `toolroom doctor` says what this machine can confine.")
		default:
			c.err = tool.Errorf(tool.WorkerCrashed, "the process that ran the call ended before there was a result")
			c.err.Retryable = c.outcome.Usage.Requests == 0
			c.spared = !v.crash && c.err.Retryable
			c.suspect = v.full || v.few
			if !c.err.Retryable {
				c.err.Hint = fmt.Sprintf("The call had made %d requests to the outside; check what they did before calling again.", c.outcome.Usage.Requests)
			}
		}
	})
}
