package registry

import (
	"context"
	"errors"

	"toolroom/internal/store"
	"toolroom/tool"
)

// maxAttempts is how often a change without an expected version is made anew
// because others came first.
const maxAttempts = 20

// Create makes a tool, or with IfExists Replace a new version of the one that
// has the name. Its errors have the contract's definition and change codes.
func (r *Registry) Create(ctx context.Context, p tool.Principal, d tool.Definition, o CreateOptions) (tool.Change, error) {
	if err := checkName(d.Name); err != nil {
		return tool.Change{}, err
	}
	return r.attempt(o.ChangeOptions, func() (tool.Change, error) {
		old, err := r.live(ctx, p.Place, d.Name)
		switch {
		case tool.CodeOf(err) == tool.NotFound:
			if o.Expect != "" {
				return tool.Change{}, err
			}
			return r.save(ctx, p, nil, d, store.Created, o.ChangeOptions)
		case err != nil:
			return tool.Change{}, err
		case o.IfExists != Replace:
			return tool.Change{}, store.Taken(d.Name, old)
		}
		next := d
		next.Name, next.Location = old.Name, orText(d.Location, old.Location)
		return r.save(ctx, p, &old, next, store.Updated, o.ChangeOptions)
	})
}

// Update makes a new version of a tool from the fields that patch says. A patch
// that changes nothing makes no version, and a warning says so.
func (r *Registry) Update(ctx context.Context, p tool.Principal, name string, patch tool.Patch, o ChangeOptions) (tool.Change, error) {
	return r.attempt(o, func() (tool.Change, error) {
		old, err := r.live(ctx, p.Place, name)
		if err != nil {
			return tool.Change{}, err
		}
		if old.Broken != nil {
			return tool.Change{}, old.Broken
		}
		return r.save(ctx, p, &old, patched(old.Current.Definition, patch), store.Updated, o)
	})
}

// Restore makes an older version current again, as a new version. It also
// brings back a deleted tool.
func (r *Registry) Restore(ctx context.Context, p tool.Principal, name, versionID string, o ChangeOptions) (tool.Change, error) {
	return r.attempt(o, func() (tool.Change, error) {
		old, v, err := r.store.Version(ctx, p.Place, versionID)
		if err != nil {
			return tool.Change{}, err
		}
		if store.Fold(old.Name) != store.Fold(name) {
			return tool.Change{}, store.NoVersion(versionID).WithHint("That version is not one of %q.", name)
		}
		return r.save(ctx, p, &old, v.Definition, store.Restored, o)
	})
}

// attempt runs a change, and runs it anew when another one came first. If the author said which version it was
// made from, the next attempt finds that another one is current.
func (r *Registry) attempt(o ChangeOptions, once func() (tool.Change, error)) (change tool.Change, err error) {
	if err := checkReason(o.Reason); err != nil {
		return change, err
	}
	for range maxAttempts {
		change, err = once()
		var e *tool.Error
		if !errors.As(err, &e) || e.Code != tool.Conflict || !e.Retryable || e.Details != nil {
			return change, err // with details it says which version is current, and another attempt would say the same
		}
	}
	return change, err
}

// live is the tool that name means in place, if it is not deleted.
func (r *Registry) live(ctx context.Context, place tool.Place, name string) (store.Record, error) {
	rec, err := r.store.Find(ctx, place, name)
	if err == nil && rec.Deleted {
		return rec, store.NoTool(name).
			WithHint("It was deleted at %s; restore version %s to bring it back.", rec.Updated.Format("2006-01-02 15:04"), rec.Current.ID)
	}
	return rec, err
}

// pending is a change that is ready: everything was checked and nothing stored.
type pending struct {
	old      *store.Record // nil: a new tool
	built    *Resolved
	write    store.Write
	question *Question // nil: nobody needs to be asked
	same     bool      // nothing would differ
}

// save makes d the current version of old, or of a new tool.
func (r *Registry) save(ctx context.Context, p tool.Principal, old *store.Record, d tool.Definition, a store.Action,
	o ChangeOptions) (tool.Change, error) {
	next, err := r.prepare(ctx, p, old, d, a, o)
	if err != nil {
		return tool.Change{}, err
	}
	if next.same {
		return unchanged(*old, next.built), nil
	}
	asked, err := r.ask(ctx, next.question, o.Ask)
	if err != nil {
		return tool.Change{}, err
	}
	return r.commit(ctx, next.write, asked, next.built.Warnings)
}

// prepare does all of a change but asking and storing.
func (r *Registry) prepare(ctx context.Context, p tool.Principal, old *store.Record, d tool.Definition, a store.Action,
	o ChangeOptions) (*pending, error) {
	if err := may(p, old, o.Expect); err != nil {
		return nil, err
	}
	built, err := r.build(ctx, p, d)
	if err != nil {
		return nil, err
	}
	d = built.Tool.Current.Definition
	if err := r.mayBeGlobal(p, d.Location); err != nil {
		return nil, err
	}
	hash := built.Tool.Current.Hash
	next := &pending{old: old, built: built, write: r.write(p, old, d, a, o.Reason), question: r.question(p, old, d, hash, a, o.Reason)}
	next.same = old != nil && !old.Deleted && old.Broken == nil && old.Current.Hash == hash
	next.write.Version = &tool.Version{Definition: d, Author: next.write.Author, Reason: o.Reason, Changed: changedSince(old, d, a)}
	next.write.Words = wordsOf(d)
	return next, nil
}

// mayBeGlobal refuses a global tool where the operator wants none.
func (r *Registry) mayBeGlobal(p tool.Principal, where tool.Location) error {
	if where != tool.InTenant || r.opts.GlobalTools == nil || r.opts.GlobalTools(p.Tenant) {
		return nil
	}
	return tool.Errorf(tool.Forbidden, "the operator allows no global tools in this tenant").
		WithHint("Make the tool with location: workspace.")
}

