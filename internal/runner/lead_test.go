package runner

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolroom/internal/tick"
	"toolroom/internal/wire"
	"toolroom/tool"
)

// leading begins job, again and again until it is the call that reads its worker's pipe: the
// worker has just answered, and nobody reads yet. What it began in vain it cancels.
func leading(t *testing.T, r *Runner, job *Job) *started {
	t.Helper()
	s, _ := leadingUntil(t, r, job)
	return s
}

// leadingUntil is leading, and how to cancel the call.
func leadingUntil(t *testing.T, r *Runner, job *Job) (*started, context.CancelFunc) {
	t.Helper()
	warm := *job
	warm.Key, warm.Code, warm.Args, warm.Host = "warm", body("return 1").Code, []byte(`"echo 1"`), nil
	for range 50 {
		give(t, r, &warm)
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(cancel)
		s := begin(ctx, t, r, job)
		eventually(t, "it runs", func() bool { return r.pendingOf(job.Place) == 1 })
		if r.leads(job.Place) {
			return s, cancel
		}
		cancel()
		<-s.done
	}
	t.Fatal("no call ever read for itself")
	return nil, nil
}

// leads says whether a call of place reads, or did before it served its own request.
func (r *Runner) leads(place tool.Place) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.crews[place].workers {
		w.mu.Lock()
		for _, c := range w.pending {
			if c.term != nil {
				w.mu.Unlock()
				return true
			}
		}
		w.mu.Unlock()
	}
	return false
}

// until waits for the call to end, at most for limit.
func (s *started) until(limit time.Duration) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(limit):
		s.t.Fatalf("the call did not end in %v", limit)
	}
}

// slow is a host that answers when its channel is closed, whatever becomes of the call.
func slow(gate <-chan struct{}) hostFunc {
	return func(context.Context, Request) Response { <-gate; return Response{Data: []byte("DATA")} }
}

// newGate is a channel that is closed by open, and at the end of the test in any case: before its rooms are.
func newGate(t *testing.T) (gate chan struct{}, open func()) {
	gate = make(chan struct{})
	open = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(open)
	return gate, open
}

// patient is a host that answers when nobody wants it any more.
func patient(ctx context.Context, _ Request) Response { <-ctx.Done(); return Response{} }

// The watch ends when nobody uses it, and a call that reads for itself has nobody else to look at its clock.
func TestACallThatReadsForLongIsHeldToItsLimit(t *testing.T) {
	r := open(t, puppets(Options{}))
	s := leading(t, r, say("hang").within(3*watchIdle*watchTick.Milliseconds()/2))
	s.wants("", tool.Timeout)
	long := leading(t, r, say("hang").within(60_000))
	time.Sleep(3 * watchIdle * watchTick / 2)
	kill(t, r.pid(home()))
	long.wants("", tool.WorkerCrashed)
}

// pid is the process of the one worker of place.
func (r *Runner) pid(place tool.Place) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.crews[place].workers[0].process.PID()
}

func TestACallThatReadsForLongIsCancelled(t *testing.T) {
	r := open(t, puppets(Options{}))
	s, cancel := leadingUntil(t, r, say("hang").within(60_000))
	time.Sleep(3 * watchIdle * watchTick / 2)
	cancel()
	s.wants("", tool.Cancelled)
}

// A call that has ended while its host still served it comes back when another call reads for itself.
func TestACallThatEndedTakesNoLimitFromTheNext(t *testing.T) {
	r := open(t, puppets(Options{}))
	gate, openGate := newGate(t)
	first := leading(t, r, say("ask-and-end").servedBy(slow(gate)))
	eventually(t, "the first has ended, but for its host", func() bool { return r.pendingOf(home()) == 0 })
	select {
	case <-first.done:
		t.Fatal("it did not serve its own request")
	default:
	}
	second := leading(t, r, say("hang").within(1000))
	openGate()
	first.wants(`""`, "")
	second.wants("", tool.Timeout)
}

// pendingOf is how many calls are in the workers of place.
func (r *Runner) pendingOf(place tool.Place) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, w := range r.crews[place].workers {
		w.mu.Lock()
		n += len(w.pending)
		w.mu.Unlock()
	}
	return n
}

// The watch looks after all workers: what the embedder does about one killed call must not stop it.
func TestOnlyTheKilledCallWaitsForItsReport(t *testing.T) {
	gate, openGate := newGate(t)
	var armed atomic.Bool
	told := make(chan string, 1)
	r := open(t, puppets(Options{OnKilled: func(p tool.Place, key string) {
		if p == home() && armed.Load() {
			told <- key
			<-gate
		}
	}}))
	slow := leading(t, r, say("hang").within(800))
	armed.Store(true)
	<-told
	quick := leading(t, r, say("hang").at(away()).within(100))
	quick.wants("", tool.Timeout)
	select {
	case <-slow.done:
		t.Error("a killed call returned before its report had")
	default:
	}
	openGate()
	slow.wants("", tool.Timeout)
}

