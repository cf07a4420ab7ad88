package runner

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"toolroom/internal/wire"
	"toolroom/tool"
)

func standIn(o Options, args ...string) Options {
	o.Command.Args, o.Spares = args, -1
	return o
}

// processes is how many the runner has, as it sees it.
func (r *Runner) processes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.workers)
}

// eventually waits for something that must come to be.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("it did not come to be that %s", what)
}

func TestATakenOverWorkerThatBreaksTheProtocolIsEnded(t *testing.T) {
	names := []string{"a result before ready", "ready twice", "a word before any call"}
	for name := range intrusions() {
		names = append(names, name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, standIn(Options{}, "intruder", name))
			host := hostFunc(func(ctx context.Context, _ Request) Response { <-ctx.Done(); return Response{} })
			if code := fail(t, r, body("").servedBy(host).within(20_000)); code != tool.WorkerCrashed {
				t.Errorf("the call ended with %s", code)
			}
			eventually(t, "the process is gone", func() bool { return r.processes() == 0 })
		})
	}
}

func TestACheckIsAnsweredAsACheck(t *testing.T) {
	r := open(t, standIn(Options{}, "intruder", "a result that is not JSON"))
	if _, err := r.Check(context.Background(), home(), "tool.js", []byte("1")); tool.CodeOf(err) != tool.WorkerCrashed {
		t.Errorf("a result for a check gave %v", err)
	}
}

func TestASecondResultEndsTheWorker(t *testing.T) {
	r := open(t, standIn(Options{}, "twice"))
	if got := give(t, r, body("")); got != "1" {
		t.Errorf("the first result was %s", got)
	}
	eventually(t, "the process is gone", func() bool { return r.processes() == 0 })
}

func TestAWorkerThatTricklesRunsIntoTheDeadline(t *testing.T) {
	r := open(t, standIn(Options{}, "trickle"))
	if code := fail(t, r, body("").within(300)); code != tool.Timeout {
		t.Errorf("the call ended with %s", code)
	}
}

func TestAWorkerThatStopsReadingIsEnded(t *testing.T) {
	r := open(t, standIn(Options{}, "deaf"))
	began := time.Now()
	job := body("").within(60_000).with(`"` + strings.Repeat("x", 8<<20) + `"`)
	if code := fail(t, r, job); code != tool.WorkerCrashed {
		t.Errorf("the call ended with %s", code)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
	eventually(t, "the process is gone", func() bool { return r.processes() == 0 })
}

// A thousand requests of a megabyte, and a host that answers none of them.
func TestRequestsDoNotFillTheRoom(t *testing.T) {
	r := open(t, standIn(Options{}, "glutton"))
	var held, most atomic.Int64
	host := hostFunc(func(ctx context.Context, req Request) Response {
		n := held.Add(int64(len(req.Data)))
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		<-ctx.Done()
		held.Add(-int64(len(req.Data)))
		return Response{}
	})
	if code := fail(t, r, body("").servedBy(host).within(1500)); code != tool.Timeout {
		t.Errorf("the call ended with %s", code)
	}
	if got := most.Load(); got < 1<<20 || got > maxHeld {
		t.Errorf("%d bytes were held", got)
	}
}

func TestAWorkerThatIsNotConfinedNeverGetsACall(t *testing.T) {
	r := open(t, standIn(Options{}, "unconfined"))
	if err := r.Probe(context.Background()); err == nil || !strings.Contains(err.Error(), "not confined") {
		t.Errorf("probing said: %v", err)
	}
	if code := fail(t, r, body("")); code != tool.WorkerCrashed {
		t.Errorf("the call ended with %s", code)
	}
}

func TestAProgramThatForgotToBeAWorkerIsFoundOut(t *testing.T) {
	r := open(t, standIn(Options{}, "forgetful"))
	if err := r.Probe(context.Background()); err == nil || !strings.Contains(err.Error(), "is a worker itself") {
		t.Errorf("probing said: %v", err)
	}
	honest := open(t, Options{})
	if err := honest.Probe(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestAWorkerCannotMakeUpErrors(t *testing.T) {
	var c call
	c.requests.refuse(tool.Errorf(tool.EgressDenied, "no way to example.org"))
	for name, test := range map[string]struct {
		said string
		want string
	}{
		"its own":      {`{"code":"egress_denied","message":"no way to example.org","retryable":true}`, `{"code":"egress_denied","message":"no way to example.org","retryable":false}`},
		"another one":  {`{"code":"path_denied","message":"no way to example.org"}`, ``},
		"another text": {`{"code":"egress_denied","message":"no way to internal.example"}`, ``},
		"not an error": {`[1]`, ``},
	} {
		f := c.believe(&wire.Failure{Code: tool.CallFailed, Capability: []byte(test.said)})
		if string(f.Capability) != test.want {
			t.Errorf("%s: %s", name, f.Capability)
		}
	}
	if f := c.believe(&wire.Failure{Message: strings.Repeat("\u20ac", 300_000)}); len(f.Message) > maxSaid || !utf8.ValidString(f.Message) {
		t.Errorf("a message of %d bytes", len(f.Message))
	}
	if f := c.believe(&wire.Failure{Code: tool.Unauthorized}); f.Code != tool.CallFailed {
		t.Errorf("a worker made its call end with %s", f.Code)
	}
}
