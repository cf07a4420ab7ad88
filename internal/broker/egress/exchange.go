package egress

import (
	"context"
	"sync"
	"time"

	"toolroom/tool"
)

// exchange is the life of one request and its answer: the tokens it holds and
// what must happen at its end.
type exchange struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	detach func() bool // from the context of the request that began it
	limit  time.Duration

	mu    sync.Mutex
	after []func()
	over  bool
}

// begin starts an exchange that ends with the call, with ctx while Fetch has
// not returned, and after limit.
func (c *Client) begin(ctx context.Context, limit time.Duration) *exchange {
	x := &exchange{limit: limit}
	x.ctx, x.cancel = context.WithCancelCause(c.life)
	x.detach = context.AfterFunc(ctx, func() { x.cancel(context.Cause(ctx)) })
	if limit > 0 {
		t := time.AfterFunc(limit, func() { x.cancel(errLate{}) })
		x.after = append(x.after, func() { t.Stop() })
	}
	return x
}

// errLate is the cause of an exchange that its own timeoutMs ended.
type errLate struct{}

func (errLate) Error() string { return "no complete answer in time" }

// admit waits for a turn among the call's requests and the workspace's. The
// first is given back when the headers are there, the second at the end.
func (x *exchange) admit(c *Client) error {
	if err := acquire(x.ctx, c.parallel); err != nil {
		return x.why(err)
	}
	if err := acquire(x.ctx, c.pool.open); err != nil {
		release(c.parallel)
		return x.why(err)
	}
	x.onFinish(func() { release(c.pool.open) })
	return nil
}

// returned detaches the exchange from its first request; false if that request
// has been taken back.
func (x *exchange) returned() bool { return x.detach() }

// onFinish adds f to what happens at the end, or runs it if that is past.
func (x *exchange) onFinish(f func()) {
	x.mu.Lock()
	if !x.over {
		x.after = append(x.after, f)
		x.mu.Unlock()
		return
	}
	x.mu.Unlock()
	f()
}

// finish ends the exchange; calling it again does nothing.
func (x *exchange) finish() {
	x.mu.Lock()
	after := x.after
	x.after, x.over = nil, true
	x.mu.Unlock()
	x.cancel(context.Canceled)
	for _, f := range after {
		f()
	}
}

// why is err, or the reason that the exchange was ended for.
func (x *exchange) why(err error) error {
	if x.ctx.Err() == nil {
		return err
	}
	cause := context.Cause(x.ctx)
	if _, late := cause.(errLate); late {
		e := tool.Errorf(tool.Timeout, "there was no complete answer in the %d ms that the request allows (timeoutMs)", x.limit.Milliseconds())
		e.Retryable = true
		return e
	}
	if known := tool.AsError(cause); known.Code != tool.Internal {
		return known
	}
	return err
}
