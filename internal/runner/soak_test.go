package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolroom/tool"
)

// soakMinutes is the variable that says how long TestSoak takes.
const soakMinutes = "TOOLROOM_SOAK_MINUTES"

// hostile is what the bad tools of a soak do, each with the codes that it may
// end with besides timeout and those of its worker being killed.
func hostile() map[string][]tool.Code {
	return map[string][]tool.Code{
		"for (;;);":                           {},
		"for (;;) try { for (;;); } catch {}": {},
		"for (;;) await 0":                    {},
		"await new Promise(() => {})":         {},
		"const a = []; for (;;) try { a.push(new Array(100000).fill(1)) } catch {}":  {tool.MemoryExceeded},
		"const f = () => f() + 1; return f()":                                        {tool.CallFailed},
		"return 'x'.repeat(5 << 20)":                                                 {tool.ResultTooLarge},
		"for (let i = 0; i < 20000; i++) console.log('flood'); throw new Error('x')": {tool.CallFailed},
		"return 1n":                          {tool.ResultNotJSON},
		"return JSON.parse('['.repeat(1e6))": {tool.CallFailed},
		deaf:                                 {},
	}
}

// soak is one run: honest calls in quiet workspaces are measured, first alone
// and then beside everything bad.
type soak struct {
	t        *testing.T
	r        *Runner
	calls    atomic.Int64
	bad      atomic.Int64
	crashed  atomic.Int64
	kills    atomic.Int64
	mu       sync.Mutex
	measured []time.Duration
}

func TestSoak(t *testing.T) {
	minutes, err := strconv.ParseFloat(os.Getenv(soakMinutes), 64)
	if err != nil {
		t.Skipf("set %s to the length of the soak; `make soak MINUTES=1` does", soakMinutes)
	}
	length := time.Duration(minutes * float64(time.Minute))
	s := &soak{t: t, r: open(t, Options{Idle: 2 * time.Second, Workers: 40})}
	s.phase(length/10, false) // what a room has after it has worked a little is the baseline
	s.settle()
	before := s.footprint()
	alone := s.phase(length/5, false)
	beside := s.phase(length*7/10, true)
	s.settle()
	after := s.footprint()
	t.Logf("%d honest calls, %d hostile, %d met a killed worker, %d workers killed", s.calls.Load(), s.bad.Load(), s.crashed.Load(), s.kills.Load())
	t.Logf("honest calls alone:          %s", alone)
	t.Logf("honest calls beside hostile: %s", beside)
	t.Logf("before: %s\nafter:  %s", before, after)
	s.judge(alone, beside, before, after)
}

func (s *soak) judge(alone, beside latency, before, after footprint) {
	if limit := 2*alone.half + 2*time.Millisecond; beside.half > limit { // a noisy machine has its 2 ms
		s.t.Errorf("half of the honest calls took over %v, alone %v", beside.half, alone.half)
	}
	if after.descriptors > before.descriptors || after.goroutines > before.goroutines || after.processes > before.processes {
		s.t.Error("descriptors, goroutines or processes did not come back")
	}
	if after.heap > before.heap+8<<20 {
		s.t.Error("the room's memory did not come back")
	}
}

// phase runs for d and returns what the calls in quiet workspaces took.
func (s *soak) phase(d time.Duration, attacked bool) latency {
	s.measured = nil
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() { s.honest(ctx, tool.Place{Tenant: "quiet", Workspace: strconv.Itoa(i)}, true) })
	}
	if attacked {
		for i := range 4 {
			all.Go(func() { s.hostile(ctx, tool.Place{Tenant: "bad", Workspace: strconv.Itoa(i % 2)}) })
			all.Go(func() { s.honest(ctx, tool.Place{Tenant: "mixed", Workspace: strconv.Itoa(i)}, false) })
		}
		all.Go(func() { s.killer(ctx) })
	}
	all.Wait()
	return summary(s.measured)
}

