package runner

import (
	"time"
)

// beat is how often the runner looks after its workers.
const beat = 250 * time.Millisecond

// keep looks after the workers until the runner is closed: ends those that are
// idle, too large, or do not read what they are sent.
func (r *Runner) keep() {
	defer close(r.stopped)
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-r.stop:
			r.watch.Stop()
			r.launcher.Close()
			return
		case now := <-ticker.C:
			for w, why := range r.condemned(now) {
				w.end(why)
			}
		}
	}
}

// condemned lists the workers that must end, and why.
func (r *Runner) condemned(now time.Time) map[*worker]verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	condemned := make(map[*worker]verdict)
	for w := range r.workers {
		if why, bad := r.inspect(w, now); bad {
			r.remove(w)
			condemned[w] = why
		}
	}
	for place, c := range r.crews {
		if len(c.workers)+c.queue.Len()+c.nested.Len()+c.running == 0 && c.health.check(now) == nil && now.Sub(c.since) > r.options.Idle+lastBackoff {
			delete(r.crews, place) // a workspace that is not used costs nothing
		}
	}
	r.refill()
	return condemned
}

func (r *Runner) inspect(w *worker, now time.Time) (verdict, bool) {
	if !w.isReady() || !w.alive() {
		return verdict{}, false // starting has a limit of its own
	}
	switch {
	case w.crew != nil && w.load == 0 && now.Sub(w.since) > r.options.Idle:
		return verdict{why: "idle"}, true
	case w.out.stalled(now) > stallLimit:
		return verdict{why: "it does not read what it is sent", crash: true}, true
	case resident(w.process.PID()) > r.options.WorkerMB<<20:
		return verdict{why: "it uses more memory than its share", full: true}, true
	}
	return verdict{}, false
}
