package worker

import (
	"bufio"
	"io"
	"sync/atomic"
	"time"

	"toolroom/internal/tick"
	"toolroom/internal/wire"
)

// leadership is who reads what the room says. Handing a call to another goroutine costs more than
// a small call itself, so the goroutine that read a call runs it too, when no other
// call is under way. Somebody else takes over the reading as soon as the call waits for
// anything, and when it has run for longer than a tick.
type leadership struct {
	conn   *bufio.Reader
	in     *wire.Reader
	ended  chan error // one answer: how the reading ended
	acting atomic.Pointer[term]
	watch  *tick.Watch
}

// term is the time in which one goroutine both runs a call and is the one to read.
type term struct {
	passed atomic.Bool
	seen   bool   // by the watch, a tick ago
	next   func() // has another goroutine read
}

// pass has another goroutine read, unless one does, or the call has ended.
func (t *term) pass() {
	if t.passed.CompareAndSwap(false, true) {
		t.next()
	}
}

func newLeadership(conn io.Reader) *leadership {
	buffered := newBuffered(conn)
	l := &leadership{conn: buffered, in: wire.NewReader(buffered, wire.MaxMeta+wire.MaxData), ended: make(chan error, 1)}
	l.watch = tick.NewWatch(watchTick, watchIdle, l.look)
	return l
}

// read reads frames and acts on them until the pipe ends, something is wrong,
// or another goroutine has taken over.
func (s *server) read() {
	for {
		f, err := s.lead.in.Read()
		var work *work
		if err == nil {
			work, err = s.handle(f)
		}
		switch {
		case err != nil:
			s.lead.ended <- err
			return
		case work == nil:
		case work.alone && s.lead.conn.Buffered() == 0:
			if !s.runAndLead(work) {
				return
			}
		default:
			s.hands.do(func() { s.run(work) })
		}
	}
}

// runAndLead runs a call on the reading goroutine, and says whether that still is the one to read.
func (s *server) runAndLead(work *work) bool {
	t := &term{next: func() { s.hands.do(s.read) }}
	work.job.OnWait = t.pass
	s.lead.acting.Store(t)
	s.lead.watch.Start()
	s.run(work)
	s.lead.acting.CompareAndSwap(t, nil)
	return t.passed.CompareAndSwap(false, true)
}

// look passes the reading on when the call that holds it up has had a whole tick. Only the watch calls it.
func (l *leadership) look(time.Time) {
	t := l.acting.Load()
	if t == nil {
		return
	}
	if t.seen {
		t.pass()
	}
	t.seen = true
}

const (
	watchTick = 2 * time.Millisecond
	watchIdle = 500 // ticks without use before it ends
)
