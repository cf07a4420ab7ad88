package engine

import (
	"bytes"
	"container/list"
	"slices"

	"toolroom/internal/engine/platform"
	"toolroom/internal/wire"
	"toolroom/tool"
)

// seats decides which call is in which isolate.
//
// A call that waits (for a reply, for a timer) stays in its isolate as long as
// nobody else wants it. When somebody does, the waiting call is set aside: the bytes
// by which its isolate differs from the snapshot are copied out, and copied back
// when it can go on. The engine's memory is full of addresses, so a call that was
// set aside needs the very isolate it was in. Ten thousand calls that wait for a
// slow server so cost their own data and not ten thousand isolates.
//
// All fields are guarded by Engine.mu.
type seats struct {
	idle   []*isolate // at their snapshot
	made   int        // isolates that exist or are being made
	parked list.List  // *run: waiting in their isolates, longest first
	queue  []*run     // new calls that want any isolate
}

// seat finds r an isolate. A failure means that it has none.
func (e *Engine) seat(r *run) *wire.Failure {
	e.mu.Lock()
	if n := len(e.idle); n > 0 {
		i := e.idle[n-1]
		e.idle = e.idle[:n-1]
		e.mu.Unlock()
		r.sit(i)
		return nil
	}
	if e.made < e.options.Isolates {
		e.made++
		e.mu.Unlock()
		return e.seatInNew(r)
	}
	if front := e.parked.Front(); front != nil {
		i := e.evict(front.Value.(*run))
		r.sit(i)
		return nil
	}
	e.queue = append(e.queue, r)
	e.mu.Unlock()
	return e.await(r, &e.queue)
}

func (e *Engine) seatInNew(r *run) *wire.Failure {
	i, err := newIsolate(e.options.Memory, e.library)
	if err != nil {
		e.mu.Lock()
		e.made--
		e.mu.Unlock()
		return &wire.Failure{Code: tool.Overloaded, Message: "no isolate could be made: " + err.Error()}
	}
	r.sit(i)
	return nil
}

// evict sets the parked call p aside and returns its isolate, at its snapshot.
// Called with mu held, which it releases.
func (e *Engine) evict(p *run) *isolate {
	i := p.iso
	e.parked.Remove(p.parked)
	p.parked, p.seated = nil, false
	e.mu.Unlock()
	p.setAside(i.save(), i.peak())
	i.restore()
	return i
}

// setAside keeps what r needs to go on, unless it has ended meanwhile.
func (r *run) setAside(s *saved, peak int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.peak = peak
	if r.ended {
		s.close()
		return
	}
	r.saved = s
}

// takeSaved is what setAside kept, or nil.
func (r *run) takeSaved() *saved {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.saved
	r.saved = nil
	return s
}

// await waits in line until an isolate is handed over, or the call ends first.
func (e *Engine) await(r *run, line *[]*run) *wire.Failure {
	r.waits()
	for {
		select {
		case i := <-r.granted:
			r.sit(i)
			return nil
		case <-r.wake:
			if f := r.interruption(); f != nil {
				e.leave(r, line)
				return f
			}
		}
	}
}

// leave takes r out of a line. An isolate that was handed over meanwhile goes to the next.
func (e *Engine) leave(r *run, line *[]*run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n, w := range *line {
		if w == r {
			*line = append((*line)[:n], (*line)[n+1:]...)
			return
		}
	}
	e.offer(<-r.granted)
}

// offer gives a free isolate to whoever wants it most: calls that were in it
// before, then new calls. Called with mu held.
func (e *Engine) offer(i *isolate) {
	switch {
	case len(i.returning) > 0:
		r := i.returning[0]
		i.returning = i.returning[1:]
		r.granted <- i
	case len(e.queue) > 0:
		r := e.queue[0]
		e.queue = e.queue[1:]
		r.granted <- i
	default:
		e.idle = append(e.idle, i)
	}
}

