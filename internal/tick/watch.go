// Package tick looks after things that nearly always end by themselves before anybody has to: a timer for
// each of them would cost more than they do.
package tick

import (
	"sync"
	"time"
)

// Watch looks every tick while it is started again and again, and for a while longer.
// Its methods may be called from any goroutine.
type Watch struct {
	every time.Duration
	idle  int
	look  func(now time.Time)
	stop  chan struct{}
	work  sync.WaitGroup

	mu      sync.Mutex
	running bool
	stopped bool
	used    bool // since the last tick
}

// NewWatch makes a watch that calls look every every, from one goroutine, until it was not started for idle ticks.
func NewWatch(every time.Duration, idle int, look func(now time.Time)) *Watch {
	return &Watch{every: every, idle: idle, look: look, stop: make(chan struct{})}
}

// Start makes look be called from now on.
func (w *Watch) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used = true
	if !w.running && !w.stopped {
		w.running = true
		w.work.Go(w.run)
	}
}

// Stop ends the watch for good. When it returns look is not called any more. Calling it again does nothing.
func (w *Watch) Stop() {
	w.mu.Lock()
	if !w.stopped {
		w.stopped = true
		close(w.stop)
	}
	w.mu.Unlock()
	w.work.Wait()
}

func (w *Watch) run() {
	ticker := time.NewTicker(w.every)
	defer ticker.Stop()
	for idle := 0; ; idle++ {
		select {
		case now := <-ticker.C:
			w.look(now)
		case <-w.stop:
			return
		}
		if w.wasUsed() {
			idle = 0
		}
		if idle >= w.idle && w.end() {
			return
		}
	}
}

func (w *Watch) wasUsed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	used := w.used
	w.used = false
	return used
}

// end says whether the watch is not used any more, and that it does not run then.
func (w *Watch) end() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = w.used
	return !w.running
}
