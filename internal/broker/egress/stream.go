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
	buf  []byte
	err  error
	busy bool
}

func newStream(body io.Reader, finish func(), wrong func(error) error) *stream {
	return &stream{body: body, finish: finish, wrong: wrong, news: make(chan struct{}, 1)}
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
		waited := patience == nil && (len(s.buf) > 0 || !some)
		if s.err != nil || len(s.buf) >= want || waited {
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
	data := s.buf
	s.buf = nil
	return data, s.err != nil, nil
}

// start sees to it that somebody reads, unless the end is reached.
func (s *stream) start(want int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy || s.err != nil || len(s.buf) >= want {
		return
	}
	s.busy = true
	s.work.Go(func() { s.read(want) })
}

// read fills the buffer up to want.
func (s *stream) read(want int) {
	chunk := make([]byte, 16<<10)
	for more := true; more; {
		n, err := s.body.Read(chunk)
		if err != nil && !isEOF(err) {
			err = s.wrong(err) // while the exchange still knows why
		}
		s.mu.Lock()
		s.buf = append(s.buf, chunk[:n]...)
		s.err = err
		more = err == nil && len(s.buf) < want
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
