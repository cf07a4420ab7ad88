package registry

import (
	"context"

	"toolroom/internal/store"
	"toolroom/tool"
)

// Ran is the action of a Question about a body that is to run once.
const Ran store.Action = "run"

// onceName stands in for the name of a body that has none.
const onceName = "body"

// Check builds what Create would store, examples included, and stores nothing.
func (r *Registry) Check(ctx context.Context, p tool.Principal, d tool.Definition) (*Resolved, error) {
	return r.build(ctx, p, d)
}

// Once makes a body ready to run once: a definition of which only body,
// parameters, language, runtime, scope, grant and limits count. A model that wants more than the
// room's usual grant is asked about, as it would be for a tool: else running once were a way around.
func (r *Registry) Once(ctx context.Context, p tool.Principal, d tool.Definition, ask Approver) (*Resolved, error) {
	d.Name, d.Description = onceName, "Runs once."
	d.Location, d.Examples = tool.InWorkspace, nil
	built, err := r.build(ctx, p, d)
	if err != nil {
		return nil, err
	}
	d = built.Tool.Current.Definition
	if _, err := r.ask(ctx, r.question(p, nil, d, built.Tool.Current.Hash, Ran, ""), ask); err != nil {
		return nil, err
	}
	return built, nil
}
