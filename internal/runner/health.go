package runner

import (
	"time"

	"toolroom/tool"
)

// health is what a workspace's crashes in a row have come to. It heals by
// itself: when the time is over calls are let in again, and the first one that
// is answered clears it.
type health struct {
	crashes int
	until   time.Time // no call before
}

const (
	crashesForgiven = 3 // in a row, without consequence
	firstBackoff    = 250 * time.Millisecond
	lastBackoff     = 30 * time.Second
)

// crash notes one more.
func (h *health) crash(now time.Time) {
	h.crashes++
	if n := h.crashes - crashesForgiven; n > 0 {
		h.until = now.Add(min(lastBackoff, firstBackoff<<min(n-1, 10)))
	}
}

func (h *health) check(now time.Time) error {
	wait := h.until.Sub(now)
	if wait <= 0 {
		return nil
	}
	return tool.Errorf(tool.Unhealthy, "the processes of this workspace crashed %d times in a row; calls are held back", h.crashes).
		WithHint("Call again in %d ms. If it goes on, disable the tool that was called last.", wait.Milliseconds()+1).WithDetails(retryAfter(wait))
}
