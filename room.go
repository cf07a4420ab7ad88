package toolroom

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"toolroom/internal/broker"
	"toolroom/internal/registry"
	"toolroom/internal/runner"
	"toolroom/internal/sandbox"
	"toolroom/internal/store/sqlite"
	"toolroom/tool"
)

// Room is a running host. The one who opened it closes it.
type Room struct {
	opts     Options
	vars     json.RawMessage // env.vars, encoded once
	store    *sqlite.Store
	registry *registry.Registry
	policy   registry.Approver // nil when the operator wrote none
	inbox    *registry.Inbox
	runner   *runner.Runner
	broker   *broker.Broker

	waits    context.Context // ends when the room begins to close: nobody is asked any more
	endWaits context.CancelFunc

	mu     sync.RWMutex
	closed bool
	work   sync.WaitGroup // calls and changes under way; added to under mu
	ending sync.Once
	ended  error
}

// Open opens the room that o.Data holds, or makes it. Errors: locked when another
// process has it, storage_failed when it cannot be read or written, stopped when this machine
// cannot confine workers as o asks.
func Open(ctx context.Context, o Options) (*Room, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Room{opts: o}
	r.waits, r.endWaits = context.WithCancel(context.Background())
	if r.vars, err = json.Marshal(o.Env); err != nil {
		return nil, tool.Errorf(tool.Internal, "Options.Env cannot be written as JSON").WithCause(err)
	}
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.release(ctx))
	}
	return r, nil
}

func (r *Room) open(ctx context.Context) (err error) {
	if missing := sandbox.Missing(sandbox.Layers()); r.opts.RequireSandbox && len(missing) > 0 {
		return tool.Errorf(tool.Stopped, "the sandbox is required, and this machine lacks its layer %q: %s", missing[0].Name, missing[0].Detail).
			WithHint("`toolroom doctor` lists every layer. Without --require-sandbox the room starts with those that stand.")
	}
	if r.store, err = sqlite.Open(ctx, filepath.Join(r.opts.Data, "room.db"), sqlite.Options{}); err != nil {
		return err
	}
	if r.policy, err = loadPolicy(r.opts); err != nil {
		return err
	}
	r.inbox = registry.NewInbox(r.store, registry.InboxOptions{Wait: r.opts.ApprovalWait})
	if r.registry, err = registry.Open(ctx, r.store, r.registryOptions()); err != nil {
		return err
	}
	if r.broker, err = openBroker(r.opts); err != nil {
		return err
	}
	if r.runner, err = runner.New(r.runnerOptions()); err == nil {
		err = r.runner.Probe(ctx) // a program that forgot WorkerMain learns it now, not at the first call
	}
	if err != nil {
		return tool.Errorf(tool.Stopped, "no worker can be started: %v", err).WithCause(err).
			WithHint("`toolroom doctor` says what this machine can confine.")
	}
	return nil
}

func (r *Room) runnerOptions() runner.Options {
	return runner.Options{
		Command:  sandbox.Command{Required: r.opts.RequireSandbox},
		PerCall:  r.opts.Isolation == PerProcess,
		Limits:   r.opts.limits(),
		MemoryMB: r.opts.MemoryMB,
		InFlight: r.opts.InFlight,
		Workers:  r.opts.Workers,
		Rate:     r.opts.Rate,
		OnKilled: r.killed,
		Log:      r.opts.Logger,
	}
}

// killed notes that a version had to be killed, so that it runs alone from now on. The call that was killed
// ends only after that: whoever sees it fail can read the mark, also from a room opened again.
func (r *Room) killed(_ tool.Place, key string) {
	ctx, cancel := context.WithTimeout(context.Background(), markFor)
	defer cancel()
	if err := r.registry.MarkSolo(ctx, key); err != nil && tool.CodeOf(err) != tool.VersionNotFound {
		r.opts.Logger.Error("a version that was killed is not marked as one that runs alone", "version", key, "error", err)
	}
}

// markFor is how long a call that was killed waits for its version to be marked.
const markFor = 5 * time.Second

// enter begins a piece of work, or says that the room is closing. Every enter that
// returns nil is followed by r.work.Done.
func (r *Room) enter() error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		return tool.Errorf(tool.Stopped, "the room is closed")
	}
	r.work.Add(1)
	return nil
}

// drainFor is how long Close waits for calls that run.
const drainFor = 30 * time.Second

// Close takes no new calls, waits for those that run (at most 30 s, then they are
// ended), and frees everything. Closing again waits for the same end and gives the same error.
func (r *Room) Close() error {
	r.ending.Do(func() {
		r.mu.Lock()
		r.closed = true
		r.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), drainFor)
		defer cancel()
		r.ended = r.release(ctx)
	})
	return r.ended
}

// release frees what was opened, in the order of use. The runner goes first: when it is
// closed no call is left that could need the rest.
func (r *Room) release(ctx context.Context) error {
	var errs []error
	r.endWaits()
	if r.runner != nil {
		errs = append(errs, r.drain(ctx), r.runner.Close(ctx))
	}
	r.work.Wait()
	if r.broker != nil {
		errs = append(errs, r.broker.Close())
	}
	if r.registry != nil {
		errs = append(errs, r.registry.Close())
	}
	if r.store != nil {
		errs = append(errs, r.store.Close())
	}
	return errors.Join(errs...)
}

// drain waits until no work is under way or ctx ends.
func (r *Room) drain(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		r.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		r.opts.Logger.Warn("calls were still running when the room was closed; they are ended")
	}
	return nil
}

// silent is a logger for those who gave none.
func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }
