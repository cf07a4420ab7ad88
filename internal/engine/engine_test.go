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
	code, f := e.Compile("tool.js", []byte("(async function execute(args, ctx) {"+body+"\n})"))
	if f != nil {
		t.Fatalf("compile: %+v", f)
	}
	c := e.Start(&Job{Code: code, Args: []byte(args), Env: []byte(`{"tool":"t"}`), Timeout: 2 * time.Second, Memory: 128 << 20, MaxResult: 1 << 20, MaxLog: 64 << 10, Host: h})
	out, meta := c.Run()
	return string(out), meta
}

func TestFirst(t *testing.T) {
	e := newEngine(t)
	t.Log(len(e.idle[0].snapshot))
	for _, body := range []string{
		"return args.a+1", "globalThis.x=1; return typeof leak", "await new Promise(r=>setTimeout(r,20)); return env.tool+params.a",
		"console.log({a:1,b:[1,2,new Map([[1,2]])]}, new Error('x'));console.table([{a:1,b:2}]); return null", "throw new TypeError('boo')", "null.x",
		"for(;;){}", "const c=[];for(;;)c.push('x'.repeat(1048576)+c.length)", "return {a:[1,{b:NaN}]}", "return [1].map(async x=>x)",
		"function f(){return f()+1} return f()", "Promise.reject(new Error('float')); await null; return 1", "setTimeout(()=>{throw 1},1); await new Promise(r=>setTimeout(r,10)); return new Date(0)",
	} {
		h := &noHost{}
		start := time.Now()
		out, meta := h.call(t, e, body, `{"a":1}`)
		t.Logf("%-50.50s %v %s %+v %q", body, time.Since(start), out, meta.Error, h.lines)
	}
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