// Its requests are served at once, and not one after the other, whoever reads them.
func TestRequestsOfOneCallGoOnAtOnce(t *testing.T) {
	const n = 50
	job := body(`await Promise.all(Array.from({length: 50}, () => ctx.callTool('x', {}))); return 1`)
	r := open(t, Options{Spares: -1})
	for range 5 {
		var here atomic.Int64
		all := make(chan struct{})
		give(t, r, job.servedBy(func(ctx context.Context, _ Request) Response {
			if here.Add(1) == n {
				close(all)
			}
			select {
			case <-all:
			case <-ctx.Done():
			}
			return Response{Data: []byte("1")}
		}))
	}
}

// A call that reads does not serve a request itself while more lies there to be read, such as other requests of
// its own: each of them would wait for the one before, and nobody else would read as long as each is quick.
func TestRequestsThatHaveComeAreServedAtOnce(t *testing.T) {
	const n = 50
	r := &Runner{options: Options{}.withDefaults()}
	r.watch = tick.NewWatch(watchTick, watchIdle, r.attend)
	defer r.watch.Stop()
	w := newWorker(r)
	w.out = newOutbox(io.Discard)
	var here atomic.Int64
	all := make(chan struct{})
	host := hostFunc(func(context.Context, Request) Response {
		if here.Add(1) == n {
			close(all)
		}
		select {
		case <-all:
			return Response{}
		case <-time.After(5 * time.Second):
			return Response{Err: tool.Errorf(tool.Internal, "%d requests were served at once", here.Load())}
		}
	})
	c := &call{id: 1, job: body("").servedBy(host), began: time.Now(), done: make(chan struct{}), limits: tool.Limits{TimeoutMS: 60_000, MaxResultBytes: 64}}
	w.pending[1] = c
	var said []byte
	for i := range uint32(n) {
		said, _ = wire.Append(said, wire.Frame{Kind: wire.Request, Call: 1, Request: i, Meta: []byte(okRequest)}) // small enough
	}
	w.lead.buffer = bufio.NewReader(bytes.NewReader(said))
	w.lead.reader = wire.NewReader(w.lead.buffer, wire.MaxMeta+wire.MaxData)
	w.appoint(c)
	for w.step(c) { // until the last of them, which it serves, or the end
	}
	r.serving.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if here.Load() != n || len(c.requests.refused) > 0 {
		t.Errorf("%d requests were served, %v", here.Load(), c.requests.refused)
	}
}

func TestACallThatEndsWhileItServesItselfEnds(t *testing.T) {
	for range 3 {
		r := open(t, Options{Spares: -1})
		s := leading(t, r, body(`ctx.callTool('x', {}); await new Promise(r => setTimeout(r, 50)); return 1`).servedBy(patient))
		s.wants("1", "")
		if got := give(t, r, body("return 2")); got != "2" {
			t.Error(got)
		}
		shut(t, r)
	}
}

func TestASecondCallIsServedWhileTheFirstServesItself(t *testing.T) {
	r := open(t, Options{Spares: -1})
	gate, openGate := newGate(t)
	first := leading(t, r, body(`await ctx.callTool('x', {}); return 1`).servedBy(slow(gate)))
	for range 20 {
		if got := give(t, r, body("return 2")); got != "2" {
			t.Error(got)
		}
		quick := body("await ctx.callTool('x', {}); return 3").servedBy(func(context.Context, Request) Response { return Response{Data: []byte("1")} })
		if got := give(t, r, quick); got != "3" {
			t.Error(got)
		}
		time.Sleep(time.Millisecond)
	}
	openGate()
	first.until(5 * time.Second)
}

// The limit, the caller's cancelling and his deadline, in each state that a call may be in.
func TestLimitsHoldInEveryState(t *testing.T) {
	waits, asks := "await new Promise(() => {})", "await ctx.callTool('x', {}); return 1"
	for name, text := range map[string]string{
		"reads, and waits":                waits,
		"reads, and computes":             "for (;;);",
		"reads, and hears nothing":        deaf,
		"serves itself":                   asks,
		"serves itself, and has more":     "ctx.callTool('x', {}); " + asks,
		"serves itself, and computes":     "ctx.callTool('x', {}); for (;;);",
		"serves itself, hearing nothing":  "ctx.callTool('x', {}); " + deaf,
		"served itself, and waits":        "try { await ctx.callTool('quick', {}) } catch {}; " + waits,
		"served itself, hears nothing":    "try { await ctx.callTool('quick', {}) } catch {}; " + deaf,
		"served itself long, and waits":   "try { await ctx.callTool('long', {}) } catch {}; " + waits,
		"served itself long, and is deaf": "try { await ctx.callTool('long', {}) } catch {}; " + deaf,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, Options{Spares: -1})
			job := func() *Job { return body(text).servedBy(answers).within(60_000) }
			s := leading(t, r, job().within(400))
			s.wants("", tool.Timeout)
			s, cancel := leadingUntil(t, r, job())
			time.Sleep(50 * time.Millisecond)
			cancel()
			s.wants("", tool.Cancelled)
			give(t, r, body("return 1"))
			ctx, end := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer end()
			begin(ctx, t, r, job()).wants("", tool.Timeout)
		})
	}
}

