package toolroom

import (
	"context"
	"errors"
	"path/filepath"

	"toolroom/internal/registry"
	"toolroom/internal/store/sqlite"
	"toolroom/tool"
)

// Inbox is the questions of a room, and nothing else of it. It may be opened while the room
// itself runs in another process: a change that waits there has its answer within two seconds.
// It may be used concurrently; whoever opened it closes it.
type Inbox struct {
	store *sqlite.Store
	box   *registry.Inbox
}

// OpenInbox opens the inbox of the room whose directory is data. Errors: storage_failed when it cannot be read.
func OpenInbox(ctx context.Context, data string) (*Inbox, error) {
	file := filepath.Join(data, "room.db")
	s, err := sqlite.OpenBeside(ctx, file)
	if tool.CodeOf(err) == tool.NotFound {
		s, err = sqlite.Open(ctx, file, sqlite.Options{}) // nobody runs it: make it, or bring it up to date
	}
	if err != nil {
		return nil, wrap(err)
	}
	return &Inbox{store: s, box: registry.NewInbox(s, registry.InboxOptions{})}, nil
}

// List is as Workspace.Approvals, for the workspace of p.
func (b *Inbox) List(ctx context.Context, p tool.Principal, state ApprovalState, cursor string) ([]Approval, string, error) {
	found, next, err := b.box.List(ctx, p.Place, state, cursor, 0)
	return found, next, wrap(err)
}

// Get is one question of the workspace of p.
func (b *Inbox) Get(ctx context.Context, p tool.Principal, id string) (Approval, error) {
	a, err := b.box.Get(ctx, p.Place, id)
	return a, wrap(err)
}

// Decide is as Workspace.Decide, for p.
func (b *Inbox) Decide(ctx context.Context, p tool.Principal, id string, d Decision) (Approval, error) {
	a, err := b.box.Decide(ctx, p, id, d)
	return a, wrap(err)
}

// Close frees the inbox.
func (b *Inbox) Close() error { return b.store.Close() }

// patient is a, no longer asked once the room begins to close: a change that waits for a person does not keep
// the room from ending. Nil stays nil.
func (r *Room) patient(a Approver) Approver {
	if a == nil {
		return nil
	}
	return ApproverFunc(func(ctx context.Context, q Question) (Answer, error) {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(r.waits, cancel)()
		answer, err := a.Approve(waiting, q)
		if ctx.Err() == nil && waiting.Err() != nil && errors.Is(err, context.Canceled) {
			err = tool.Errorf(tool.ApprovalUnavailable, "the room was closed before there was an answer")
		}
		return answer, err
	})
}
