package tick

import (
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestWatchLooksWhileItIsUsedAndThenEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	var looks atomic.Int64
	w := NewWatch(time.Millisecond, 3, func(time.Time) { looks.Add(1) })
	for round := range 3 {
		w.Start()
		w.Start()
		before := looks.Load()
		for looks.Load() < before+3 {
			time.Sleep(time.Millisecond)
		}
		w.work.Wait() // it was not started again
		t.Logf("round %d: %d looks", round, looks.Load())
	}
}

func TestWatchThatIsStoppedLooksNoMore(t *testing.T) {
	defer goleak.VerifyNone(t)
	var looks atomic.Int64
	w := NewWatch(time.Millisecond, 1000, func(time.Time) { looks.Add(1) })
	w.Start()
	for looks.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	w.Stop()
	w.Stop()
	after := looks.Load()
	w.Start()
	time.Sleep(10 * time.Millisecond)
	if looks.Load() != after {
		t.Error("it looked on")
	}
}

// What is looked after may take longer than a watch waits for something new.
func TestWatchThatIsStartedByItsLookGoesOn(t *testing.T) {
	defer goleak.VerifyNone(t)
	const idle, more = 3, 30
	looks := 0
	var w *Watch
	w = NewWatch(time.Millisecond, idle, func(time.Time) {
		if looks++; looks < more {
			w.Start()
		}
	})
	w.Start()
	w.work.Wait()
	if looks < more {
		t.Errorf("it ended after %d looks", looks)
	}
}
