package registry

import (
	"context"
	"slices"

	"toolroom/internal/schema"
	"toolroom/internal/source"
	"toolroom/internal/store"
	"toolroom/tool"
)

// build completes d, checks it against every rule, compiles it and runs its
// examples. What comes back is a version that could be stored as it is.
func (r *Registry) build(ctx context.Context, p tool.Principal, d tool.Definition) (*Resolved, error) {
	d = r.complete(d)
	if err := r.check(d); err != nil {
		return nil, err
	}
	built, err := compile(d)
	if err != nil {
		return nil, err
	}
	built.Warnings = append(built.Warnings, built.Parameters.ProviderWarnings()...)
	built.Warnings = append(built.Warnings, nameWarnings(d)...)
	built.Tool.Name, built.Tool.Source, built.Tool.Location, built.Tool.Enabled = d.Name, p.Source(), d.Location, true
	encoded, err := store.Encode(built.Tool.Current.Definition)
	if err != nil {
		return nil, invalid("definition", "it cannot be written as JSON: %v", err)
	}
	built.Tool.Current.Hash = store.Hash(encoded)
	if r.opts.Check != nil {
		if err := r.opts.Check(ctx, p.Place, built); err != nil {
			return nil, err
		}
	}
	return built, r.runExamples(ctx, p, built)
}

// compile turns body and schemas into what a call needs. The definition comes back
// with its schema completed.
func compile(d tool.Definition) (r *Resolved, err error) {
	r = &Resolved{}
	if r.Parameters, err = schema.Compile(d.Parameters); err != nil {
		return nil, err
	}
	d.Parameters = r.Parameters.Parameters()
	r.Tool.Current.Definition = d
	r.Warnings = r.Parameters.Warnings()
	if len(d.OutputSchema) > 0 {
		if r.Output, err = schema.CompileOutput(d.OutputSchema); err != nil {
			return nil, err
		}
	}
	if r.Body, err = source.Compile(d.Body, d.Language); err != nil {
		return nil, err
	}
	r.Warnings = slices.Concat(r.Body.Warnings, r.Warnings)
	return r, nil
}