// answers is a host that answers at once, after a while or never, as the tool's name says.
func answers(ctx context.Context, req Request) Response {
	switch {
	case bytes.Contains(req.Args, []byte("quick")):
	case bytes.Contains(req.Args, []byte("long")):
		time.Sleep(10 * watchTick)
	default:
		<-ctx.Done()
	}
	return Response{Data: []byte("1")}
}

func TestARequestIsTakenBackWhileItsCallServesIt(t *testing.T) {
	r := open(t, puppets(Options{}))
	var taken atomic.Int64
	s := leading(t, r, say("abort 30").servedBy(func(ctx context.Context, _ Request) Response {
		<-ctx.Done()
		taken.Add(1)
		return Response{}
	}))
	s.wants(`"30"`, "")
	if n := s.out.Usage.Requests; n != 30 {
		t.Errorf("it made %d requests", n)
	}
	eventually(t, "all were taken back", func() bool { return taken.Load() >= 30 }) // with those of calls begun in vain
	honest := open(t, Options{Spares: -1})
	text := `const c = new AbortController(); setTimeout(() => c.abort(), 100); try { await fetch('http://example.org/', {signal: c.signal}) } catch (e) { return e.name }`
	s = leading(t, honest, body(text).servedBy(patient))
	s.wants(`"AbortError"`, "")
}

func TestANestedCallRunsWhileItsCallerServesIt(t *testing.T) {
	for name, place := range map[string]tool.Place{"in the same worker": home(), "in another worker": away()} {
		t.Run(name, func(t *testing.T) {
			r := open(t, Options{Spares: -1})
			loan := new(Loan)
			var nest func(depth int) hostFunc
			nest = func(depth int) hostFunc {
				return func(ctx context.Context, _ Request) Response {
					text := "return 7"
					if depth > 0 {
						text = "return await ctx.callTool('x', {})"
					}
					inner := body(text).at(place).servedBy(nest(depth - 1))
					if inner.Loan = new(Loan); depth == 3 {
						inner.Loan = loan
					}
					out, _, err := r.Call(ctx, inner)
					return Response{Data: out.Value, Err: tool.AsError(err)}
				}
			}
			for range 10 {
				if got := give(t, r, body("return await ctx.callTool('x', {})").servedBy(nest(3))); got != "7" {
					t.Fatal(got)
				}
			}
		})
	}
}

// The room is closed while a call reads, while one serves itself, and while nobody reads.
func TestCloseWhileACallReads(t *testing.T) {
	for line, host := range map[string]hostFunc{"hang": nil, "ask-and-wait": patient, "echo 1": nil} {
		t.Run(line, func(t *testing.T) {
			r := open(t, puppets(Options{}))
			job := say(line).within(60_000)
			if host != nil {
				job.Host = host
			}
			if line == "echo 1" {
				give(t, r, job)
				shut(t, r)
				return
			}
			s := leading(t, r, job)
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			if err := r.Close(ctx); tool.CodeOf(err) != tool.Timeout && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("closing: %v", err)
			}
			s.until(5 * time.Second)
			if tool.CodeOf(s.err) == "" {
				t.Errorf("it gave %s", s.out.Value)
			}
		})
	}
}

// Checks, calls that run alone and calls with a process each read for themselves as others do.
func TestEveryKindOfCallReadsForItself(t *testing.T) {
	answer := hostFunc(func(context.Context, Request) Response { return Response{Data: []byte("1")} })
	for name, o := range map[string]Options{"shared": {}, "a process each": {PerCall: true}} {
		t.Run(name, func(t *testing.T) {
			r := open(t, o)
			for i := range 8 {
				job := body("return await ctx.callTool('x', {}) + await ctx.callTool('x', {})").servedBy(answer)
				job.Solo = i%2 == 0
				if got := give(t, r, job); got != "2" {
					t.Error(got)
				}
				if f, err := r.Check(context.Background(), home(), "tool.js", []byte("1 +")); err != nil || f == nil || f.Code != tool.SyntaxError {
					t.Errorf("%+v, %v", f, err)
				}
			}
		})
	}
}
