package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolroom"
	"toolroom/tool"
)

func TestMain(m *testing.M) {
	toolroom.WorkerMain()
	if n, err := strconv.ParseInt(os.Getenv(serverVariable), 10, 64); err == nil {
		serveGate(n)
		return
	}
	os.Exit(m.Run())
}

// open is a workspace in a room of its own, with one tool for each body.
func open(tb testing.TB) *toolroom.Workspace {
	tb.Helper()
	room, err := toolroom.Open(context.Background(), toolroom.Options{Data: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { room.Close() })
	w, err := room.Workspace(tool.Principal{Place: tool.Place{Tenant: "bench", Workspace: "one"}, Kind: tool.User}, "")
	if err != nil {
		tb.Fatal(err)
	}
	for _, b := range Bodies() {
		create(tb, w, b.Name, b.Code)
	}
	return w
}

func create(tb testing.TB, w *toolroom.Workspace, name, body string) {
	tb.Helper()
	_, err := w.Create(context.Background(), tool.Definition{Name: name, Description: "Measured.", Parameters: json.RawMessage(`{"type":"object"}`), Body: body}, toolroom.CreateOptions{})
	if err != nil {
		tb.Fatal(err)
	}
}

func call(tb testing.TB, w *toolroom.Workspace, name, args string) {
	if _, err := w.Call(context.Background(), name, json.RawMessage(args)); err != nil {
		tb.Error(err)
	}
}

// quantiles reports the median and the 99th percentile, in microseconds.
func quantiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-µs")
}

// One call after the other: what a single agent waits for.
func BenchmarkCallSerial(b *testing.B) {
	w := open(b)
	for _, body := range Bodies() {
		b.Run(body.Name, func(b *testing.B) {
			call(b, w, body.Name, body.Args)
			var took []time.Duration
			for b.Loop() {
				t := time.Now()
				call(b, w, body.Name, body.Args)
				took = append(took, time.Since(t))
			}
			quantiles(b, took)
		})
	}
}

// Sixteen callers at once: what a busy workspace gets done.
func BenchmarkCall16InFlight(b *testing.B) {
	w := open(b)
	for _, body := range Bodies() {
		b.Run(body.Name, func(b *testing.B) {
			call(b, w, body.Name, body.Args)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						call(b, w, body.Name, body.Args)
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

// The first call of a workspace: it gets a worker of its own, a warm spare if there is one.
func BenchmarkFirstCallOfAWorkspace(b *testing.B) {
	room, err := toolroom.Open(context.Background(), toolroom.Options{Data: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer room.Close()
	var took []time.Duration
	n := 0
	for b.Loop() {
		n++
		w, err := room.Workspace(tool.Principal{Place: tool.Place{Tenant: "bench", Workspace: fmt.Sprint("w", n)}, Kind: tool.User}, "")
		if err != nil {
			b.Fatal(err)
		}
		t := time.Now()
		if _, err := w.Run(context.Background(), tool.Definition{Body: "return 1"}, nil); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(t))
	}
	quantiles(b, took)
}

// From the answer to a change to the first result of the new version.
func BenchmarkSavedToCallable(b *testing.B) {
	w := open(b)
	var took []time.Duration
	n := 0
	for b.Loop() {
		n++
		body := fmt.Sprintf("return %d", n)
		if _, err := w.Update(context.Background(), "trivial", tool.Patch{Body: &body}, toolroom.ChangeOptions{}); err != nil {
			b.Fatal(err)
		}
		saved := time.Now()
		out, err := w.Call(context.Background(), "trivial", nil)
		if err != nil || string(out.Value) != fmt.Sprint(n) {
			b.Fatalf("%s %v", out.Value, err)
		}
		took = append(took, time.Since(saved))
	}
	quantiles(b, took)
}
