package engine

import (
	"testing"
	"time"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// noHost answers nothing and keeps the log.
type noHost struct{ lines []string }

func (h *noHost) Request(uint32, string, []byte, []byte) {}
func (h *noHost) Abort(uint32)                           {}
func (h *noHost) Log(level string, _ time.Duration, text string) {
	h.lines = append(h.lines, level+": "+text)
}
func (h *noHost) Progress(tool.Progress) {}

func newEngine(t testing.TB) *Engine {
	t.Helper()
	e, err := New(Options{Isolates: 4, Memory: 128 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// ran is what a call told.
func ran(c *Call) (out []byte, meta wire.ResultMeta) {
	c.Run(func(result []byte, m wire.ResultMeta) { out, meta = result, m })
	return out, meta
}

func (h *noHost) call(t testing.TB, e *Engine, body, args string) (string, wire.ResultMeta) {
	t.Helper()
	return h.callFor(t, e, body, args, 10*time.Second)
}

func (h *noHost) callFor(t testing.TB, e *Engine, body, args string, timeout time.Duration) (string, wire.ResultMeta) {
	t.Helper()
	out, meta := ran(e.Start(h.job(compiled(t, e, body), args, timeout)))
	return string(out), meta
}

func BenchmarkCall(b *testing.B) {
	e := newEngine(b)
	h := &noHost{}
	code := compiled(b, e, "return {sum: args.a + args.b}")
	b.ReportAllocs()
	for b.Loop() {
		if out, meta := ran(e.Start(h.job(code, `{"a":1,"b":2}`, 2*time.Second))); string(out) != `{"sum":3}` {
			b.Fatal(string(out), meta.Error)
		}
	}
}

// Two calls at a time, as a worker on two cores runs them.
func BenchmarkCallParallel(b *testing.B) {
	e := newEngine(b)
	h := &noHost{}
	code := compiled(b, e, "return {sum: args.a + args.b}")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if out, meta := ran(e.Start(h.job(code, `{"a":1,"b":2}`, 2*time.Second))); string(out) != `{"sum":3}` {
				b.Error(string(out), meta.Error)
			}
		}
	})
}
