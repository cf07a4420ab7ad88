package registry

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// Compiled is a body that was proven to be one function, as the engine takes it.
type Compiled struct {
	Code     []byte
	Map      []byte
	Warnings []tool.Warning
	Explain  func(*wire.Failure) *tool.Error // a failure in the author's lines
}

// Compiler turns a body into code. Its errors are *tool.Error.
type Compiler func(body string, lang tool.Language) (*Compiled, error)

// Schema is a compiled JSON Schema.
type Schema interface {
	// Validate answers with the value as the body shall get it, or with every problem.
	Validate(value json.RawMessage) (json.RawMessage, error)
	// Parameters is the schema completed: what is stored and shown.
	Parameters() json.RawMessage
}

// SchemaCompiler compiles a JSON Schema. Its errors are *tool.Error.
type SchemaCompiler func(raw json.RawMessage) (Schema, error)

// Options are what a registry needs from the room, and the operator's choices.
type Options struct {
	Compile    Compiler       // required
	Parameters SchemaCompiler // required: schemas of arguments
	Output     SchemaCompiler // schemas of results; nil: as Parameters

	// Check loads the code into the engine once, before the version is stored;
	// nil: no check.
	Check func(ctx context.Context, place tool.Place, r *Resolved) error
	// RunExample runs a version that is not stored yet, its network answered from recorded
	// responses or refused; nil: examples are kept but not run.
	RunExample func(ctx context.Context, p tool.Principal, r *Resolved, e tool.Example) (tool.Outcome, error)
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

func (o Options) withDefaults() (Options, error) {
	if o.Compile == nil || o.Parameters == nil {
		return o, errors.New("registry: Options.Compile and Options.Parameters are required")
	}
	if o.Output == nil {
		o.Output = o.Parameters
	}
	o.MaxTools = or(o.MaxTools, 100)
	o.CacheSize = or(o.CacheSize, 20_000)
	o.PollEvery = or(o.PollEvery, 2*time.Second)
	o.Limits.TimeoutMS = or(o.Limits.TimeoutMS, 30_000)
	o.Limits.MemoryMB = or(o.Limits.MemoryMB, 128)
	o.Limits.MaxResultBytes = or(o.Limits.MaxResultBytes, 1<<20)
	if o.Net == nil {
		o.Net = tool.AnyName()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
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
	Ask    Approver // asked before Options.Approver: the face the change came through
}

// CreateOptions go with Create.
type CreateOptions struct {
	ChangeOptions
	IfExists IfExists
}
