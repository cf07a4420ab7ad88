// Package worker is the child's side of the wire: it reads frames from its one
// connection, runs calls in isolates, and asks the room for everything else. It has
// no authority and trusts nobody; when that closes or says something
// wrong, it ends.
package worker

import (
	"fmt"
	"io"
	"sync"

	"toolroom/internal/engine"
	"toolroom/internal/wire"
)

// server is one worker's life on one connection.
type server struct {
	out    *writer
	engine *engine.Engine
	hands  *hands
	lead   *leadership
	hello  wire.HelloMeta

	mu    sync.Mutex
	codes map[string]*code
	calls map[uint64]*engine.Call
}

// code is a body the room loaded. It is compiled by the first call that needs it.
type code struct {
	file     string
	source   []byte
	once     sync.Once
	compiled *engine.Code
	failure  *wire.Failure
}

func (c *code) compile(e *engine.Engine) (*engine.Code, *wire.Failure) {
	c.once.Do(func() {
		c.compiled, c.failure = e.Compile(c.file, c.source)
		c.source = nil
	})
	return c.compiled, c.failure
}

// Serve speaks to the room over conn until conn ends: nil at a clean end. It
// owns nothing of conn; calls still under way at the end are abandoned.
func Serve(conn io.ReadWriter) error {
	s := &server{out: newWriter(conn), hands: newHands(), lead: newLeadership(conn), codes: map[string]*code{}, calls: map[uint64]*engine.Call{}}
	if err := s.greet(s.lead.in); err != nil {
		return err
	}
	defer s.hands.dismiss()
	s.hands.do(s.read)
	if err := <-s.lead.ended; err != io.EOF {
		return fmt.Errorf("serving the room: %w", err)
	}
	return nil
}

// greet reads Hello, builds the engine and answers Ready.
func (s *server) greet(in *wire.Reader) error {
	f, err := in.Read()
	if err != nil {
		return fmt.Errorf("waiting for hello: %w", err)
	}
	if f.Kind != wire.Hello {
		return fmt.Errorf("%w: the first frame is not hello", wire.ErrFrame)
	}
	if err := wire.Decode(f.Meta, &s.hello); err != nil {
		return err
	}
	library := clone(f.Data)
	s.engine, err = engine.New(engine.Options{Isolates: s.hello.Slots, Memory: s.hello.MemoryMB << 20, Library: library})
	if err != nil {
		return fmt.Errorf("starting the engine: %w", err)
	}
	ready := wire.Frame{Kind: wire.Ready}
	if library == nil {
		ready.Data = s.engine.Library()
	}
	return s.out.write(ready)
}

// handle acts on a frame. A call comes back, to be run.
func (s *server) handle(f wire.Frame) (*work, error) {
	switch f.Kind {
	case wire.Load:
		return nil, s.load(f)
	case wire.Forget:
		return nil, s.forget(f)
	case wire.Check:
		return nil, s.check(f)
	case wire.Call:
		return s.call(f)
	case wire.Reply:
		return nil, s.reply(f)
	case wire.Cancel:
		if c := s.find(f.Call); c != nil {
			c.Cancel()
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%w: kind %d is not for a worker", wire.ErrFrame, f.Kind)
}

func (s *server) find(id uint64) *engine.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[id]
}

func (s *server) load(f wire.Frame) error {
	var m wire.LoadMeta
	if err := wire.Decode(f.Meta, &m); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[m.Key] = &code{file: m.File, source: clone(f.Data)}
	return nil
}

func (s *server) forget(f wire.Frame) error {
	var m wire.ForgetMeta
	if err := wire.Decode(f.Meta, &m); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.codes, m.Key)
	return nil
}

func (s *server) check(f wire.Frame) error {
	var m wire.CheckMeta
	if err := wire.Decode(f.Meta, &m); err != nil {
		return err
	}
	id, source := f.Call, clone(f.Data)
	go func() {
		_, failure := s.engine.Compile(m.File, source)
		s.send(wire.Checked, id, wire.CheckedMeta{Error: failure}, nil)
	}()
	return nil
}

func (s *server) reply(f wire.Frame) error {
	c := s.find(f.Call)
	if c == nil {
		return nil // the call ended before its answer came
	}
	m, err := wire.UnpackReply(f.Meta)
	if err != nil {
		return err
	}
	c.Reply(engine.Reply{ID: f.Request, Error: clone(m.Error), Value: clone(m.Value), Data: clone(f.Data)})
	return nil
}

// send encodes and writes a frame. When the pipe is gone there is nobody to
// tell: the reading side ends the worker.
func (s *server) send(kind wire.Kind, call uint64, meta any, data []byte) {
	m, err := wire.Encode(meta)
	if err == nil {
		_ = s.out.write(wire.Frame{Kind: kind, Call: call, Meta: m, Data: data})
	}
}

// clone copies what is only valid until the next frame; nil stays nil.
func clone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return append([]byte(nil), b...)
}
