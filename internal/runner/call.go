package runner

import (
	"context"
	"sync"
	"time"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// call is a call, or a check, that a worker has been given.
type call struct {
	id     uint64
	job    *Job
	limits tool.Limits
	check  bool
	began  time.Time
	done   chan struct{} // closed when ended
	term   *term         // when it reads for itself, see lead; nil otherwise
	cause  error         // why its caller left it; for its own goroutine

	mu       sync.Mutex // also orders what the worker says against the end
	ended    bool
	outcome  tool.Outcome
	failure  *wire.Failure
	err      *tool.Error
	spared   bool // ended with its worker on account of another call
	blamed   bool // its worker was ended because of it
	suspect  bool // it may be one that does not stop, or that took all the memory: its second run is alone
	logged   int  // bytes
	logLimit int
	requests requests
}

// end ends c, once: with fill's changes under the lock.
func (c *call) end(fill func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	fill()
	c.outcome.Usage.Wall = time.Since(c.began)
	c.requests.stop()
	close(c.done)
}

// live runs f unless c has ended.
func (c *call) live(f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil
	}
	return f()
}

// log keeps a line while there is room for it, and counts it otherwise. Each
// line costs a byte more than its text, or empty ones would cost nothing.
func (c *call) log(line tool.LogLine) {
	if c.logged+len(line.Text)+1 > c.logLimit {
		c.outcome.Dropped += int64(len(line.Text))
		return
	}
	c.logged += len(line.Text) + 1
	c.outcome.Logs = append(c.outcome.Logs, line)
	if c.job.OnLog != nil {
		c.job.OnLog(line)
	}
}

// await waits for the end of c in w. It is what makes deadlines hold: when the
// worker does not end the call itself, the worker is ended.
func (c *call) await(ctx context.Context, w *worker, grace time.Duration) {
	end := c.limit().Add(grace)
	if c.term != nil {
		end = w.readFor(ctx, c, grace)
	}
	if !c.isOver() {
		c.wait(ctx, w, end, grace)
	}
	if c.blamed && !c.check {
		w.runner.options.OnKilled(c.job.Place, c.job.Key)
	}
	c.reword()
}

// limit is when c's time is over.
func (c *call) limit() time.Time {
	return c.began.Add(time.Duration(c.limits.TimeoutMS) * time.Millisecond)
}

// wait is await where somebody else reads. The worker is ended at end.
func (c *call) wait(ctx context.Context, w *worker, end time.Time, grace time.Duration) {
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	gone := ctx.Done()
	if c.cause != nil {
		gone = nil // its worker was told already
	}
	for {
		select {
		case <-c.done:
			return
		case <-gone:
			gone = nil
			if ctx.Err() == context.DeadlineExceeded {
				continue // the limit was set by it, and the timer runs
			}
			c.cause = ctx.Err()
			_ = w.out.send(wire.Frame{Kind: wire.Cancel, Call: c.id}) // a worker that is gone ends the call by itself
			timer.Reset(grace)
		case <-timer.C:
			w.end(verdict{why: overdue, blame: c, cause: c.cause})
		}
	}
}

func (c *call) isOver() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// reword says that a call which failed after its caller had left was cancelled.
func (c *call) reword() {
	if c.cause != nil && (c.failure != nil || c.err != nil) {
		c.failure, c.err, c.spared = nil, tool.AsError(c.cause), false
	}
}
