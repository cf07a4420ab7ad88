package runner

import "sync"

// held bounds the bytes of requests that the room holds for one worker. Over
// the bound the worker is not read from until a host has answered, so that slow
// hosts and large requests together do not fill the room's memory.
type held struct {
	mu     sync.Mutex
	less   sync.Cond
	bytes  int
	opened bool // for ever, when the worker has ended
}

const maxHeld = 32 << 20

func newHeld() *held {
	h := &held{}
	h.less.L = &h.mu
	return h
}

// take waits until n bytes more may be held. One request always may.
func (h *held) take(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.bytes > 0 && h.bytes+n > maxHeld && !h.opened {
		h.less.Wait()
	}
	h.bytes += n
}

func (h *held) give(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bytes -= n
	h.less.Broadcast()
}

// open lets everyone pass.
func (h *held) open() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opened = true
	h.less.Broadcast()
}
