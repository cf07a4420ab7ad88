package registry

import (
	"context"

	"toolroom/internal/store"
)

// Registry holds the rules over a store. Its methods may be called concurrently.
type Registry struct {
	store store.Store
	opts  Options
	cache *cache
	feed  *feed
}

// Open makes a registry over a store and starts to follow its changes. The
// store stays the caller's to close, after the registry.
func Open(ctx context.Context, s store.Store, o Options) (*Registry, error) {
	o = o.withDefaults()
	at, err := s.Revision(ctx)
	if err != nil {
		return nil, err
	}
	r := &Registry{store: s, opts: o}
	if r.cache, err = newCache(o.CacheSize); err != nil {
		return nil, err
	}
	r.feed = newFeed(at, s, r.cache.forget)
	r.feed.start(o.PollEvery, o.Log)
	return r, nil
}

// Close stops following the store and ends every Follow. Changes and reads go on to
// work until the store is closed. A second Close does nothing.
func (r *Registry) Close() error {
	r.feed.stop()
	return nil
}
