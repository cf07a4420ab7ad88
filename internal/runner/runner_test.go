package runner

import (
	"context"
	"testing"
	"time"

	"toolroom/tool"
)

func TestCallGivesItsValue(t *testing.T) {
	r := open(t, Options{})
	if got := give(t, r, body(`return args.a + 1`).with(`{"a": 41}`)); got != "42" {
		t.Fatal(got)
	}
}

func TestDeadlines(t *testing.T) {
	r := open(t, Options{})
	give(t, r, body("return 1")) // starting a process is not what is timed
	for name, text := range map[string]string{
		"a loop":                "for (;;);",
		"a loop that catches":   "for (;;) try { for (;;); } catch {}",
		"endless microtasks":    "for (;;) await 0",
		"waiting for nothing":   "await new Promise(() => {})",
		"a native that is deaf": deaf,
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			if code := fail(t, r, body(text).within(100)); code != tool.Timeout {
				t.Errorf("it ended with %s", code)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A worker in which nothing happened for a while once never got round to interrupting what came then: it had to be killed.
func TestALoopInAnIdleWorkerIsInterrupted(t *testing.T) {
	r := open(t, Options{})
	for _, idle := range []time.Duration{0, 1200 * time.Millisecond, 1500 * time.Millisecond} {
		give(t, r, body("return 1"))
		time.Sleep(idle) // by then nothing ticks in the worker any more
		if _, f, err := r.Call(t.Context(), body("for (;;);").within(200)); err != nil || f == nil || f.Code != tool.Timeout {
			t.Errorf("after %v: %+v %v", idle, f, err)
		}
	}
}

func BenchmarkCallSerial(b *testing.B) {
	r := open(b, Options{})
	job := body("return args.a").with(`{"a":1}`)
	give(b, r, job)
	for b.Loop() {
		give(b, r, job)
	}
}

func BenchmarkCallParallel(b *testing.B) {
	r := open(b, Options{})
	job := body("return args.a").with(`{"a":1}`)
	give(b, r, job)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, f, err := r.Call(context.Background(), job); f != nil || err != nil {
				b.Error(f, err)
			}
		}
	})
}

func BenchmarkFirstCall(b *testing.B) {
	r := open(b, Options{Spares: -1, PerCall: true})
	job := body("return args.a").with(`{"a":1}`)
	for b.Loop() {
		give(b, r, job)
	}
}

// BenchmarkReady is from nothing to a confined worker that was checked.
func BenchmarkReady(b *testing.B) {
	r := open(b, Options{Spares: -1})
	for b.Loop() {
		w := newWorker(r)
		r.mu.Lock()
		r.workers[w] = struct{}{}
		r.mu.Unlock()
		go w.live()
		<-w.ready
		if !w.alive() {
			b.Fatal(w.ended.why)
		}
		b.StopTimer()
		w.end(verdict{why: "measured"})
		eventually(b, "it has gone", func() bool { return r.processes() == 0 })
		b.StartTimer()
	}
}
