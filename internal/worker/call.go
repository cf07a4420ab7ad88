package worker

import (
	"fmt"
	"time"

	"toolroom/internal/engine"
	"toolroom/internal/wire"
	"toolroom/tool"
)

// work is a call to be run.
type work struct {
	id    uint64
	code  *code
	job   *engine.Job
	call  *engine.Call
	alone bool // no other call was under way when it came
}

// call makes the call that f asks for.
func (s *server) call(f wire.Frame) (*work, error) {
	m, err := wire.UnpackCall(f.Meta)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.codes[m.Key]
	if c == nil || s.calls[f.Call] != nil {
		return nil, fmt.Errorf("%w: call %d of a code that is not loaded, or twice", wire.ErrFrame, f.Call)
	}
	job := &engine.Job{
		Args: clone(f.Data), Env: clone(m.Env), Timeout: time.Duration(m.TimeoutMS) * time.Millisecond,
		Memory: m.MemoryMB << 20, MaxResult: m.MaxResult, MaxLog: s.hello.LogBytes, Host: &host{out: s.out, call: f.Call},
	}
	w := &work{id: f.Call, code: c, job: job, call: s.engine.Start(job), alone: len(s.calls) == 0}
	s.calls[w.id] = w.call
	return w, nil
}

func (s *server) run(w *work) {
	tell := func(value []byte, meta wire.ResultMeta) {
		s.mu.Lock()
		delete(s.calls, w.id)
		s.mu.Unlock()
		s.send(wire.Result, w.id, meta, value)
	}
	var failure *wire.Failure
	if w.job.Code, failure = w.code.compile(s.engine); failure != nil {
		tell(nil, wire.ResultMeta{Error: failure})
		return
	}
	w.call.Run(tell)
}

// host sends what a call wants from the room. It is called by that call's goroutine only.
type host struct {
	out  *writer
	call uint64
}

// Request implements engine.Host.
func (h *host) Request(id uint32, op string, args, data []byte) {
	if m, err := (wire.RequestMeta{Op: op, Args: args}).Encode(); err == nil {
		_ = h.out.write(wire.Frame{Kind: wire.Request, Call: h.call, Request: id, Meta: m, Data: data})
	}
}

// Abort implements engine.Host.
func (h *host) Abort(id uint32) { h.send(wire.Abort, id, nil, nil) }

// Log implements engine.Host.
func (h *host) Log(level string, at time.Duration, text string) {
	h.send(wire.Log, 0, wire.LogMeta{Level: level, AtNS: int64(at)}, []byte(text))
}

// Progress implements engine.Host.
func (h *host) Progress(p tool.Progress) { h.send(wire.Progress, 0, p, nil) }

func (h *host) send(kind wire.Kind, request uint32, meta any, data []byte) {
	f := wire.Frame{Kind: kind, Call: h.call, Request: request, Data: data}
	if meta != nil {
		m, err := wire.Encode(meta)
		if err != nil {
			return
		}
		f.Meta = m
	}
	_ = h.out.write(f)
}
