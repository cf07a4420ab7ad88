package store

import (
	"context"
	"time"

	"toolroom/tool"
)

// Store keeps what a room must not forget.
type Store interface {
	Tools
	Feed
	Approvals
	// Close waits for running changes and frees the medium. Whatever is asked for
	// afterwards gets the answer stopped. A second Close does nothing.
	Close() error
}

// Tools reads and changes tools and their versions.
type Tools interface {
	// Find is the tool that name means in place, without regard to case: the
	// live one of the workspace, else the tenant's live global one, else the one deleted last.
	// not_found if there never was one.
	Find(ctx context.Context, place tool.Place, name string) (Record, error)
	// List is a page of what place sees, by name without regard to case.
	List(ctx context.Context, place tool.Place, q Query) ([]Record, error)
	// Search is the live, enabled tools of place that have any of the words,
	// best first, at most limit.
	Search(ctx context.Context, place tool.Place, words []string, limit int) ([]Record, error)
	// Versions is a page of a tool's versions, newest first, with numbers below
	// before (0: from the newest on).
	Versions(ctx context.Context, toolID, before int64, limit int) ([]tool.Version, error)
	// Version is the version and the tool it belongs to, if place sees that
	// tool. version_not_found otherwise.
	Version(ctx context.Context, place tool.Place, id string) (Record, tool.Version, error)
	// Apply makes all the writes or none, in order, and answers with the tools
	// as they are then. conflict: a tool is at another revision by now.
	// name_conflict: see Write.Avoid. limit_reached: see Write.Max.
	Apply(ctx context.Context, writes []Write) ([]Record, error)
	// MarkSolo notes that the version had to be killed once. It is a change of
	// its tool like any other.
	MarkSolo(ctx context.Context, versionID string, at time.Time) error
}

// Feed reads the changes of the whole room. A change is never seen before those with
// smaller revisions are: who has read up to a revision has missed nothing below it.
type Feed interface {
	// Revision is that of the newest change, 0 in a new room.
	Revision(ctx context.Context) (int64, error)
	// Changes is the changes after a revision, oldest first, at most limit.
	Changes(ctx context.Context, after int64, limit int) ([]Change, error)
}

// Approvals is the inbox of questions that wait for a person.
type Approvals interface {
	// AddApproval keeps a new question under its ID.
	AddApproval(ctx context.Context, a Approval) error
	// Approval is one question of a place. not_found if it is not there.
	Approval(ctx context.Context, place tool.Place, id string) (Approval, error)
	// ListApprovals is a page of a place's questions, newest first.
	ListApprovals(ctx context.Context, place tool.Place, q ApprovalQuery) ([]Approval, error)
	// MoveApproval takes a question from one state to the next. conflict if it
	// is not in the state from.
	MoveApproval(ctx context.Context, place tool.Place, id string, from, to ApprovalState, by string, at time.Time) error
}
