package runner

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"toolroom/internal/wire"
)

// outbox writes frames to a worker. Whoever sends first writes; what is sent
// meanwhile goes out with the next write, so that a burst costs few system
// calls and a single call costs no goroutine.
type outbox struct {
	w io.Writer

	mu      sync.Mutex
	drained sync.Cond
	buf     []byte // waits to be written
	spare   []byte // the buffer to fill while buf is being written
	busy    bool   // somebody writes
	err     error  // for ever

	since atomic.Int64 // when the write under way began, Unix nanoseconds; 0: none
}

const (
	maxWaiting = 4 << 20   // bytes that wait before senders are held up
	maxKept    = 256 << 10 // capacity that a buffer may keep
	maxRounds  = 4         // writes that one sender makes in a row
)

func newOutbox(w io.Writer) *outbox {
	o := &outbox{w: w}
	o.drained.L = &o.mu
	return o
}

// send sends frames one right after the other. It blocks while the worker does
// not read; the runner ends a worker that goes on not reading. Whoever writes is told when that
// fails, and so ends the worker; frames that others left to it are lost with their calls.
func (o *outbox) send(frames ...wire.Frame) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.busy && len(o.buf) > maxWaiting && o.err == nil {
		o.drained.Wait()
	}
	if o.err != nil {
		return o.err
	}
	before := len(o.buf)
	for _, f := range frames {
		var err error
		if o.buf, err = wire.Append(o.buf, f); err != nil {
			o.buf = o.buf[:before]
			return err
		}
	}
	if !o.busy {
		o.flush()
	}
	return o.err
}

// flush writes until nothing waits. It is called with mu held, and gives it up
// while it writes. A sender that finds itself writing for others again and again
// hands that on: it has a call of its own to see to.
func (o *outbox) flush() {
	o.busy = true
	for n := 0; len(o.buf) > 0 && o.err == nil; n++ {
		if n == maxRounds {
			go func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.flush()
			}()
			return
		}
		batch := o.buf
		o.buf = o.spare[:0]
		o.mu.Unlock()
		o.since.Store(time.Now().UnixNano())
		_, err := o.w.Write(batch)
		o.since.Store(0)
		o.mu.Lock()
		o.err = err
		if o.spare = batch; cap(batch) > maxKept {
			o.spare = nil
		}
		o.drained.Broadcast()
	}
	o.busy = false
}

// stalled says for how long the worker has not taken what is being written.
func (o *outbox) stalled(now time.Time) time.Duration {
	since := o.since.Load()
	if since == 0 {
		return 0
	}
	return now.Sub(time.Unix(0, since))
}