// honest calls one after the other and checks every answer.
func (s *soak) honest(ctx context.Context, place tool.Place, measure bool) {
	for n := 0; ctx.Err() == nil; n++ {
		want := fmt.Sprintf("%q", place.Tenant+place.Workspace+"/"+strconv.Itoa(n))
		job := body("return args").at(place).with(want)
		began := time.Now()
		out, failure, err := s.r.Call(context.Background(), job)
		took := time.Since(began)
		s.calls.Add(1)
		switch code := tool.CodeOf(err); {
		case failure != nil:
			s.t.Errorf("%s failed: %+v", want, failure)
		case err == nil && string(out.Value) != want:
			s.t.Errorf("%s got %s: crossed", want, out.Value)
		case code == tool.WorkerCrashed && !measure, code == tool.Unhealthy && !measure:
			s.crashed.Add(1)
		case err != nil:
			s.t.Errorf("%s ended with %v", want, err)
		case measure:
			s.mu.Lock()
			s.measured = append(s.measured, took)
			s.mu.Unlock()
		}
		time.Sleep(time.Millisecond) // a caller, not a benchmark
	}
}

func (s *soak) hostile(ctx context.Context, place tool.Place) {
	var bodies []string
	for text := range hostile() {
		bodies = append(bodies, text)
	}
	for ctx.Err() == nil {
		text := bodies[rand.IntN(len(bodies))]
		job := body(text).at(place).within(50 + rand.Int64N(100))
		job.Limits.MemoryMB = 32
		job.Solo = text == deaf && rand.IntN(2) == 0
		out, failure, err := s.r.Call(context.Background(), job)
		s.bad.Add(1)
		code := tool.CodeOf(err)
		if failure != nil {
			code = failure.Code
		}
		may := append(hostile()[text], tool.Timeout, tool.WorkerCrashed, tool.Unhealthy, tool.Overloaded)
		if !slices.Contains(may, code) {
			s.t.Errorf("%q ended with %q (%v, %d bytes)", text, code, err, len(out.Value))
		}
	}
}

// killer ends a worker of the noisy workspaces now and then.
func (s *soak) killer(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(time.Duration(100+rand.IntN(400)) * time.Millisecond)
		s.r.mu.Lock()
		for w := range s.r.workers {
			if w.crew != nil && w.crew.place.Tenant != "quiet" && w.load > 0 {
				select {
				case <-w.ready:
					w.process.Kill()
					s.kills.Add(1)
				default:
					continue
				}
				break
			}
		}
		s.r.mu.Unlock()
	}
}

// settle waits until only spares are left.
func (s *soak) settle() {
	eventually(s.t, "only spares are left", func() bool {
		s.r.mu.Lock()
		defer s.r.mu.Unlock()
		return len(s.r.workers) == s.r.options.Spares && len(s.r.spares) == s.r.options.Spares
	})
	time.Sleep(2 * beat)
}

// footprint is what the room itself takes.
type footprint struct {
	heap, resident                     int64
	descriptors, goroutines, processes int
}

func (f footprint) String() string {
	return fmt.Sprintf("%.1f MB heap, %.1f MB resident, %d descriptors, %d goroutines, %d processes",
		float64(f.heap)/1e6, float64(f.resident)/1e6, f.descriptors, f.goroutines, f.processes)
}

func (s *soak) footprint() footprint {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		s.t.Logf("descriptors are not counted: %v", err)
	}
	return footprint{int64(m.HeapAlloc), resident(os.Getpid()), len(open), runtime.NumGoroutine(), s.r.processes()}
}

type latency struct {
	calls               int
	half, most, slowest time.Duration
}

func (l latency) String() string {
	return fmt.Sprintf("%d calls, p50 %v, p99 %v, slowest %v", l.calls, l.half, l.most, l.slowest)
}

func summary(all []time.Duration) latency {
	if len(all) == 0 {
		return latency{}
	}
	slices.Sort(all)
	return latency{len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1]}
}
