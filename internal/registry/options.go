package registry

import (
	"context"
	"log/slog"
	"time"

	"toolroom/tool"
)

// Options are what a registry needs from the room, and the operator's choices.
type Options struct {
	// Check loads the code into the engine once, before the version is stored;
	// nil: no check.
	Check func(ctx context.Context, place tool.Place, r *Resolved) error
	// RunExample runs a version that is not stored yet, its network answered from recorded
	// responses or refused; nil: examples are kept but not run.
	RunExample func(ctx context.Context, p tool.Principal, r *Resolved, e tool.Example) (tool.Outcome, error)
	// CheckGrant says whether the room can serve what a grant names, by its own reading of
	// it, with invalid_definition when not; nil: it can.
	CheckGrant func(tool.Grant) error
	// Policy is asked before anybody else, so that no client can say yes to what the operator
	// declines; nil: there is none.
	Policy Approver
	// Approver is asked after the one that came with the change; nil: nobody.
	Approver Approver

	MaxTools    int                      // live tools in a workspace, and global ones in a tenant; 0: 100
	Limits      tool.Limits              // the room's budgets of a call; zero fields: the contract's
	Net         *tool.Names              // what a grant says about net when its author did not; nil: any
	GlobalTools func(tenant string) bool // may this tenant have global tools; nil: every tenant may
	CacheSize   int                      // resolved tools kept in memory; 0: 20,000
	PollEvery   time.Duration            // how often changes by other processes are looked for; 0: 2 s
	Now         func() time.Time         // nil: time.Now
	Log         *slog.Logger             // nil: discards
}

func (o Options) withDefaults() Options {
	o.MaxTools = or(o.MaxTools, 100)
	o.CacheSize = or(o.CacheSize, 20_000)
	o.PollEvery = or(o.PollEvery, 2*time.Second)
	o.Limits.TimeoutMS = or(o.Limits.TimeoutMS, 30_000)
	o.Limits.MemoryMB = or(o.Limits.MemoryMB, 128)
	o.Limits.MaxResultBytes = or(o.Limits.MaxResultBytes, 1<<20)
	if o.CheckGrant == nil {
		o.CheckGrant = func(tool.Grant) error { return nil }
	}
	if o.Net == nil {
		o.Net = tool.AnyName()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func or[T int | int64 | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

// IfExists says what Create does about a name that is taken.
type IfExists string

// The choices. Refuse is the default.
const (
	Refuse  IfExists = "error"
	Replace IfExists = "replace"
)

// ChangeOptions go with every change.
type ChangeOptions struct {
	// Expect is the id of the version the change was made from: if another one is current
	// by now, the answer is conflict. Empty: whichever is current.
	Expect string
	Reason string   // why, in the author's words; kept with the version
	Ask    Approver // asked between Options.Policy and Options.Approver: the face the change came through
}

// CreateOptions go with Create.
type CreateOptions struct {
	ChangeOptions
	IfExists IfExists
}
