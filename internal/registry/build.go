package registry

import (
	"context"

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
	built, err := r.compile(d)
	if err != nil {
		return nil, err
	}
	built.Tool = tool.Tool{Name: d.Name, Source: p.Source(), Location: d.Location, Enabled: true}
	built.Tool.Current.Definition = built.definition
	encoded, err := store.Encode(built.definition)
	if err != nil {
		return nil, invalid("definition", "it cannot be written as JSON: %v", err)
	}
	built.Tool.Current.Hash = store.Hash(encoded)
	if r.opts.Check != nil {
		if err := r.opts.Check(ctx, p.Place, &built.Resolved); err != nil {
			return nil, err
		}
	}
	return &built.Resolved, r.runExamples(ctx, p, &built.Resolved)
}

type compiled struct {
	Resolved
	definition tool.Definition // with the schema completed
}

// compile turns body and schemas into what a call needs.
func (r *Registry) compile(d tool.Definition) (*compiled, error) {
	c := &compiled{definition: d}
	for field, raw := range map[string][]byte{"parameters": d.Parameters, "output_schema": d.OutputSchema} {
		if len(raw) > maxSchema {
			return nil, tool.Errorf(tool.InvalidSchema, "%s has %d bytes, and %d is the most", field, len(raw), maxSchema).
				WithHint("Shorten descriptions, or share parts of the schema by $ref to $defs.")
		}
	}
	var err error
	if c.Parameters, err = r.opts.Parameters(d.Parameters); err != nil {
		return nil, err
	}
	c.definition.Parameters = c.Parameters.Parameters()
	if len(d.OutputSchema) > 0 {
		if c.Output, err = r.opts.Output(d.OutputSchema); err != nil {
			return nil, err
		}
	}
	if c.Body, err = r.opts.Compile(d.Body, d.Language); err != nil {
		return nil, err
	}
	return c, nil
}
