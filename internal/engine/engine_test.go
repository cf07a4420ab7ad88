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

func (h *noHost) call(t testing.TB, e *Engine, body, args string) (string, wire.ResultMeta) {
	t.Helper()
	return h.callFor(t, e, body, args, 10*time.Second)
}

func (h *noHost) callFor(t testing.TB, e *Engine, body, args string, timeout time.Duration) (string, wire.ResultMeta) {
	t.Helper()
	code, f := e.Compile("tool.js", []byte("(async function execute(args, ctx) {"+body+"\n})"))
	if f != nil {
		t.Fatalf("compile: %+v", f)
	}
	c := e.Start(&Job{Code: code, Args: []byte(args), Env: []byte(`{"tool":"t"}`), Timeout: timeout, Memory: 128 << 20, MaxResult: 1 << 20, MaxLog: 64 << 10, Host: h})
	out, meta := c.Run()
	return string(out), meta
}

func BenchmarkCall(b *testing.B) {
	e := newEngine(b)
	h := &noHost{}
	code, f := e.Compile("tool.js", []byte("(async function execute(args, ctx) {return {sum: args.a+args.b}\n})"))
	if f != nil {
		b.Fatal(f)
	}
	b.ReportAllocs()
	for b.Loop() {
		c := e.Start(&Job{Code: code, Args: []byte(`{"a":1,"b":2}`), Env: []byte(`{"tool":"t"}`), Timeout: 2 * time.Second, Memory: 128 << 20, MaxResult: 1 << 20, MaxLog: 64 << 10, Host: h})
		if out, meta := c.Run(); string(out) != `{"sum":3}` {
			b.Fatal(string(out), meta.Error)
		}
	}
}
