package toolroom

import (
	"context"

	"toolroom/internal/registry"
	"toolroom/tool"
)

// reading runs a read, unless the room is closing.
func reading[T any](w *Workspace, do func(*registry.Registry) (T, error)) (T, error) {
	if err := w.room.enter(); err != nil {
		var none T
		return none, err
	}
	defer w.room.work.Done()
	v, err := do(w.room.registry)
	return v, w.room.outward(err)
}

// Tools is a page of the tools that this workspace sees, by name.
func (w *Workspace) Tools(ctx context.Context, which ListOptions) (Page, error) {
	return reading(w, func(r *registry.Registry) (Page, error) { return r.List(ctx, w.principal.Place, which) })
}

// Tool is a tool by name, also a disabled or deleted one.
func (w *Workspace) Tool(ctx context.Context, name string) (tool.Tool, error) {
	return reading(w, func(r *registry.Registry) (tool.Tool, error) { return r.Get(ctx, w.principal.Place, name) })
}

// LastChange is the newest change of a tool that Tool or Tools gave: what was done, by whom and why, also when it
// made no version, as deleting does.
func (w *Workspace) LastChange(ctx context.Context, t tool.Tool) (Event, error) {
	return reading(w, func(r *registry.Registry) (Event, error) { return r.LastChange(ctx, w.principal.Place, t) })
}

// Search is the enabled tools that fit query best, best first, at most limit.
func (w *Workspace) Search(ctx context.Context, query string, limit int) ([]tool.Tool, error) {
	return reading(w, func(r *registry.Registry) ([]tool.Tool, error) { return r.Search(ctx, w.principal.Place, query, limit) })
}

// historyPage is how many versions History gives at a time.
const historyPage = 20

// History is a page of a tool's versions, newest first, also of a deleted tool.
func (w *Workspace) History(ctx context.Context, name, cursor string) (Versions, error) {
	return reading(w, func(r *registry.Registry) (Versions, error) {
		return r.History(ctx, w.principal.Place, name, cursor, historyPage)
	})
}

// Version is one version of a tool, also of a deleted tool.
func (w *Workspace) Version(ctx context.Context, name, id string) (tool.Version, error) {
	return reading(w, func(r *registry.Registry) (tool.Version, error) { return r.Version(ctx, w.principal.Place, name, id) })
}

// Diff compares two versions of a tool; with an empty to, from and the current one.
func (w *Workspace) Diff(ctx context.Context, name, from, to string) (Diff, error) {
	return reading(w, func(r *registry.Registry) (Diff, error) { return r.Diff(ctx, w.principal.Place, name, from, to) })
}

// Test runs a tool's examples and answers with those that fail.
func (w *Workspace) Test(ctx context.Context, name string) ([]FailedExample, error) {
	return reading(w, func(r *registry.Registry) ([]FailedExample, error) {
		found, err := r.Resolve(ctx, w.principal.Place, name)
		if err != nil {
			return nil, err
		}
		return r.TestExamples(ctx, w.principal, found)
	})
}

// Revision is that of the newest change in the room.
func (w *Workspace) Revision() int64 { return w.room.registry.Revision() }

// Watch calls each for every change after a revision that this workspace sees,
// in order and without gaps, until ctx ends or the room is closed. It blocks.
func (w *Workspace) Watch(ctx context.Context, after int64, each func(Event)) error {
	return wrap(w.room.registry.Follow(ctx, w.principal.Place, after, each))
}

// Approvals is a page of the questions kept for this workspace, newest first, and
// the cursor of the next page. An empty state lists all.
func (w *Workspace) Approvals(ctx context.Context, state ApprovalState, cursor string) ([]Approval, string, error) {
	if err := w.room.enter(); err != nil {
		return nil, "", err
	}
	defer w.room.work.Done()
	found, next, err := w.room.inbox.List(ctx, w.principal.Place, state, cursor, 0)
	return found, next, wrap(err)
}

// Decide answers a question of the inbox. A model may not.
func (w *Workspace) Decide(ctx context.Context, id string, d Decision) (Approval, error) {
	if err := w.room.enter(); err != nil {
		return Approval{}, err
	}
	defer w.room.work.Done()
	a, err := w.room.inbox.Decide(ctx, w.principal, id, d)
	return a, wrap(err)
}
