package worker

// hands are goroutines that run calls. The engine needs deep stacks, and growing
// a new goroutine's stack costs more than a small call: so a goroutine that has run one
// waits for the next. At most maxIdle wait; the rest end with their call.
type hands struct {
	work chan func()
	idle chan struct{} // a token for each that waits
	over chan struct{} // closed by dismiss
}

const maxIdle = 64

func newHands() *hands {
	return &hands{work: make(chan func()), idle: make(chan struct{}, maxIdle), over: make(chan struct{})}
}

// do runs f on a goroutine that waits, or on a new one.
func (h *hands) do(f func()) {
	select {
	case h.work <- f:
	default:
		go h.run(f)
	}
}

func (h *hands) run(f func()) {
	for {
		f()
		select {
		case h.idle <- struct{}{}:
		default:
			return
		}
		select {
		case f = <-h.work:
			<-h.idle
		case <-h.over:
			return
		}
	}
}

// dismiss ends those that wait, and the others when their calls have ended. do
// may not be called any more.
func (h *hands) dismiss() { close(h.over) }
