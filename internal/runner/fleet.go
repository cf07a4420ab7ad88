package runner

import (
	"slices"
	"time"
)

// spare returns a worker that nobody has used, starting or started, or nil when
// there is none and no room for one more process.
func (r *Runner) spare() *worker {
	for len(r.spares) > 0 {
		w := r.spares[0]
		r.spares = r.spares[1:]
		if w.alive() {
			r.refill()
			return w
		}
	}
	if len(r.workers) < r.options.Workers {
		return r.spawn()
	}
	if r.leaving <= len(r.starved) {
		r.evict()
	}
	return nil
}

// spareIsReady says whether a workspace that has a worker may have one more at
// once: one that waits ready, with processes left for other workspaces.
func (r *Runner) spareIsReady() bool {
	if len(r.spares) == 0 || len(r.workers)+r.options.Spares > r.options.Workers {
		return false
	}
	return r.spares[0].isReady() && r.spares[0].alive()
}

func (r *Runner) spawn() *worker {
	w := newWorker(r)
	r.workers[w] = struct{}{}
	go w.live()
	return w
}

// refill starts spares, as long as there are processes to spare and starting
// them works.
func (r *Runner) refill() {
	for !r.closing && len(r.spares) < r.options.Spares && len(r.workers) < r.options.Workers && r.spawning.check(time.Now()) == nil {
		r.spares = append(r.spares, r.spawn())
	}
}

// evict ends the worker that has been idle the longest, if one is, in favour of
// another workspace: who waits in line gets its place when it has gone.
func (r *Runner) evict() {
	var idle *worker
	for w := range r.workers {
		if w.crew != nil && w.load == 0 && w.used && !w.leaving && w.alive() && (idle == nil || w.since.Before(idle.since)) {
			idle = w
		}
	}
	if idle == nil {
		return
	}
	idle.leaving = true
	r.leaving++
	r.remove(idle)
	idle.end(verdict{why: "another workspace needs its place"})
}

// remove takes w from its crew, so that it gets no more calls.
func (r *Runner) remove(w *worker) {
	w.solo = true
	if w.crew != nil {
		w.crew.workers = slices.DeleteFunc(w.crew.workers, func(other *worker) bool { return other == w })
	}
	r.spares = slices.DeleteFunc(r.spares, func(other *worker) bool { return other == w })
}

// starve puts c in line for a process.
func (r *Runner) starve(c *crew) {
	if !c.starved {
		c.starved = true
		r.starved = append(r.starved, c)
	}
}

// feed gives those in line another try, first come first.
func (r *Runner) feed() {
	line := r.starved
	r.starved = nil
	for _, c := range line {
		c.starved = false
	}
	for _, c := range line {
		r.pump(c)
	}
}

// lost is told by every worker when its process is gone.
func (r *Runner) lost(w *worker, how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(w)
	delete(r.workers, w)
	if w.leaving {
		r.leaving--
	}
	v := *w.ended
	if v.crash && !r.closing {
		r.crashed(w, v, how)
	} else {
		r.options.Log.Debug("worker ended", "why", v.why)
	}
	r.feed()
	r.refill()
	r.progress.Broadcast()
}

func (r *Runner) crashed(w *worker, v verdict, how string) {
	log := r.options.Log.With("why", v.why, "how", how)
	if w.crew == nil {
		r.spawning.crash(time.Now())
		log.Error("a spare worker ended")
		return
	}
	w.crew.health.crash(time.Now())
	log.Warn("a worker crashed", "tenant", w.crew.place.Tenant, "workspace", w.crew.place.Workspace, "in a row", w.crew.health.crashes)
}
