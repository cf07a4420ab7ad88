package engine

import (
	"container/heap"
	"math"
	"time"
)

// timers are the timers of one call, ordered as the web orders them: by due
// time, then by the order they were set in.
type timers struct {
	queue timerQueue
	byID  map[uint32]*timer
	seq   uint64
	quiet int // timers of the platform's own, such as AbortSignal.timeout
}

type timer struct {
	id    uint32
	quiet bool
	due   time.Duration // since the call began
	seq   uint64
	index int
}

// add sets a timer. As on the web, what is not a positive number counts as 0,
// and no timer is set for longer than an int32 of milliseconds holds.
func (t *timers) add(id uint32, now time.Duration, ms float64, quiet bool) {
	if !(ms > 0) {
		ms = 0
	}
	ms = math.Min(ms, math.MaxInt32)
	t.seq++
	n := &timer{id: id, quiet: quiet, due: now + time.Duration(ms*float64(time.Millisecond)), seq: t.seq}
	if t.byID == nil {
		t.byID = map[uint32]*timer{}
	}
	t.byID[id] = n
	t.count(n, 1)
	heap.Push(&t.queue, n)
}

func (t *timers) remove(id uint32) {
	if n := t.byID[id]; n != nil {
		heap.Remove(&t.queue, n.index)
		t.forget(n)
	}
}

func (t *timers) forget(n *timer) {
	delete(t.byID, n.id)
	t.count(n, -1)
}

func (t *timers) count(n *timer, by int) {
	if n.quiet {
		t.quiet += by
	}
}

// next is when the first timer is due.
func (t *timers) next() (due time.Duration, ok bool) {
	if len(t.queue) == 0 {
		return 0, false
	}
	return t.queue[0].due, true
}

// pop takes the first timer if it is due.
func (t *timers) pop(now time.Duration) (id uint32, ok bool) {
	if len(t.queue) == 0 || t.queue[0].due > now {
		return 0, false
	}
	n := heap.Pop(&t.queue).(*timer)
	t.forget(n)
	return n.id, true
}

// loud counts the timers that the body set itself.
func (t *timers) loud() int { return len(t.queue) - t.quiet }

type timerQueue []*timer

func (q timerQueue) Len() int { return len(q) }
func (q timerQueue) Less(a, b int) bool {
	if q[a].due != q[b].due {
		return q[a].due < q[b].due
	}
	return q[a].seq < q[b].seq
}
func (q timerQueue) Swap(a, b int) {
	q[a], q[b] = q[b], q[a]
	q[a].index, q[b].index = a, b
}
func (q *timerQueue) Push(x any) {
	n := x.(*timer)
	n.index = len(*q)
	*q = append(*q, n)
}
func (q *timerQueue) Pop() any {
	old := *q
	n := old[len(old)-1]
	*q = old[:len(old)-1]
	return n
}
