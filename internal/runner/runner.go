package runner

import (
	"container/list"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"toolroom/internal/sandbox"
	"toolroom/internal/tick"
	"toolroom/internal/wire"
	"toolroom/tool"
)

// Runner owns the worker processes of a room. The one who made it closes it.
type Runner struct {
	options  Options
	launcher *sandbox.Launcher

	mu       sync.Mutex
	progress sync.Cond // closing: calls or workers have become fewer
	crews    map[tool.Place]*crew
	spares   []*worker
	starved  []*crew // in line for a process
	leaving  int     // processes that were ended for those in line
	workers  map[*worker]struct{}
	spawning health // of workers that never got as far as a workspace
	closing  bool
	culprits map[culprit]struct{}

	// platform is the globals of isolates as the first worker compiled them, so that the ones after it
	// start without. A worker gives it before it was given any tool's code: it is this program's own.
	platform atomic.Pointer[[]byte]

	serving sync.WaitGroup // requests that hosts serve
	watch   *tick.Watch    // of workers that calls read for
	stop    chan struct{}  // closed to end the keeper
	stopped chan struct{}  // closed when all has ended
}

// New returns a Runner whose spares are starting. It fails when this machine
// cannot confine workers as Command requires.
func New(o Options) (*Runner, error) {
	o = o.withDefaults()
	if err := sandbox.AdoptOrphans(); err != nil {
		return nil, tool.Errorf(tool.Internal, "this process cannot inherit what tools leave behind: %w", err)
	}
	launcher, err := sandbox.NewLauncher(o.Command)
	if err != nil {
		return nil, tool.Errorf(tool.Internal, "workers cannot be confined: %w", err).
			WithHint("`toolroom doctor` lists what this machine has and lacks.")
	}
	r := &Runner{options: o, launcher: launcher, crews: make(map[tool.Place]*crew), workers: make(map[*worker]struct{}), culprits: make(map[culprit]struct{}),
		stop: make(chan struct{}), stopped: make(chan struct{})}
	r.progress.L = &r.mu
	r.watch = tick.NewWatch(watchTick, watchIdle, r.attend)
	r.mu.Lock()
	r.refill()
	r.mu.Unlock()
	go r.keep()
	return r, nil
}

// Call runs job and returns what it gave. A Failure is the body's: it failed, or
// ran into one of its limits. An error is the runner's, always a *tool.Error:
// timeout, memory_exceeded, worker_crashed, cancelled, overloaded, rate_limited, unhealthy, stopped. The
// Outcome tells the log and the usage in every case.
//
// A call that was caught in the end of its worker on another call's account, and
// had asked nothing of its host yet, is run once more.
func (r *Runner) Call(ctx context.Context, job *Job) (tool.Outcome, *wire.Failure, error) {
	c, err := r.run(ctx, job, false, &ticket{solo: r.alone(job)})
	if err == nil && c.spared {
		c, err = r.run(ctx, job, false, &ticket{solo: r.alone(job) || c.suspect, again: true})
	}
	if err != nil {
		return tool.Outcome{}, nil, err
	}
	if c.err != nil {
		return c.outcome, nil, c.err
	}
	return c.outcome, c.failure, nil
}

// checkLimit is how long the engine may take to compile a code, milliseconds.
const checkLimit = 10_000

