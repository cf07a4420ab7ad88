package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"toolroom/internal/store"
	"toolroom/tool"
)

// Item is a tool as an import brings it.
type Item struct {
	Definition tool.Definition
	Disabled   bool
}

// Step is what an import does to one tool. Action is empty if it changes nothing.
type Step struct {
	Name     string         `json:"name"`
	Action   store.Action   `json:"action,omitempty"`
	Diff     Diff           `json:"diff,omitzero"`
	Warnings []tool.Warning `json:"warnings,omitempty"`
}

// Plan is an import that was checked and not made yet.
type Plan struct {
	Steps []Step `json:"steps"`

	registry *Registry
	pending  []*pending
}

// PlanImport checks every item as Create with IfExists Replace would, and shows
// what would change. If any is refused, the error's details have all the reasons by name.
func (r *Registry) PlanImport(ctx context.Context, p tool.Principal, items []Item, reason string) (*Plan, error) {
	if err := checkReason(reason); err != nil {
		return nil, err
	}
	plan := &Plan{registry: r}
	refused := map[string]*tool.Error{}
	for i, item := range items {
		next, err := r.prepareItem(ctx, p, item, reason)
		if err != nil {
			refused[orText(item.Definition.Name, fmt.Sprintf("number %d", i+1))] = tool.AsError(err)
			continue
		}
		plan.add(next)
	}
	if len(refused) > 0 {
		return nil, refusal(refused, len(items))
	}
	return plan, nil
}

// refusal is one error for all that is wrong with an import.
func refusal(refused map[string]*tool.Error, of int) error {
	var code tool.Code
	var all []string
	for name, e := range refused {
		code = e.Code
		all = append(all, name+": "+e.Message)
	}
	if len(refused) > 1 {
		code = tool.InvalidDefinition
	}
	return tool.Errorf(code, "%d of %d tools cannot be imported: %s", len(refused), of, strings.Join(sorted(all), "; ")).
		WithDetails(refused).WithHint("Nothing was changed. Mend these and import again.")
}

func (r *Registry) prepareItem(ctx context.Context, p tool.Principal, item Item, reason string) (*pending, error) {
	d := item.Definition
	if err := checkName(d.Name); err != nil {
		return nil, err
	}
	var old *store.Record
	action := store.Created
	switch found, err := r.live(ctx, p.Place, d.Name); {
	case err == nil:
		old, action, d.Name = &found, store.Updated, found.Name
	case tool.CodeOf(err) != tool.NotFound:
		return nil, err
	}
	next, err := r.prepare(ctx, p, old, d, action, ChangeOptions{Reason: reason})
	if err != nil {
		return nil, err
	}
	next.write.Enabled = !item.Disabled
	if next.same {
		next.write.Version = nil
		next.write.Action = enabling(!item.Disabled)
		next.same = old.Enabled == next.write.Enabled
	}
	return next, nil
}

func enabling(enabled bool) store.Action {
	if enabled {
		return store.Enabled
	}
	return store.Disabled
}

func (plan *Plan) add(next *pending) {
	step := Step{Name: next.write.Name, Warnings: next.built.Warnings}
	if !next.same {
		step.Action = next.write.Action
		var before tool.Definition
		if next.old != nil {
			before = next.old.Current.Definition
		}
		step.Diff = diffDefinitions(before, next.built.Tool.Current.Definition)
		plan.pending = append(plan.pending, next)
	}
	plan.Steps = append(plan.Steps, step)
}

// Apply makes the import as it was shown, all of it or nothing. conflict: a tool changed since it
// was planned. A model is asked about for each tool, as for a single change.
func (plan *Plan) Apply(ctx context.Context, ask Approver) error {
	writes := make([]store.Write, len(plan.pending))
	for i, next := range plan.pending {
		if _, err := plan.registry.ask(ctx, next.question, ask); err != nil {
			return err
		}
		writes[i] = next.write
	}
	if len(writes) == 0 {
		return nil
	}
	_, err := plan.registry.apply(ctx, writes...)
	var e *tool.Error
	if errors.As(err, &e) && e.Code == tool.Conflict {
		return e.WithHint("Nothing was changed. Plan the import again and look at what would change now.")
	}
	return err
}
