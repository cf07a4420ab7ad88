package runner

import (
	"container/list"
	"context"
	"time"

	"golang.org/x/time/rate"

	"toolroom/tool"
)

// crew is the workers of one workspace and the calls that wait for them. The
// runner's lock guards it.
type crew struct {
	place   tool.Place
	workers []*worker
	running int       // calls that have a worker, those on a loan apart
	queue   list.List // of *ticket, first come first
	nested  list.List // of *ticket: calls that running calls wait for; they go first
	starved bool      // stands in the runner's line for a process
	rate    *rate.Limiter
	health  health
	since   time.Time // when it was last used
}

// enter gets a worker for a call of place; leave gives it back. It waits in the
// workspace's own queue, so that one workspace's flood is its own.
func (r *Runner) enter(ctx context.Context, place tool.Place, t *ticket) error {
	c, err := r.line(place, t)
	if err != nil {
		return err
	}
	select {
	case ok := <-t.got: // mostly at once
		return stoppedUnless(ok)
	default:
	}
	timer := time.NewTimer(r.patience(t))
	defer timer.Stop()
	select {
	case ok := <-t.got:
		return stoppedUnless(ok)
	case <-ctx.Done():
		err = tool.AsError(ctx.Err())
	case <-timer.C:
		err = overloaded("the call waited %v for its turn", r.options.QueueWait)
	}
	r.abandon(c, t)
	return err
}

// patience is how long t waits. A nested call's turn comes when the calls before it have
// ended, and its caller's deadline is its own; but processes may all be taken by those who wait for it.
func (r *Runner) patience(t *ticket) time.Duration {
	if t.loan == nil || t.solo || r.options.PerCall {
		return r.options.QueueWait
	}
	return max(r.options.QueueWait, 15*time.Minute)
}

func stoppedUnless(ok bool) error {
	if ok {
		return nil
	}
	return tool.Errorf(tool.Stopped, "the room is stopping and takes no calls")
}

func overloaded(format string, args ...any) *tool.Error {
	return tool.Errorf(tool.Overloaded, "too many calls in this workspace: "+format, args...).
		WithHint("Wait a second and call again.").WithDetails(retryAfter(time.Second))
}

// retryAfter is the details of every error that only asks for patience.
func retryAfter(d time.Duration) any {
	return struct {
		MS int64 `json:"retry_after_ms"`
	}{max(1, d.Milliseconds())}
}

// line puts a call into place's queue, or says why not.
func (r *Runner) line(place tool.Place, t *ticket) (*crew, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return nil, stoppedUnless(false)
	}
	c := r.crew(place)
	if err := c.health.check(time.Now()); err != nil {
		return nil, err
	}
	queue, most := &c.queue, r.options.Queue
	if t.loan != nil {
		queue, most = &c.nested, maxNested
	}
	if queue.Len() >= most {
		return nil, overloaded("%d run and %d wait", c.running, queue.Len())
	}
	if t.counts() {
		if err := r.limitRate(c); err != nil {
			return nil, err
		}
	}
	queue.PushBack(t)
	r.pump(c)
	return c, nil
}

// limitRate counts a call of c, or says that it comes too early.
func (r *Runner) limitRate(c *crew) error {
	if c.rate == nil {
		return nil
	}
	turn := c.rate.Reserve()
	wait := turn.Delay()
	if wait <= 0 {
		return nil
	}
	turn.Cancel()
	return tool.Errorf(tool.RateLimited, "this workspace may make %g calls a second", r.options.Rate).
		WithHint("Call again in %d ms.", wait.Milliseconds()+1).WithDetails(retryAfter(wait))
}

func (r *Runner) crew(place tool.Place) *crew {
	c := r.crews[place]
	if c == nil {
		c = &crew{place: place}
		if r.options.Rate > 0 {
			c.rate = rate.NewLimiter(rate.Limit(r.options.Rate), r.options.Burst)
		}
		r.crews[place] = c
	}
	c.since = time.Now()
	return c
}

// abandon takes a ticket back, with the worker that it may just have got.
func (r *Runner) abandon(c *crew, t *ticket) {
	r.mu.Lock()
	for _, queue := range []*list.List{&c.queue, &c.nested} {
		for e := queue.Front(); e != nil; e = e.Next() {
			if e.Value == t {
				queue.Remove(e)
				break
			}
		}
	}
	r.mu.Unlock()
	select {
	case ok := <-t.got:
		if ok {
			r.leave(t, nil)
		}
	default:
	}
}

// pump gives workers to those who wait, as far as there are any.
func (r *Runner) pump(c *crew) {
	for t := c.next(r.options.InFlight); t != nil; t = c.next(r.options.InFlight) {
		w := r.pick(c, t)
		if w == nil {
			c.putBack(t)
			r.starve(c)
			return
		}
		w.load++
		w.used = true
		w.solo, w.again = t.solo || r.options.PerCall, t.again
		t.worker = w
		t.got <- true
	}
}

// pick finds the worker of c that has the least to do, or takes a new one. It
// returns nil when all processes are in use.
func (r *Runner) pick(c *crew, t *ticket) *worker {
	best := c.idlest(t, r.options)
	if best != nil && (best.load == 0 || len(c.workers) >= r.options.Spread || !r.spareIsReady()) {
		return best
	}
	w := r.spare()
	if w == nil {
		return nil
	}
	w.crew = c
	c.workers = append(c.workers, w)
	return w
}

// idlest is the worker of c with the fewest calls of those that take one more, or nil.
func (c *crew) idlest(t *ticket, o Options) *worker {
	var best *worker
	for _, w := range c.workers {
		if w.takes(t, o) && w.alive() && (best == nil || w.load < best.load) {
			best = w
		}
	}
	return best
}

// takes says whether one more call may join those in w.
func (w *worker) takes(t *ticket, o Options) bool {
	switch {
	case w.solo, o.PerCall && w.used:
		return false
	case w.load == 0:
		return true
	}
	return !t.solo && w.again == t.again
}

func (w *worker) alive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended == nil
}

// leave gives a call's worker back. c is the call, or nil when it never began.
func (r *Runner) leave(t *ticket, c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := t.worker
	w.load--
	w.crew.dismiss(t)
	if c != nil && c.answered() {
		w.crew.health = health{}
	}
	if w.load == 0 {
		w.solo, w.since = false, time.Now()
		if r.options.PerCall {
			w.solo = true
			w.end(verdict{why: "it has had its one call"})
		}
	}
	r.pump(w.crew)
	if w.load == 0 {
		r.feed()
	}
	if r.closing {
		r.progress.Broadcast()
	}
}

// answered says whether c ended by its worker's word.
func (c *call) answered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended && c.err == nil
}
