package runner

import (
	"bufio"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"toolroom/internal/wire"
)

// A worker's pipe has one reader at a time. Mostly that is the worker's own goroutine, live. But waking another
// goroutine costs more than a small call: so a call that is alone in its worker reads for itself, and serves
// its own requests meanwhile, as long as it stays alone. Then, or when it serves one of its requests, nobody
// may be reading: the runner's watch has live take over soon.
//
// The worker's lock guards taken and left; reader is whose turn it is.
type lead struct {
	buffer *bufio.Reader // what was read from the pipe; reader reads it
	reader *wire.Reader
	turn   chan struct{} // live's turn to read; holds one
	taken  bool          // somebody reads, or is about to
	left   bool          // nobody read a tick ago
	err    error         // how the reading ended, for live
	term   atomic.Pointer[term]
}

// term is the time in which a call reads for itself, and so cannot look at its clock.
type term struct {
	call  *call
	end   atomic.Int64 // when the worker is ended, Unix nanoseconds
	cause atomic.Pointer[error]
	noted sync.WaitGroup // for the end of ctx to have been noted here
}

const (
	watchTick = 2 * time.Millisecond
	watchIdle = 500 // ticks without use before the watch ends
)

// handOver makes it live's turn. Called with mu held by whoever has the lead, or when nobody has.
func (w *worker) handOver() {
	w.lead.taken, w.lead.left = true, false
	w.lead.turn <- struct{}{}
}

// letGo gives the lead up: to live if other calls than those that serve for themselves want their results.
func (w *worker) letGo(served int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) > served || w.ended != nil || w.lead.err != nil {
		w.handOver()
		return
	}
	w.lead.taken, w.lead.left = false, false
	w.runner.watch.Start()
}

// takeLead says whether the caller has the lead from now on.
func (w *worker) takeLead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lead.taken || w.ended != nil {
		return false
	}
	w.lead.taken = true
	return true
}

// appoint has c, which is alone, read for itself. Called with mu held. Its limit holds from now on: it may be a
// while before all is sent to a worker that does not listen.
func (w *worker) appoint(c *call) {
	w.lead.taken = true
	c.term = &term{call: c}
	c.term.end.Store(c.limit().Add(w.runner.options.Grace).UnixNano())
	w.lead.term.Store(c.term)
	w.runner.watch.Start()
}

// readOn is live's turn: it reads until no call is left.
func (w *worker) readOn() error {
	<-w.lead.turn
	if w.lead.err != nil {
		return w.lead.err
	}
	for {
		f, err := w.lead.reader.Read()
		if err != nil {
			return err
		}
		e, err := w.take(f)
		if err != nil {
			return err
		}
		if e != nil {
			go e.serve()
		}
		if (f.Kind == wire.Result || f.Kind == wire.Checked) && w.isIdle() {
			w.letGo(0)
			return nil
		}
	}
}

func (w *worker) isIdle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pending) == 0
}

// readFor reads for c, which has the lead, until c has ended or somebody else reads. It returns when
// the worker is to be ended.
func (w *worker) readFor(ctx context.Context, c *call, grace time.Duration) time.Time {
	t, stop := c.term, func() bool { return true }
	if ctx.Done() != nil {
		t.noted.Add(1)
		stop = context.AfterFunc(ctx, func() { t.cancel(ctx, w, grace) })
	}
	has := true
	for has && !c.isOver() {
		has = w.step(c)
	}
	w.lead.term.CompareAndSwap(t, nil) // when c ended while it served, it may be another call's by now
	if has {
		w.letGo(0)
	}
	if !stop() {
		t.noted.Wait()
	}
	if cause := t.cause.Load(); cause != nil {
		c.cause = *cause
	}
	return time.Unix(0, t.end.Load())
}

// step reads one frame for c and acts on it; false when c has not the lead any more.
func (w *worker) step(c *call) bool {
	f, err := w.lead.reader.Read()
	var e *errand
	if err == nil {
		e, err = w.take(f)
	}
	switch {
	case err != nil:
		w.lead.err = err
		w.letGo(0)
		return false
	case e == nil:
		return true
	case e.call != c, w.lead.buffer.Buffered() > 0: // what has come already does not wait for e
		go e.serve()
		return true
	}
	w.letGo(1)
	e.serve()
	return w.takeLead()
}

// cancel has the worker end the call, or be ended itself.
func (t *term) cancel(ctx context.Context, w *worker, grace time.Duration) {
	cause := ctx.Err()
	if cause == context.DeadlineExceeded { // that one set the limit, which holds anyway
		t.noted.Done()
		return
	}
	t.cause.Store(&cause)
	t.end.Store(time.Now().Add(grace).UnixNano())
	t.noted.Done()
	_ = w.out.send(wire.Frame{Kind: wire.Cancel, Call: t.call.id}) // a worker that is gone ends the call by itself
}

// attend has live read when nobody does, and ends a worker whose reading call is over its limit. It says
// whether a call reads, and so has nobody else to look at its clock.
func (w *worker) attend(now time.Time) bool {
	t := w.lead.term.Load()
	if t != nil && now.UnixNano() > t.end.Load() {
		v := verdict{why: overdue, blame: t.call}
		if cause := t.cause.Load(); cause != nil {
			v.cause = *cause
		}
		w.end(v)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.lead.taken:
	case w.lead.left:
		w.handOver()
	default:
		w.lead.left = true
	}
	return t != nil
}

// overdue is why a worker is ended whose call did not end.
const overdue = "a call did not stop at its limit"

// attend looks at all workers. Only the watch calls it.
func (r *Runner) attend(now time.Time) {
	for _, w := range r.ready() {
		if w.attend(now) {
			r.watch.Start() // or it would end while the call still runs
		}
	}
}

func (r *Runner) ready() []*worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	ready := make([]*worker, 0, len(r.workers))
	for w := range r.workers {
		if w.isReady() {
			ready = append(ready, w)
		}
	}
	return ready
}
