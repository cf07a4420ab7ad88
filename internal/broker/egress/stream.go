package egress

import (
	"context"
	"io"
	"sync"
	"time"

	"toolroom/tool"
)

const (
	firstChunk = 64 << 10  // of a body that goes with the headers, in bytes
	laterChunk = 256 << 10 // of a body that is asked for later
	// grace is how long headers wait for a body that is about to arrive, so
	// that small answers take one round trip between broker and isolate.
	grace = 5 * time.Millisecond
)

// stream is a body on its way. Nothing is read ahead of what was asked for, so a
// body that its reader does not want stays with its server.
type stream struct {
	body   io.Reader
	finish func() // ends the exchange; safe to call again
	wrong  func(error) error

	turn sync.Mutex // held by the reader whose turn it is
	news chan struct{}
	work sync.WaitGroup

	mu   sync.Mutex
	buf  buffer
	err  error
	busy bool
}

// newStream is a stream of body, which is about size bytes long, or -1.
func newStream(body io.Reader, size int64, finish func(), wrong func(error) error) *stream {
	s := &stream{body: body, finish: finish, wrong: wrong, news: make(chan struct{}, 1)}
	if size >= 0 && size < firstChunk {
		s.buf.step = int(size) + 1 // one more to meet the end
	}
	return s
}

// first is what arrives within the grace: maybe nothing, maybe all of it.
func (s *stream) first(ctx context.Context) ([]byte, bool, error) {
	return s.take(ctx, firstChunk, false)
}

// next is at least one byte, or the end.
func (s *stream) next(ctx context.Context) ([]byte, bool, error) {
	if !s.turn.TryLock() {
		return nil, false, tool.Errorf(tool.FetchFailed, "this body is being read already")
	}
	defer s.turn.Unlock()
	return s.take(ctx, laterChunk, true)
}

// take waits until want bytes or the end have come, or the grace is over and
// there is enough to go on with.
func (s *stream) take(ctx context.Context, want int, some bool) ([]byte, bool, error) {
	s.start(want)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	patience, over := timer.C, false
	for {
		s.mu.Lock()
		waited := patience == nil && (s.buf.len() > 0 || !some)
		if s.err != nil || s.buf.len() >= want || waited {
			defer s.mu.Unlock()
			return s.give()
		}
		s.mu.Unlock()
		if over {
			return nil, false, s.wrong(context.Cause(ctx))
		}
		select {
		case <-s.news:
		case <-patience:
			patience = nil
		case <-ctx.Done():
			over = true // but the good end of a body ends its context as well: look again
		}
	}
}

// give hands the buffer over. The caller holds mu.
func (s *stream) give() ([]byte, bool, error) {
	if s.err != nil && !isEOF(s.err) {
		return nil, false, s.err
	}
	return s.buf.take(), s.err != nil, nil
}

// start sees to it that somebody reads, unless the end is reached.
func (s *stream) start(want int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy || s.err != nil || s.buf.len() >= want {
		return
	}
	s.busy = true
	s.work.Go(func() { s.read(want) })
}

// read fills the buffer up to want.
func (s *stream) read(want int) {
	for more := true; more; {
		s.mu.Lock()
		free := s.buf.free()
		s.mu.Unlock()
		n, err := s.body.Read(free)
		if err != nil && !isEOF(err) {
			err = s.wrong(err) // while the exchange still knows why
		}
		s.mu.Lock()
		s.buf.add(n)
		s.err = err
		more = err == nil && s.buf.len() < want
		s.busy = more
		s.mu.Unlock()
		select {
		case s.news <- struct{}{}:
		default:
		}
		if err != nil {
			s.finish()
		}
	}
}

// close ends the exchange and waits for whoever reads.
func (s *stream) close() {
	s.finish()
	s.work.Wait()
}

// buffer holds what was read and not yet taken. Bytes stay where they were read to: one reader may fill what free
// gave while another goroutine takes what was added before.
type buffer struct {
	mem      []byte
	from, to int // what is there to take
	step     int // how much memory to start with; 0: readStep
}

const readStep = 16 << 10

func (b *buffer) len() int { return b.to - b.from }

// free is memory to read into, of at least one byte.
func (b *buffer) free() []byte {
	if b.to == len(b.mem) {
		size := max(2*b.len(), readStep)
		if b.mem == nil && b.step > 0 {
			size = b.step
		}
		mem := make([]byte, size)
		b.from, b.to = 0, copy(mem, b.mem[b.from:b.to])
		b.mem = mem
	}
	return b.mem[b.to:]
}

// add counts n more bytes in, which were read into what free gave.
func (b *buffer) add(n int) { b.to += n }

// take gives all that is there away.
func (b *buffer) take() []byte {
	data := b.mem[b.from:b.to:b.to]
	b.from = b.to
	return data
}