// Check has a worker of place compile code and run nothing. It returns nil when
// the engine takes it.
func (r *Runner) Check(ctx context.Context, place tool.Place, file string, code []byte) (*wire.Failure, error) {
	job := &Job{Place: place, File: file, Code: code, Limits: tool.Limits{TimeoutMS: checkLimit}}
	c, err := r.run(ctx, job, true, &ticket{})
	if err == nil && c.spared {
		c, err = r.run(ctx, job, true, &ticket{again: true})
	}
	if err != nil {
		return nil, err
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.failure, nil
}

// run has one worker run job and returns the call when it has ended.
func (r *Runner) run(ctx context.Context, job *Job, check bool, t *ticket) (*call, error) {
	if err := fit(job); err != nil {
		return nil, err
	}
	t.check, t.loan, t.got = check, job.Loan, make(chan bool, 1)
	if err := r.enter(ctx, job.Place, t); err != nil {
		return nil, err
	}
	w := t.worker
	c := &call{job: job, check: check, limits: r.options.limits(job.Limits), logLimit: r.options.LogBytes, done: make(chan struct{})}
	defer r.leave(t, c)
	select {
	case <-w.ready:
	case <-ctx.Done():
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	w.call(c)
	c.await(ctx, w, r.options.Grace)
	return c, nil
}

// fit refuses what could not be sent.
func fit(job *Job) error {
	if n := max(len(job.Args), len(job.Code)); n > wire.MaxData {
		return tool.Errorf(tool.InvalidArguments, "%d bytes are more than a call can carry (%d)", n, wire.MaxData)
	}
	if len(job.Env) > wire.MaxMeta/2 || len(job.Env) > 0 && !json.Valid(job.Env) {
		return tool.Errorf(tool.Internal, "the environment of a call is too large or not JSON: %d bytes", len(job.Env))
	}
	return nil
}

// begin starts c's clock. What is left of ctx may be less than its limit.
func (c *call) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return tool.AsError(err)
	}
	c.began = time.Now()
	if deadline, ok := ctx.Deadline(); ok {
		left := deadline.Sub(c.began).Milliseconds()
		c.limits.TimeoutMS = max(1, min(c.limits.TimeoutMS, left))
	}
	return nil
}

// Probe waits until one worker has been started, confined and checked, and says
// why that failed. A room asks before it opens, so as not to find out at the
// first call.
func (r *Runner) Probe(ctx context.Context) error {
	r.mu.Lock()
	if r.closing {
		r.mu.Unlock()
		return stoppedUnless(false)
	}
	if len(r.spares) == 0 {
		r.spares = append(r.spares, r.spawn())
	}
	w := r.spares[0]
	r.mu.Unlock()
	select {
	case <-ctx.Done():
		return tool.AsError(ctx.Err())
	case <-w.ready:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if v := w.ended; v != nil && v.start {
		return tool.Errorf(tool.Internal, "a worker cannot be started: %s", v.why).
			WithHint("`toolroom doctor` says what this machine can confine. A program that embeds a room calls toolroom.WorkerMain first thing in main.")
	}
	return nil
}

// Close takes no more calls, waits for those that run until ctx ends, then ends
// them, and returns when no process is left. Calling it again waits for the
// same end.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	first := !r.closing
	r.closing = true
	r.turnAway()
	r.mu.Unlock()
	if !first {
		<-r.stopped
		return nil
	}
	cut := r.drain(ctx)
	r.endAll()
	r.serving.Wait()
	close(r.stop)
	<-r.stopped
	if cut > 0 {
		return tool.AsError(fmt.Errorf("%d calls were still running: %w", cut, ctx.Err()))
	}
	return nil
}

// turnAway tells everyone who waits that there will be no worker.
func (r *Runner) turnAway() {
	for _, c := range r.crews {
		for _, queue := range []*list.List{&c.queue, &c.nested} {
			for e := queue.Front(); e != nil; e = e.Next() {
				close(e.Value.(*ticket).got)
			}
			queue.Init()
		}
	}
}

// drain waits until no call runs or ctx ends, and says how many then do.
func (r *Runner) drain(ctx context.Context) int {
	wake := context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.progress.Broadcast()
	})
	defer wake()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.running() > 0 && ctx.Err() == nil {
		r.progress.Wait()
	}
	return r.running()
}

func (r *Runner) running() int {
	n := 0
	for _, c := range r.crews {
		n += c.running
	}
	return n
}

// endAll ends every worker and waits until the last has gone.
func (r *Runner) endAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for w := range r.workers {
		w.end(verdict{why: "the room stops"})
	}
	for len(r.workers) > 0 {
		r.progress.Wait()
	}
}
