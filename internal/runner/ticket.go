package runner

// ticket is a call that waits.
type ticket struct {
	solo   bool
	again  bool  // the call runs for the second time, and does not share a worker with first runs: each of those might end it
	loan   *Loan // of the call that waits for this one, if one does
	check  bool  // it only compiles
	lent   bool  // it runs in that place
	worker *worker
	got    chan bool // worker is set, or there will be none
}

// counts says whether t is one of the calls that Rate is about: those that somebody makes.
func (t *ticket) counts() bool { return !t.check && !t.again && t.loan == nil }

// Loan is the place of a call in its workspace's InFlight, which the calls that it
// made and waits for run in, one at a time; more of them at once take places of
// their own. So a workspace full of calls that wait for calls still gets on. The
// zero value is a call's; all Jobs that the call makes share it.
type Loan struct{ out bool } // the runner's lock guards it

// maxNested is how many nested calls of a workspace wait for a place.
const maxNested = 10_000

// next takes the ticket whose turn it is out of its queue, and gives it its place.
func (c *crew) next(inFlight int) *ticket {
	free := c.running < inFlight
	for e := c.nested.Front(); e != nil; e = e.Next() {
		if t := e.Value.(*ticket); free || !t.loan.out {
			c.nested.Remove(e)
			return c.admit(t)
		}
	}
	if e := c.queue.Front(); e != nil && free {
		c.queue.Remove(e)
		return c.admit(e.Value.(*ticket))
	}
	return nil
}

// admit gives t a place: its caller's own, if no other call has that.
func (c *crew) admit(t *ticket) *ticket {
	if t.loan != nil && !t.loan.out {
		t.loan.out, t.lent = true, true
		return t
	}
	c.running++
	return t
}

// dismiss takes the place of t back.
func (c *crew) dismiss(t *ticket) {
	if t.lent {
		t.loan.out, t.lent = false, false
		return
	}
	c.running--
}

// putBack is the reverse of next.
func (c *crew) putBack(t *ticket) {
	c.dismiss(t)
	if t.loan != nil {
		c.nested.PushFront(t)
		return
	}
	c.queue.PushFront(t)
}
