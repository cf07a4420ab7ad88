package registry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"toolroom/internal/store"
	"toolroom/tool"
)

// feedPage is how many changes are read at a time.
const feedPage = 500

// feed follows the store's revisions. A change made here is seen at once; one
// that another process made, or whose notice was lost, at the next poll.
type feed struct {
	store  store.Feed
	forget func(store.Change)
	cancel context.CancelFunc
	done   sync.WaitGroup

	reading sync.Mutex // one catchUp at a time

	mu   sync.Mutex
	seen int64
	news chan struct{} // closed and replaced when seen grows
	gone chan struct{} // closed by stop
	over bool
}

func newFeed(at int64, s store.Feed, forget func(store.Change)) *feed {
	return &feed{store: s, forget: forget, seen: at, news: make(chan struct{}), gone: make(chan struct{})}
}

func (f *feed) start(every time.Duration, log *slog.Logger) {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.done.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := f.catchUp(ctx); err != nil && ctx.Err() == nil {
					log.Warn("cannot read the change feed; trying again", "error", err)
				}
			}
		}
	})
}

func (f *feed) stop() {
	f.cancel()
	f.done.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over {
		f.over = true
		close(f.gone)
	}
}

// catchUp takes in every change since the last one seen. If it fails the next poll makes it good.
func (f *feed) catchUp(ctx context.Context) error {
	f.reading.Lock()
	defer f.reading.Unlock()
	for {
		after, _ := f.state()
		changes, err := f.store.Changes(ctx, after, feedPage)
		if err != nil {
			return err
		}
		if len(changes) == 0 {
			return nil
		}
		for _, c := range changes {
			f.forget(c)
		}
		f.advance(changes[len(changes)-1].Revision)
	}
}

func (f *feed) state() (seen int64, news <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen, f.news
}

func (f *feed) advance(to int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = to
	close(f.news)
	f.news = make(chan struct{})
}

// Revision is that of the newest change this registry has seen.
func (r *Registry) Revision() int64 {
	seen, _ := r.feed.state()
	return seen
}

// Follow calls each for every change after a revision that place sees, in order and
// without gaps, until ctx ends or the registry is closed, which is no error. It blocks: the
// caller gives it a goroutine, and a slow each delays nobody else. While the store fails it waits and tries
// again; it gives up with an error only when the store has stopped. To follow from now on, pass Revision().
func (r *Registry) Follow(ctx context.Context, place tool.Place, after int64, each func(store.Change)) error {
	for {
		seen, news := r.feed.state()
		got, err := r.catchFollower(ctx, place, after, seen, each)
		after = got
		if tool.CodeOf(err) == tool.Stopped {
			return err
		}
		var again <-chan time.Time
		if err != nil {
			again = time.After(r.opts.PollEvery)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.feed.gone:
			return nil
		case <-news:
		case <-again:
		}
	}
}

// catchFollower tells a follower everything up to seen, and answers with how far it got.
func (r *Registry) catchFollower(ctx context.Context, place tool.Place, after, seen int64, each func(store.Change)) (int64, error) {
	for after < seen {
		changes, err := r.store.Changes(ctx, after, feedPage)
		if err != nil || len(changes) == 0 {
			return after, err
		}
		after = tell(changes, place, seen, each)
	}
	return after, nil
}

// tell passes on the changes up to seen, and answers with the revision that it got to. Later
// ones wait until the cache has forgotten what they changed.
func tell(changes []store.Change, place tool.Place, seen int64, each func(store.Change)) int64 {
	for _, c := range changes {
		if c.Revision > seen {
			break
		}
		if c.SeenBy(place) {
			each(c)
		}
	}
	return min(seen, changes[len(changes)-1].Revision)
}
