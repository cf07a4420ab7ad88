package worker

import (
	"bufio"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"toolroom/internal/wire"
)

// leadership is who reads the socket. Handing a call to another goroutine costs more than
// a small call itself, so the goroutine that read a call runs it too, when no other
// call is under way. Somebody else takes over the reading as soon as the call waits for
// anything, and when it has run for longer than a tick.
type leadership struct {
	conn   *bufio.Reader
	in     *wire.Reader
	ended  chan error // one answer: how the reading ended
	acting atomic.Pointer[term]
	watch  watch
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
	l.watch.look = l.look
	return l
}

// read reads frames and acts on them until the socket ends, something is wrong,
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
	s.lead.watch.start()
	s.run(work)
	s.lead.acting.CompareAndSwap(t, nil)
	return t.passed.CompareAndSwap(false, true)
}

// look passes the reading on when the call that holds it up has had a whole tick. Only the watch calls it.
func (l *leadership) look() {
	t := l.acting.Load()
	if t == nil {
		return
	}
	if t.seen {
		t.pass()
	}
	t.seen = true
}

// watch calls look every tick while it is started again and again, and for a
// while longer. A timer for each call would cost more than a small call.
type watch struct {
	look func()

	mu      sync.Mutex
	running bool
	used    bool // since the last tick
}

const (
	watchTick = 2 * time.Millisecond
	watchIdle = 500 // ticks without use before it ends
)

// start makes look be called from now on.
func (w *watch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used = true
	if !w.running {
		w.running = true
		go w.run()
	}
}

func (w *watch) run() {
	ticker := time.NewTicker(watchTick)
	defer ticker.Stop()
	for idle := 0; ; idle++ {
		<-ticker.C
		w.look()
		if w.wasUsed() {
			idle = 0
		}
		if idle >= watchIdle && w.end() {
			return
		}
	}
}

func (w *watch) wasUsed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	used := w.used
	w.used = false
	return used
}

// end says whether the watch is not used any more, and that it does not run then.
func (w *watch) end() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = w.used
	return !w.running
}
