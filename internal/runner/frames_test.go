package runner

import (
	"encoding/json"
	"io"
	"testing"
	"time"
	"unicode/utf8"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// FuzzTake looks for a frame that makes the room panic, or that leaves a call
// with more than its limits or with something that is not JSON.
func FuzzTake(f *testing.F) {
	for _, seed := range []struct {
		kind       wire.Kind
		meta, data string
	}{
		{wire.Result, `{"cpu_ns":1,"peak":2,"dropped":3}`, `{"a":[1,"x"]}`},
		{wire.Result, `{"error":{"code":"call_failed","message":"m","capability":{"code":"egress_denied"}}}`, ``},
		{wire.Result, `{"cpu_ns":-1,"peak":-1,"dropped":-9223372036854775808}`, `1`},
		{wire.Log, `{"level":"warn","at_ns":-5}`, "line\xff"},
		{wire.Progress, `{"done":1e308,"message":"m"}`, ``},
		{wire.Request, `{"op":"net.fetch","args":{"url":"x"}}`, `body`},
		{wire.Abort, ``, ``},
		{wire.Checked, `{"error":{"code":"syntax_error","line":-1}}`, ``},
	} {
		f.Add(byte(seed.kind), uint32(0), []byte(seed.meta), []byte(seed.data), false)
		f.Add(byte(seed.kind), uint32(7), []byte(seed.meta), []byte(seed.data), true)
	}
	f.Fuzz(func(t *testing.T, kind byte, request uint32, meta, data []byte, check bool) {
		r := &Runner{options: Options{}.withDefaults()}
		w := newWorker(r)
		w.out = newOutbox(io.Discard)
		c := &call{id: 1, job: &Job{}, check: check, began: time.Now(), done: make(chan struct{}), logLimit: 64, limits: tool.Limits{MaxResultBytes: 64}}
		w.pending[1] = c
		e, _ := w.take(wire.Frame{Kind: wire.Kind(kind), Call: 1, Request: request, Meta: meta, Data: data}) // refusing is what most deserve
		if e != nil {
			e.serve()
		}
		r.serving.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		out := c.outcome
		if len(out.Value) > 64 || len(out.Value) > 0 && !json.Valid(out.Value) {
			t.Errorf("the value is %q", out.Value)
		}
		for _, l := range out.Logs {
			if len(l.Text) > 64 || !utf8.ValidString(l.Text) || l.At < 0 {
				t.Errorf("a line is %+v", l)
			}
		}
		if u := out.Usage; u.CPU < 0 || u.PeakMemory < 0 || out.Dropped < 0 {
			t.Errorf("used: %+v, dropped %d", u, out.Dropped)
		}
		if c.failure != nil && c.failure.Capability != nil {
			t.Errorf("an error that the room never gave: %s", c.failure.Capability)
		}
	})
}
