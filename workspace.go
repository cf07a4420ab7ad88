package toolroom

import (
	"context"
	"encoding/json"

	"toolroom/internal/registry"
	"toolroom/tool"
)

// Workspace is one principal in one workspace of a room: what it may do is what
// that principal may. It holds no resources and need not be closed.
type Workspace struct {
	room      *Room
	principal tool.Principal
	root      string
	quoted    json.RawMessage // the workspace's name as JSON
	hooks     Hooks
}

// Workspace is the view of p on its workspace, whose files are in the folder
// root; with an empty root the workspace has no files.
func (r *Room) Workspace(p tool.Principal, root string) (*Workspace, error) {
	if p.Tenant == "" || p.Place.Workspace == "" {
		return nil, tool.Errorf(tool.InvalidArguments, "a principal is always of one tenant and workspace; got %q and %q", p.Tenant, p.Place.Workspace)
	}
	switch p.Kind {
	case tool.User, tool.Model, tool.Admin:
	default:
		return nil, tool.Errorf(tool.InvalidArguments, "a principal is a user, a model or an admin; got %q", p.Kind)
	}
	w := &Workspace{room: r, principal: p, quoted: quoteJSON(p.Place.Workspace)}
	if root == "" {
		return w, nil
	}
	var err error
	w.root, err = absRoot(root)
	return w, err
}

// View is the same workspace, telling and asking through h.
func (w *Workspace) View(h Hooks) *Workspace {
	view := *w
	view.hooks = h
	return &view
}

// change does one change, unless the room is closing.
func (w *Workspace) change(do func(*registry.Registry) (tool.Change, error)) (tool.Change, error) {
	if err := w.room.enter(); err != nil {
		return tool.Change{}, err
	}
	defer w.room.work.Done()
	c, err := do(w.room.registry)
	return c, w.room.outward(err)
}

// asking is how with this view's approver in front, unless how brings its own.
func (w *Workspace) asking(how ChangeOptions) ChangeOptions {
	if how.Ask == nil {
		how.Ask = w.hooks.Approver
	}
	how.Ask = w.room.patient(how.Ask)
	return how
}

// Create makes a tool, or a new version of it when how says to replace. Errors have
// the definition and change codes.
func (w *Workspace) Create(ctx context.Context, def tool.Definition, how CreateOptions) (tool.Change, error) {
	how.ChangeOptions = w.asking(how.ChangeOptions)
	return w.change(func(r *registry.Registry) (tool.Change, error) { return r.Create(ctx, w.principal, def, how) })
}

// Update makes a new version of a tool from the fields that patch says.
func (w *Workspace) Update(ctx context.Context, name string, patch tool.Patch, how ChangeOptions) (tool.Change, error) {
	return w.change(func(r *registry.Registry) (tool.Change, error) {
		return r.Update(ctx, w.principal, name, patch, w.asking(how))
	})
}

// SetEnabled offers a tool, or keeps it without offering it.
func (w *Workspace) SetEnabled(ctx context.Context, name string, enabled bool, how ChangeOptions) (tool.Change, error) {
	return w.change(func(r *registry.Registry) (tool.Change, error) {
		return r.SetEnabled(ctx, w.principal, name, enabled, w.asking(how))
	})
}

// Restore makes an earlier version current again, as a new version; it also
// brings back a deleted tool.
func (w *Workspace) Restore(ctx context.Context, name, version string, how ChangeOptions) (tool.Change, error) {
	return w.change(func(r *registry.Registry) (tool.Change, error) {
		return r.Restore(ctx, w.principal, name, version, w.asking(how))
	})
}

// Delete takes a tool away. Restoring the version that the answer names undoes it.
func (w *Workspace) Delete(ctx context.Context, name string, how ChangeOptions) (tool.Change, error) {
	return w.change(func(r *registry.Registry) (tool.Change, error) {
		return r.Delete(ctx, w.principal, name, w.asking(how))
	})
}

// outward is an error on its way out of the room: whoever asked is not told what is wrong with the
// room's insides, so its log is.
func (r *Room) outward(err error) error {
	e := tool.AsError(err)
	if e == nil {
		return nil
	}
	if cause := e.Unwrap(); cause != nil && (e.Code == tool.StorageFailed || e.Code == tool.Internal) {
		r.opts.Logger.Error(e.Message, "code", e.Code, "cause", cause)
	}
	return e
}

// wrap makes sure that what leaves the room is a *tool.Error or nil.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return tool.AsError(err)
}

func quoteJSON(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}
