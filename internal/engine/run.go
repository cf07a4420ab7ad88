package engine

import (
	"container/list"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	lib "modernc.org/libquickjs"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// Host is what an isolate's call speaks to. Its methods are called from the
// goroutine that runs the call, must not block for long, and must not keep the
// slices they are given.
type Host interface {
	Request(id uint32, op string, args, data []byte)
	Abort(id uint32)
	Log(level string, at time.Duration, text string)
	Progress(p tool.Progress)
}

// Job is one call. Code must come from the same Engine.
type Job struct {
	Code      *Code
	Args      []byte // JSON
	Env       []byte // JSON object
	Timeout   time.Duration
	Memory    int64 // bytes
	MaxResult int64 // bytes
	MaxLog    int   // bytes
	Host      Host
	OnWait    func() // called on the call's goroutine before it first waits for anything; nil: nobody wants to know
}

// run is a Job under way. Its own goroutine drives it; reply, cancel and stop may be
// called from any.
type run struct {
	engine     *Engine
	job        *Job
	start      time.Time
	deadline   time.Time
	atDeadline int // place in Engine.deadlines, which guards it; -1: none
	timers     timers
	waiting    map[uint32]settling // requests without a reply
	asked      int                 // requests, also those that could not be sent
	rejected   []value             // promises rejected with nobody listening, each followed by its reason
	promise    value               // of the body
	logged     int
	dropped    int64
	busy       time.Duration // spent in the engine
	aborted    bool          // ctx.signal

	parked  *list.Element // in Engine.parked; guarded by Engine.mu
	granted chan *isolate // an isolate that was handed over in a line

	interrupted atomic.Uint32

	mu        sync.Mutex
	iso       *isolate // the one it is in, or must be in to go on
	seated    bool     // whether it is; written with Engine.mu or by its own goroutine
	inbox     []Reply
	saved     *saved // its isolate's memory, while set aside
	peak      int64  // bytes
	cancelled bool
	ended     bool
	wake      chan struct{}
}

func newRun(e *Engine, job *Job) *run {
	now := time.Now()
	return &run{engine: e, job: job, start: now, waiting: map[uint32]settling{}, deadline: now.Add(job.Timeout), promise: undefined(),
		wake: make(chan struct{}, 1), granted: make(chan *isolate, 1)}
}

// compileTimeout bounds the compilation of one body.
const compileTimeout = 5 * time.Second

// compile compiles a body in the run's isolate.
func (r *run) compile(file, source string) (*Code, *wire.Failure) {
	r.iso.begin(r.job.Memory)
	code, ok := r.iso.compile(file, source)
	if ok {
		return &Code{bytecode: code}, nil
	}
	f := r.failure()
	if f.Code == tool.CallFailed {
		f.Code = tool.SyntaxError
	}
	return nil, f
}

// highest is the most memory the call had in use, in bytes, once it has ended.
func (r *run) highest() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seated {
		return r.iso.peak()
	}
	return r.peak
}

func (r *run) now() time.Duration { return time.Since(r.start) }

// reply hands an answer to the call. Its slices must be the call's to keep.
func (r *run) reply(p Reply) {
	r.mu.Lock()
	r.inbox = append(r.inbox, p)
	r.mu.Unlock()
	r.nudge()
}

func (r *run) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *run) take() []Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.inbox
	r.inbox = nil
	return got
}

// do runs the call to its end.
func (r *run) do() ([]byte, *wire.Failure) {
	defer r.finish()
	if f := r.engine.seat(r); f != nil {
		return nil, f
	}
	r.iso.dress(r.job.Code.needs.list())
	r.iso.begin(r.job.Memory)
	t := time.Now()
	ok := r.enter()
	r.busy += time.Since(t)
	if !ok {
		return nil, r.failure()
	}
	return r.loop()
}

// stop interrupts the call, unless it has ended.
func (r *run) stop(why uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.interrupted.CompareAndSwap(interruptNone, why)
	if r.iso != nil {
		r.iso.hurry() // whoever is in it by now polls once too often, that is all
	}
	r.nudge()
	// The engine counts down between polls, and may write its count over ours.
	time.AfterFunc(time.Millisecond, func() { r.stop(why) })
}

// finish is the end of the call: nothing may touch its isolate any more.
func (r *run) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

// enter loads the code and calls the function. ok is false when an exception is pending.
func (r *run) enter() bool {
	i := r.iso
	fn := i.load(r.job.Code.bytecode)
	if isException(fn) {
		return false
	}
	args, env := i.parse(r.job.Args), i.parse(r.job.Env)
	if isException(args) || isException(env) {
		return false
	}
	ctx := i.invoke(i.hooks.begin, args, env)
	if isException(ctx) {
		return false
	}
	r.promise = i.invoke(fn, args, ctx)
	return !isException(r.promise)
}

// loop is the event loop: jobs, then whatever comes first of a reply, a timer
// and the end.
func (r *run) loop() ([]byte, *wire.Failure) {
	for {
		t := time.Now()
		value, failure, done := r.turn()
		r.busy += time.Since(t)
		if done {
			return value, failure
		}
		if failure := r.rest(); failure != nil {
			return nil, failure
		}
	}
}

// turn runs until the call has ended or only time or a reply can move it on.
func (r *run) turn() ([]byte, *wire.Failure, bool) {
	for {
		if failure := r.jobs(); failure != nil {
			return nil, failure, true
		}
		if state := r.state(); state != lib.EJS_PROMISE_PENDING {
			value, failure := r.end(state)
			return value, failure, true
		}
		r.reportRejections()
		if !r.event() {
			return nil, nil, false
		}
	}
}

