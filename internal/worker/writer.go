package worker

import (
	"bufio"
	"io"
	"sync"
	"sync/atomic"

	"toolroom/internal/wire"
)

const bufferSize = 64 << 10

func newBuffered(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, bufferSize) }

// writer lets many goroutines write frames to one pipe. Whoever finds nobody
// waiting behind it flushes, so that frames written at the same time leave in
// one system call.
type writer struct {
	waiting atomic.Int32
	mu      sync.Mutex
	buf     *bufio.Writer
	frames  *wire.Writer
}

func newWriter(w io.Writer) *writer {
	buf := bufio.NewWriterSize(w, bufferSize)
	return &writer{buf: buf, frames: wire.NewWriter(buf)}
}

// write writes one frame. An error is final: the pipe is gone.
func (w *writer) write(f wire.Frame) error {
	w.waiting.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.frames.Write(f)
	if w.waiting.Add(-1) > 0 && err == nil {
		return nil
	}
	if err != nil {
		return err
	}
	return w.buf.Flush()
}
