package registry

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"toolroom/internal/store"
	"toolroom/tool"
)

// Inbox asks by keeping the question until somebody answers it through the API,
// the page or the command line. A change waits for Wait; an answer that comes later,
// but before Keep is over, is taken when the very same change is asked for again.
type Inbox struct {
	store store.Approvals
	opts  InboxOptions

	mu   sync.Mutex
	news chan struct{} // closed and replaced at every answer
}

// InboxOptions are the choices of an Inbox.
type InboxOptions struct {
	Wait time.Duration // how long a change waits for its answer; 0: it does not
	Keep time.Duration // how long a question can be answered; 0: a day
	Poll time.Duration // how often answers by other processes are looked for; 0: 2 s
	Now  func() time.Time
	// Notify is told of every new question and every answer; may be nil.
	Notify func(store.Approval)
}

var _ Approver = (*Inbox)(nil)

// NewInbox makes an inbox over a store.
func NewInbox(s store.Approvals, o InboxOptions) *Inbox {
	o.Keep = or(o.Keep, 24*time.Hour)
	o.Poll = or(o.Poll, 2*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Inbox{store: s, opts: o, news: make(chan struct{})}
}

// Approve keeps the question, if it is not there yet, and waits.
func (b *Inbox) Approve(ctx context.Context, q Question) (Answer, error) {
	a, err := b.post(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	over := time.NewTimer(b.opts.Wait)
	defer over.Stop()
	for {
		news := b.waitable()
		if answer, ok, err := b.take(ctx, a, q); ok || err != nil {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		case <-over.C:
			return Answer{}, waiting(a)
		case <-news:
		case <-time.After(b.opts.Poll):
		}
	}
}

func waiting(a store.Approval) error {
	return tool.Errorf(tool.ApprovalUnavailable, "the approval %s waits for an answer", a.ID).
		WithHint("Nothing was changed. The question %s waits in the inbox until %s; once it is approved, ask for the same change again.",
			a.ID, a.Expires.UTC().Format("2006-01-02 15:04 MST")).WithDetails(map[string]any{"approval": a.ID})
}

func (b *Inbox) waitable() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.news
}

// post is the question as it is kept: one that waits already or was answered but
// not used, else a new one.
func (b *Inbox) post(ctx context.Context, q Question) (store.Approval, error) {
	for _, state := range []store.ApprovalState{store.Approved, store.Pending} {
		found, err := b.store.ListApprovals(ctx, q.Asker.Place, store.ApprovalQuery{Key: q.Key(), State: state, Limit: 1})
		if err != nil {
			return store.Approval{}, err
		}
		if len(found) > 0 && b.opts.Now().Before(found[0].Expires) {
			return found[0], nil
		}
	}
	text, err := json.Marshal(q)
	if err != nil {
		return store.Approval{}, err
	}
	now := b.opts.Now()
	a := store.Approval{
		ID: approvalID(now), Place: q.Asker.Place, Key: q.Key(), State: store.Pending, Question: text,
		Asked: now, Expires: now.Add(b.opts.Keep),
	}
	if err := b.store.AddApproval(ctx, a); err != nil {
		return a, err
	}
	b.notify(a)
	return a, nil
}

func (b *Inbox) notify(a store.Approval) {
	if b.opts.Notify != nil {
		b.opts.Notify(a)
	}
}

// approvalID sorts by time and cannot be guessed.
func approvalID(now time.Time) string {
	return fmt.Sprintf("a%012x%s", now.UnixMilli(), rand.Text()[:8])
}

// take is the answer, if there is one. An approval is used up by it.
func (b *Inbox) take(ctx context.Context, a store.Approval, q Question) (Answer, bool, error) {
	a, err := b.store.Approval(ctx, a.Place, a.ID)
	if err != nil {
		return Answer{}, false, err
	}
	switch {
	case a.State == store.Declined:
		return Answer{Decision: Decline, By: a.By}, true, nil
	case a.State == store.Approved && a.Key == q.Key() && b.opts.Now().Before(a.Expires):
		err := b.store.MoveApproval(ctx, a.Place, a.ID, store.Approved, store.Used, a.By, b.opts.Now())
		return Answer{Decision: Approve, By: a.By, Hash: q.Hash}, err == nil, err
	}
	return Answer{}, false, nil
}

// Decide answers a question of p's workspace. forbidden to models; conflict if it
// was answered before or came too late.
func (b *Inbox) Decide(ctx context.Context, p tool.Principal, id string, d Decision) (store.Approval, error) {
	if p.Kind == tool.Model {
		return store.Approval{}, tool.Errorf(tool.Forbidden, "a model cannot answer an approval").WithHint("A user answers it in the inbox.")
	}
	a, err := b.store.Approval(ctx, p.Place, id)
	if err != nil {
		return a, err
	}
	to, err := b.next(a, d)
	if err != nil {
		return a, err
	}
	if err := b.store.MoveApproval(ctx, p.Place, id, store.Pending, to, p.ID, b.opts.Now()); err != nil {
		return a, err
	}
	b.mu.Lock()
	close(b.news)
	b.news = make(chan struct{})
	b.mu.Unlock()
	if a, err = b.store.Approval(ctx, p.Place, id); err == nil {
		b.notify(a)
	}
	return a, err
}

func (b *Inbox) next(a store.Approval, d Decision) (store.ApprovalState, error) {
	switch {
	case !b.opts.Now().Before(a.Expires):
		return "", store.Answered(a.ID, store.Expired)
	case d == Approve:
		return store.Approved, nil
	case d == Decline:
		return store.Declined, nil
	}
	return "", tool.Errorf(tool.InvalidArguments, "%q is neither approve nor decline", cut(string(d), 40))
}

// Get is one question of a place.
func (b *Inbox) Get(ctx context.Context, place tool.Place, id string) (store.Approval, error) {
	a, err := b.store.Approval(ctx, place, id)
	return b.aged(a), err
}

// List is a page of a place's questions, newest first, and the cursor of the
// next page. With an empty state it lists all.
func (b *Inbox) List(ctx context.Context, place tool.Place, state store.ApprovalState, cursor string,
	limit int) ([]store.Approval, string, error) {
	size := pageSize(limit)
	found, err := b.store.ListApprovals(ctx, place, store.ApprovalQuery{State: state, Before: cursor, Limit: size + 1})
	if err != nil {
		return nil, "", err
	}
	next := ""
	if len(found) > size {
		found, next = found[:size], found[size-1].ID
	}
	for i := range found {
		found[i] = b.aged(found[i])
	}
	return found, next, nil
}

// aged says of a question whose time is over that it is.
func (b *Inbox) aged(a store.Approval) store.Approval {
	if (a.State == store.Pending || a.State == store.Approved) && !b.opts.Now().Before(a.Expires) {
		a.State = store.Expired
	}
	return a
}
