package registry

import (
	"context"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"toolroom/internal/schema"
	"toolroom/internal/source"
	"toolroom/internal/store"
	"toolroom/tool"
)

// Resolved is a tool ready to be called: its current version, compiled. It is
// shared and must not be changed.
type Resolved struct {
	Tool       tool.Tool
	Body       *source.Compiled
	Parameters *schema.Schema
	Output     *schema.Schema // nil when results need meet none
	Warnings   []tool.Warning // of body and schema
}

type cacheKey struct {
	place tool.Place
	fold  string
}

// cache keeps what Resolve found out: by place and name what a name means, and by version
// what it compiled to, so that a global tool is compiled once for all workspaces.
type cache struct {
	names    *lru.Cache[cacheKey, *Resolved]
	versions *lru.Cache[string, *Resolved]

	mu      sync.Mutex // over names and changes together; reading names needs none
	changes int64      // counts forget, so that nothing read before it is put after it
}

func newCache(size int) (*cache, error) {
	names, err := lru.New[cacheKey, *Resolved](size)
	if err != nil {
		return nil, err
	}
	versions, err := lru.New[string, *Resolved](size)
	return &cache{names: names, versions: versions}, err
}

// forget drops what a change made untrue.
func (c *cache) forget(ch store.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	fold := store.Fold(ch.Name)
	if ch.Place.Workspace != "" {
		c.names.Remove(cacheKey{ch.Place, fold})
		return
	}
	for _, k := range c.names.Keys() {
		if k.place.Tenant == ch.Place.Tenant && k.fold == fold {
			c.names.Remove(k)
		}
	}
}

// forgetAll drops every name.
func (c *cache) forgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	c.names.Purge()
}

// count is what put wants to know: taken before the store is read.
func (c *cache) count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// put keeps r under k unless something changed since the count was taken.
func (c *cache) put(k cacheKey, r *Resolved, count int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes == count {
		c.names.Add(k, r)
	}
}

// Resolve is the tool that a call by name in place means, compiled. It answers
// from memory after the first time, until the tool changes. not_found, disabled, or
// storage_failed for a tool that is damaged.
func (r *Registry) Resolve(ctx context.Context, place tool.Place, name string) (*Resolved, error) {
	k := cacheKey{place, store.Fold(name)}
	if found, ok := r.cache.names.Get(k); ok {
		return found, nil
	}
	count := r.cache.count()
	rec, err := r.live(ctx, place, name)
	if err != nil {
		return nil, err
	}
	found, err := r.ready(rec)
	if err != nil {
		return nil, err
	}
	r.cache.put(k, found, count)
	return found, nil
}

// ready compiles a stored tool, if it may be called.
func (r *Registry) ready(rec store.Record) (*Resolved, error) {
	if rec.Broken != nil {
		return nil, rec.Broken
	}
	if !rec.Enabled {
		return nil, tool.Errorf(tool.Disabled, "the tool %q is disabled", rec.Name).
			WithHint("Enable it with update_tool, or ask whoever disabled it.")
	}
	c, ok := r.cache.versions.Get(rec.Current.ID)
	if !ok {
		var err error
		if c, err = compile(rec.Current.Definition); err != nil {
			return nil, store.Damaged(rec.Name, err)
		}
		r.cache.versions.Add(rec.Current.ID, c)
	}
	found := *c
	found.Tool = rec.Tool
	return &found, nil
}