// jobs runs promise jobs until none is left or the body's promise has settled.
func (r *run) jobs() *wire.Failure {
	i := r.iso
	for r.state() == lib.EJS_PROMISE_PENDING {
		n := lib.XJS_ExecutePendingJob(i.tls, i.rt, i.lenOut)
		if i.poll() != 0 {
			return r.interruption()
		}
		if n <= 0 {
			if n == 0 {
				return nil
			}
			i.drop()
		}
	}
	return nil
}

func (r *run) state() int32 {
	if !isObject(r.promise) {
		return lib.EJS_PROMISE_FULFILLED
	}
	return int32(lib.XJS_PromiseState(r.iso.tls, r.iso.ctx, r.promise))
}

// event delivers one reply or one due timer; false when there is none.
func (r *run) event() bool {
	if replies := r.take(); len(replies) > 0 {
		for _, p := range replies {
			r.deliver(p)
		}
		return true
	}
	if id, ok := r.timers.pop(r.now()); ok {
		r.callHook(r.iso.hooks.fire, number(float64(id)))
		return true
	}
	return r.noticeEnd()
}

// callHook calls a hook with owned arguments. Hooks catch what bodies throw, so
// an exception here is an interrupt or the end of memory; the loop sees both.
func (r *run) callHook(hook value, args ...value) {
	i := r.iso
	v := i.invoke(hook, args...)
	for _, a := range args {
		i.free(a)
	}
	if isException(v) {
		i.drop()
		return
	}
	i.free(v)
}

// noticeEnd aborts ctx.signal once the caller has cancelled or the deadline is near.
func (r *run) noticeEnd() bool {
	why := r.endNears()
	if why == "" || r.aborted {
		return false
	}
	r.aborted = true
	r.callHook(r.iso.hooks.abort, r.iso.str(why))
	return true
}

func (r *run) endNears() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.cancelled:
		return "cancelled"
	case r.now() >= r.warnAt():
		return "deadline"
	}
	return ""
}

// warnAt is when the signal aborts by itself: a tenth of the time before the
// deadline, at most half a second.
func (r *run) warnAt() time.Duration {
	return r.job.Timeout - min(r.job.Timeout/10, 500*time.Millisecond)
}

// cancel lets the body see its signal abort, and stops it soon after.
func (r *run) cancel() {
	r.mu.Lock()
	r.cancelled = true
	r.mu.Unlock()
	time.AfterFunc(cancelGrace, func() { r.stop(interruptCancel) })
	r.nudge()
}

// cancelGrace is how long a cancelled body may clean up.
const cancelGrace = 50 * time.Millisecond

// rest lets others have the isolate until there may be something to do.
func (r *run) rest() *wire.Failure {
	r.waits()
	r.engine.park(r)
	r.wait()
	if f := r.interruption(); f != nil {
		return f
	}
	return r.engine.unpark(r)
}

// waits tells whoever wants to know that the call is about to wait.
func (r *run) waits() {
	if tell := r.job.OnWait; tell != nil {
		r.job.OnWait = nil
		tell()
	}
}

// wait sleeps until a reply, a timer, the abort of the signal or the end.
func (r *run) wait() {
	until, any := r.timers.next()
	if !r.aborted && (!any || r.warnAt() < until) {
		until, any = r.warnAt(), true
	}
	if !any {
		<-r.wake // the deadline wakes it too
		return
	}
	sleep := time.NewTimer(until - r.now())
	defer sleep.Stop()
	select {
	case <-r.wake:
	case <-sleep.C:
	}
}

// log passes a line on while the call's share lasts, then counts.
func (r *run) log(level, text string) {
	room := r.job.MaxLog - r.logged
	if len(text) > room {
		r.dropped += int64(len(text) - max(0, room))
		text = cut(text, room)
	}
	if room <= 0 {
		return
	}
	r.logged += len(text) + logLineCost
	r.job.Host.Log(level, r.now(), text)
}

// logLineCost makes a flood of empty lines end too.
const logLineCost = 16

// cut is the first n bytes of s, at a character's border.
func cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// end encodes the result or describes what was thrown.
func (r *run) end(state int32) ([]byte, *wire.Failure) {
	i := r.iso
	if state == lib.EJS_PROMISE_REJECTED {
		reason := lib.XJS_PromiseResult(i.tls, i.ctx, r.promise)
		defer i.free(reason)
		return nil, r.thrown(reason)
	}
	v := i.dup(r.promise)
	if isObject(r.promise) {
		i.free(v)
		v = lib.XJS_PromiseResult(i.tls, i.ctx, r.promise)
	}
	defer i.free(v)
	out, failure := r.encode(v)
	if failure == nil {
		r.reportLeftovers()
	}
	return out, failure
}

// reportLeftovers says what the body left running: it is dropped now.
func (r *run) reportLeftovers() {
	r.reportRejections()
	if n := r.timers.loud(); n > 0 {
		r.log("warn", fmt.Sprintf("%d timer(s) were still set when the body returned; they were dropped", n))
	}
	if n := len(r.waiting); n > 0 {
		r.log("warn", fmt.Sprintf("%d request(s) had no answer yet when the body returned; they were dropped. Await what you start.", n))
	}
}
