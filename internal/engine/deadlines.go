package engine

import (
	"container/heap"
	"sync"
	"time"

	"toolroom/internal/tick"
)

// deadlines stops calls when their time is up.
type deadlines struct {
	mu    sync.Mutex
	queue deadlineQueue
	watch *tick.Watch
}

const (
	deadlineTick = 5 * time.Millisecond
	deadlineIdle = 200 // ticks without calls before nobody looks
)

func newDeadlines() *deadlines {
	d := &deadlines{}
	d.watch = tick.NewWatch(deadlineTick, deadlineIdle, d.look)
	return d
}

func (d *deadlines) add(r *run) {
	d.mu.Lock()
	heap.Push(&d.queue, r)
	d.mu.Unlock()
	d.watch.Start()
}

func (d *deadlines) remove(r *run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.atDeadline >= 0 {
		heap.Remove(&d.queue, r.atDeadline)
	}
}

// look stops the calls whose time is up. Only the watch calls it.
func (d *deadlines) look(now time.Time) {
	due, left := d.take(now)
	for _, r := range due {
		r.stop(interruptDeadline)
	}
	if left > 0 {
		d.watch.Start()
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
