package engine

import (
	"container/heap"
	"sync"
	"time"
)

// deadlines stops calls when their time is up. One goroutine looks at them every
// tick while there are any, and for a while longer: setting a timer for each call
// costs more than a small call itself. The zero value is ready.
type deadlines struct {
	mu      sync.Mutex
	queue   deadlineQueue
	running bool
}

const (
	deadlineTick = 5 * time.Millisecond
	deadlineIdle = 200 // ticks without calls before the goroutine ends
)

func (d *deadlines) add(r *run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	heap.Push(&d.queue, r)
	if !d.running {
		d.running = true
		go d.watch()
	}
}

func (d *deadlines) remove(r *run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.atDeadline >= 0 {
		heap.Remove(&d.queue, r.atDeadline)
	}
}

func (d *deadlines) watch() {
	ticker := time.NewTicker(deadlineTick)
	defer ticker.Stop()
	for idle := 0; ; idle++ {
		<-ticker.C
		due, left := d.take(time.Now())
		for _, r := range due {
			r.stop(interruptDeadline)
		}
		if left > 0 {
			idle = 0
		}
		if idle >= deadlineIdle && d.end() {
			return
		}
	}
}

// take removes the calls whose time is up, and counts the others.
func (d *deadlines) take(now time.Time) (due []*run, left int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) > 0 && !d.queue[0].deadline.After(now) {
		due = append(due, heap.Pop(&d.queue).(*run))
	}
	return due, len(d.queue)
}

// end says whether there still is nothing to watch, and that nobody watches then.
func (d *deadlines) end() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running = len(d.queue) > 0
	return !d.running
}

// deadlineQueue is a heap: the first deadline is in front. A run knows its place.
type deadlineQueue []*run

func (q deadlineQueue) Len() int           { return len(q) }
func (q deadlineQueue) Less(a, b int) bool { return q[a].deadline.Before(q[b].deadline) }
func (q deadlineQueue) Swap(a, b int) {
	q[a], q[b] = q[b], q[a]
	q[a].atDeadline, q[b].atDeadline = a, b
}

// Push implements heap.Interface.
func (q *deadlineQueue) Push(x any) {
	r := x.(*run)
	r.atDeadline = len(*q)
	*q = append(*q, r)
}

// Pop implements heap.Interface.
func (q *deadlineQueue) Pop() any {
	old := *q
	r := old[len(old)-1]
	r.atDeadline = -1
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return r
}