// park is called before a call waits.
func (e *Engine) park(r *run) {
	e.mu.Lock()
	if len(r.iso.returning) == 0 && len(e.queue) == 0 {
		r.parked = e.parked.PushBack(r)
		e.mu.Unlock()
		return
	}
	r.parked = e.parked.PushBack(r) // so that evict finds it like any other
	i := e.evict(r)
	e.mu.Lock()
	e.offer(i)
	e.mu.Unlock()
}

// unpark is called after a call waited: it is in its isolate again when no failure comes back.
func (e *Engine) unpark(r *run) *wire.Failure {
	e.mu.Lock()
	if r.parked != nil {
		e.parked.Remove(r.parked)
		r.parked = nil
		e.mu.Unlock()
		return nil
	}
	i := r.iso
	for n, idle := range e.idle {
		if idle == i {
			e.idle = append(e.idle[:n], e.idle[n+1:]...)
			e.mu.Unlock()
			r.sit(i)
			return nil
		}
	}
	for el := e.parked.Front(); el != nil; el = el.Next() {
		if p := el.Value.(*run); p.iso == i {
			r.sit(e.evict(p))
			return nil
		}
	}
	i.returning = append(i.returning, r)
	e.mu.Unlock()
	return e.await(r, &i.returning)
}

// stand is the end of a call: its isolate, if it is in one, is put back and offered.
func (e *Engine) stand(r *run) {
	e.mu.Lock()
	if r.parked != nil {
		e.parked.Remove(r.parked)
		r.parked = nil
	}
	seated := r.seated
	r.seated = false
	e.mu.Unlock()
	if !seated {
		r.takeSaved().close()
		return
	}
	r.iso.restore()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.offer(r.iso)
}

// sit puts r into an isolate that is at its snapshot and nobody else's.
func (r *run) sit(i *isolate) {
	r.mu.Lock()
	r.iso, r.seated = i, true
	r.mu.Unlock()
	i.call = r
	if s := r.takeSaved(); s != nil {
		i.putBack(s)
	}
}

// saved is what an isolate's memory has that its snapshot has not: runs of
// chunks, and the bytes of all of them one after the other.
type saved struct {
	runs    []span
	data    []byte
	natives platform.Open
	keep    []any // as isolate.keep, without what the snapshot holds
}

type span struct{ from, to uintptr } // offsets from the arena's base

// chunk is the grain at which memory is compared: small, since reference counts
// change all over the place.
const chunk = 256

// save copies out all that differs from the snapshot.
func (i *isolate) save() *saved {
	h := i.arena.header()
	mem := i.arena.bytes(i.arena.base, h.high)
	s := &saved{natives: i.natives.Take(), keep: slices.Clone(i.keep[i.kept:])}
	size := 0
	for at := 0; at < len(mem); at += chunk {
		end := min(at+chunk, len(mem))
		if end <= len(i.snapshot) && bytes.Equal(mem[at:end], i.snapshot[at:end]) {
			continue
		}
		size += end - at
		if n := len(s.runs); n > 0 && s.runs[n-1].to == uintptr(at) {
			s.runs[n-1].to = uintptr(end)
			continue
		}
		s.runs = append(s.runs, span{uintptr(at), uintptr(end)})
	}
	s.data = make([]byte, 0, size)
	for _, r := range s.runs {
		s.data = append(s.data, mem[r.from:r.to]...)
	}
	return s
}

// close ends what a call that never came back to its isolate had open.
func (s *saved) close() {
	if s != nil {
		s.natives.Close()
	}
}

// putBack is the reverse of save, on an isolate at its snapshot.
func (i *isolate) putBack(s *saved) {
	i.natives.Put(s.natives)
	i.keep = append(i.keep[:i.kept], s.keep...)
	data := s.data
	for _, r := range s.runs {
		n := copy(i.arena.bytes(i.arena.base+r.from, i.arena.base+r.to), data)
		data = data[n:]
	}
}
