package engine

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"toolroom/internal/wire"
	"toolroom/tool"
)

func compiled(t testing.TB, e *Engine, body string) *Code {
	t.Helper()
	code, f := e.Compile("tool.js", []byte("(async function execute(args, ctx) {"+body+"\n})"))
	if f != nil {
		t.Fatalf("%+v", f)
	}
	return code
}

func (h *noHost) job(code *Code, args string, timeout time.Duration) *Job {
	return &Job{Code: code, Args: []byte(args), Env: []byte(`{"tool":"t"}`), Timeout: timeout,
		Memory: 128 << 20, MaxResult: 1 << 20, MaxLog: 64 << 10, Host: h}
}

// Many calls share two isolates: each keeps its own state over every wait.
func TestWaitingCallsAreSetAside(t *testing.T) {
	e, err := New(Options{Isolates: 2, Memory: 128 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	code := compiled(t, e, `const mine = {n: args.n, list: []}; let big = 'x'.repeat(args.n * 1000);
		for (let i = 0; i < 5; i++) { await new Promise(r => setTimeout(r, 1 + (args.n * 7 + i * 13) % 20)); mine.list.push(mine.n * i); globalThis.count = (globalThis.count ?? 0) + 1 }
		return [mine.n, mine.list, big.length, count]`)
	var wg sync.WaitGroup
	for n := range 100 {
		wg.Go(func() {
			out, meta := ran(e.Start((&noHost{}).job(code, fmt.Sprintf(`{"n":%d}`, n), time.Minute)))
			want := fmt.Sprintf("[%d,[0,%d,%d,%d,%d],%d,5]", n, n, 2*n, 3*n, 4*n, n*1000)
			if string(out) != want {
				t.Errorf("got %s %+v, want %s", out, meta.Error, want)
			}
		})
	}
	wg.Wait()
	if e.parked.Len() != 0 || len(e.queue) != 0 || len(e.idle) != e.made {
		t.Errorf("%d parked, %d queued, %d of %d idle", e.parked.Len(), len(e.queue), len(e.idle), e.made)
	}
}

func TestCallsInTheirIsolatesEndTheOnesThatCannotReturn(t *testing.T) {
	e, err := New(Options{Isolates: 1, Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	sleeper := compiled(t, e, "await new Promise(r => setTimeout(r, 50)); return 'slept'")
	hog := compiled(t, e, "for (;;);")
	var wg sync.WaitGroup
	var slept, hogged wire.ResultMeta
	wg.Go(func() { _, slept = ran(e.Start((&noHost{}).job(sleeper, "{}", 200*time.Millisecond))) })
	time.Sleep(20 * time.Millisecond)
	wg.Go(func() { _, hogged = ran(e.Start((&noHost{}).job(hog, "{}", 600*time.Millisecond))) })
	wg.Wait()
	if slept.Error == nil || slept.Error.Code != tool.Timeout || hogged.Error == nil || hogged.Error.Code != tool.Timeout {
		t.Fatalf("%+v %+v", slept.Error, hogged.Error)
	}
	if out, meta := ran(e.Start((&noHost{}).job(sleeper, "{}", time.Minute))); string(out) != `"slept"` {
		t.Fatalf("%s %+v", out, meta.Error)
	}
}

func TestManyWaitingCallsCostTheirOwnDataOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes under the race detector: run without -short")
	}
	n := 2000
	e, err := New(Options{Isolates: 4, Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	code := compiled(t, e, "await new Promise(r => setTimeout(r, args.ms)); return args.n")
	runtime.GC()
	before := residentMB(t)
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() {
			out, meta := ran(e.Start((&noHost{}).job(code, fmt.Sprintf(`{"n":%d,"ms":2000}`, k), time.Minute)))
			if string(out) != fmt.Sprint(k) {
				t.Errorf("%s %+v", out, meta.Error)
			}
		})
	}
	time.Sleep(1500 * time.Millisecond)
	per := float64(residentMB(t)-before) * 1024 / float64(n)
	t.Logf("%.0f KB for each waiting call", per)
	if per > 200 {
		t.Errorf("%.0f KB for each waiting call", per)
	}
	wg.Wait()
}
