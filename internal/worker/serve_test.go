package worker

import (
	"net"
	"testing"
	"time"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// room is the test's end of a worker's connection.
type room struct {
	t   *testing.T
	in  *wire.Reader
	out *wire.Writer
}

func newRoom(t *testing.T) *room {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(there); there.Close() }()
	t.Cleanup(func() {
		here.Close()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("the worker did not end with its connection")
		}
	})
	r := &room{t: t, in: wire.NewReader(here, wire.MaxMeta+wire.MaxData), out: wire.NewWriter(here)}
	r.send(wire.Hello, 0, 0, wire.HelloMeta{Slots: 4, MemoryMB: 64, LogBytes: 64 << 10, MaxCached: 16}, "")
	r.expect(wire.Ready)
	return r
}

func (r *room) send(kind wire.Kind, call uint64, request uint32, meta any, data string) {
	r.t.Helper()
	m, err := wire.Encode(meta)
	if err != nil {
		r.t.Fatal(err)
	}
	if call, ok := meta.(wire.CallMeta); ok {
		m = call.Pack()
	}
	if err := r.out.Write(wire.Frame{Kind: kind, Call: call, Request: request, Meta: m, Data: []byte(data)}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) expect(kind wire.Kind) wire.Frame {
	r.t.Helper()
	f, err := r.in.Read()
	if err != nil {
		r.t.Fatal(err)
	}
	if f.Kind != kind {
		r.t.Fatalf("kind %d, want %d: %s %s", f.Kind, kind, f.Meta, f.Data)
	}
	return f
}

func (r *room) call(id uint64, body, args string) {
	r.t.Helper()
	r.send(wire.Load, 0, 0, wire.LoadMeta{Key: body, File: "tool.js"}, "(async function execute(args, ctx) {"+body+"\n})")
	r.send(wire.Call, id, 0, wire.CallMeta{Key: body, Env: []byte(`{"tool":"t"}`), TimeoutMS: 2000, MemoryMB: 64, MaxResult: 1 << 20}, args)
}

func (r *room) result() (string, *wire.Failure) {
	r.t.Helper()
	f := r.expect(wire.Result)
	var m wire.ResultMeta
	if err := wire.Decode(f.Meta, &m); err != nil {
		r.t.Fatal(err)
	}
	return string(f.Data), m.Error
}

func TestCallReturnsItsValue(t *testing.T) {
	r := newRoom(t)
	r.call(7, "return args.a + 1", `{"a":1}`)
	if v, f := r.result(); v != "2" || f != nil {
		t.Fatalf("%s %+v", v, f)
	}
}

func TestLogAndProgressComeBeforeTheResult(t *testing.T) {
	r := newRoom(t)
	r.call(1, "console.warn('careful'); ctx.progress(1, 2, 'half'); return null", `{}`)
	if f := r.expect(wire.Log); string(f.Data) != "careful" || f.Call != 1 {
		t.Fatalf("%s", f.Data)
	}
	if f := r.expect(wire.Progress); string(f.Meta) != `{"done":1,"total":2,"message":"half"}` {
		t.Fatalf("%s", f.Meta)
	}
	r.result()
}

func TestCancelEndsACall(t *testing.T) {
	r := newRoom(t)
	r.call(1, "await new Promise(() => {})", `{}`)
	r.send(wire.Cancel, 1, 0, nil, "")
	if _, f := r.result(); f == nil || f.Code != tool.Cancelled {
		t.Fatalf("%+v", f)
	}
}

func TestCheckCompilesAndRunsNothing(t *testing.T) {
	r := newRoom(t)
	r.send(wire.Check, 5, 0, wire.CheckMeta{File: "tool.js"}, "(async function () { return /(/ })")
	var m wire.CheckedMeta
	if err := wire.Decode(r.expect(wire.Checked).Meta, &m); err != nil || m.Error == nil || m.Error.Code != tool.SyntaxError {
		t.Fatalf("%+v %v", m.Error, err)
	}
	r.send(wire.Check, 6, 0, wire.CheckMeta{File: "tool.js"}, "(async function () { for (;;) {} })")
	if f := r.expect(wire.Checked); string(f.Meta) != "{}" {
		t.Fatalf("%s", f.Meta)
	}
}

func TestFrameOutOfOrderEndsTheWorker(t *testing.T) {
	for name, f := range map[string]wire.Frame{
		"a call before hello":      {Kind: wire.Call, Meta: []byte("{}")},
		"a worker's kind":          {Kind: wire.Result, Meta: []byte("{}")},
		"hello with a foreign key": {Kind: wire.Hello, Meta: []byte(`{"slots":1,"Slots":2}`)},
	} {
		t.Run(name, func(t *testing.T) {
			here, there := net.Pipe()
			defer here.Close()
			done := make(chan error, 1)
			go func() { done <- Serve(there) }()
			if err := wire.NewWriter(here).Write(f); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err == nil {
				t.Fatal("served on")
			}
		})
	}
}

// The goroutine that reads also runs a lone call: whatever that call does, the
// frames behind it are read soon.
func TestALoneCallDoesNotHoldUpTheNext(t *testing.T) {
	for name, body := range map[string]string{
		"computes":              "for (let end = Date.now() + 1500; Date.now() < end;); return 'slow'",
		"waits":                 "await new Promise(r => setTimeout(r, 1500)); return 'slow'",
		"computes, then waits":  "for (let end = Date.now() + 20; Date.now() < end;); await new Promise(r => setTimeout(r, 1500)); return 'slow'",
		"waits again and again": "for (let i = 0; i < 150; i++) await new Promise(r => setTimeout(r, 10)); return 'slow'",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			r.call(1, body, "{}")
			r.call(2, "return 'quick'", "{}")
			if v, f := r.result(); v != `"quick"` {
				t.Fatalf("%s %+v came first", v, f)
			}
			if v, f := r.result(); v != `"slow"` {
				t.Fatalf("%s %+v", v, f)
			}
			r.call(3, "return 'after'", "{}")
			if v, f := r.result(); v != `"after"` {
				t.Fatalf("%s %+v", v, f)
			}
		})
	}
}

func TestALoneCallThatComputesIsCancelled(t *testing.T) {
	r := newRoom(t)
	r.call(1, "for (;;);", "{}")
	r.send(wire.Cancel, 1, 0, nil, "")
	if _, f := r.result(); f == nil || f.Code != tool.Cancelled {
		t.Fatalf("%+v", f)
	}
}