func unchanged(old store.Record, built *Resolved) tool.Change {
	w := tool.Warning{About: "definition", Message: "nothing differs from the current version, so no new one was made"}
	return tool.Change{Tool: old.Tool, Warnings: append([]tool.Warning{w}, built.Warnings...)}
}

func changedSince(old *store.Record, d tool.Definition, a store.Action) []string {
	if old == nil {
		return []string{string(store.Created)}
	}
	changed := changedFields(old.Current.Definition, d)
	if a == store.Restored {
		return append([]string{string(store.Restored)}, changed...)
	}
	return changed
}

// may says whether p may change old, and whether old still is what p expects.
func may(p tool.Principal, old *store.Record, expect string) error {
	if old == nil {
		return nil
	}
	if p.Kind == tool.Model && old.Source == tool.ByUser {
		return tool.Errorf(tool.Forbidden, "a user made the tool %q, and a model may not change it", old.Name).
			WithHint("Ask the user to change it, or create a tool of your own under another name.")
	}
	if expect != "" && expect != old.Current.ID {
		return store.Stale(old.Name).WithDetails(map[string]any{"expected": expect, "current": old.Current.ID})
	}
	return nil
}

// write is the change of the tool's head that d asks for.
func (r *Registry) write(p tool.Principal, old *store.Record, d tool.Definition, a store.Action, reason string) store.Write {
	w := store.Write{Author: tool.Author{Kind: p.Kind, ID: p.ID}, Reason: reason, Place: p.Place, Name: d.Name, Source: p.Source(), Enabled: true, Action: a, At: r.opts.Now(), Max: r.opts.MaxTools}
	none := ""
	w.Avoid = &none
	if d.Location == tool.InTenant {
		w.Place.Workspace, w.Avoid = "", &p.Workspace
	}
	if old != nil {
		w.ToolID, w.Revision, w.Source = old.ID, old.Revision, old.Source
		w.Enabled = old.Enabled || old.Deleted
		w.Wide = old.Place.Workspace == ""
	}
	if old != nil && !old.Deleted && old.Place == w.Place {
		w.Avoid = nil // it holds its name already, come what may elsewhere
	}
	return w
}

// commit stores w and tells everybody. A conflict after somebody was asked is
// final: the answer was about another change.
func (r *Registry) commit(ctx context.Context, w store.Write, asked bool, warnings []tool.Warning) (tool.Change, error) {
	out, err := r.apply(ctx, w)
	if err != nil {
		var e *tool.Error
		if asked && errors.As(err, &e) {
			e.Retryable = false
		}
		return tool.Change{}, err
	}
	return tool.Change{Tool: out[0].Tool, Warnings: warnings}, nil
}

// apply stores the writes, all or none, and lets the cache and every follower know.
func (r *Registry) apply(ctx context.Context, writes ...store.Write) ([]store.Record, error) {
	out, err := r.store.Apply(ctx, writes)
	if err == nil {
		r.noticed(ctx)
	}
	return out, err
}

// noticed takes in the changes made a moment ago. If they cannot be read now, all that is cached may
// be old: it is dropped, and the poll tells the followers later.
func (r *Registry) noticed(ctx context.Context) {
	if err := r.feed.catchUp(context.WithoutCancel(ctx)); err != nil {
		r.cache.forgetAll()
		r.opts.Log.Warn("cannot read the change feed after a change; trying again", "error", err)
	}
}

// SetEnabled enables or disables a tool. Its version stays.
func (r *Registry) SetEnabled(ctx context.Context, p tool.Principal, name string, enabled bool, o ChangeOptions) (tool.Change, error) {
	action := store.Disabled
	if enabled {
		action = store.Enabled
	}
	return r.head(ctx, p, name, action, o, func(w *store.Write) { w.Enabled = enabled })
}

// Delete takes a tool away. Restoring the version in the answer (its current
// one) brings it back.
func (r *Registry) Delete(ctx context.Context, p tool.Principal, name string, o ChangeOptions) (tool.Change, error) {
	return r.head(ctx, p, name, store.Deleted, o, func(w *store.Write) { w.Deleted = true })
}

// head changes a tool without making a version.
func (r *Registry) head(ctx context.Context, p tool.Principal, name string, a store.Action, o ChangeOptions,
	set func(*store.Write)) (tool.Change, error) {
	return r.attempt(o, func() (tool.Change, error) {
		old, err := r.live(ctx, p.Place, name)
		if err != nil {
			return tool.Change{}, err
		}
		if err := may(p, &old, o.Expect); err != nil {
			return tool.Change{}, err
		}
		d := old.Current.Definition
		d.Name, d.Location = old.Name, old.Location // a damaged version does not say
		w := r.write(p, &old, d, a, o.Reason)
		set(&w)
		if w.Enabled == old.Enabled && w.Deleted == old.Deleted {
			return tool.Change{Tool: old.Tool}, nil
		}
		if a == store.Enabled {
			if err := r.mayBeGlobal(p, old.Location); err != nil {
				return tool.Change{}, err
			}
		}
		asked, err := r.ask(ctx, r.question(p, &old, d, old.Current.Hash, a, o.Reason), o.Ask)
		if err != nil {
			return tool.Change{}, err
		}
		return r.commit(ctx, w, asked, nil)
	})
}

// MarkSolo notes that a version had to be killed once, so that it runs alone in its
// worker from now on.
func (r *Registry) MarkSolo(ctx context.Context, versionID string) error {
	if err := r.store.MarkSolo(ctx, versionID, r.opts.Now()); err != nil {
		return err
	}
	r.noticed(ctx)
	return nil
}
