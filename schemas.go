package toolroom

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"toolroom/internal/registry"
	"toolroom/internal/schema"
	"toolroom/tool"
)

// Sent is the schema of a tool's arguments as one provider takes it. What had to go is
// still enforced when the tool is called.
type Sent struct {
	Provider   string          `json:"provider"`
	Parameters json.RawMessage `json:"parameters"`
	Warnings   []tool.Warning  `json:"warnings,omitempty"` // what the provider would refuse or ignore in the original
}

// Providers lists the names that SchemaFor knows.
func Providers() []string {
	var names []string
	for _, p := range schema.Providers() {
		names = append(names, string(p))
	}
	return names
}

// SchemaFor puts a tool's parameters into the form that a provider takes. Errors: invalid_arguments for a provider
// that it does not know, invalid_schema.
func SchemaFor(provider string, parameters json.RawMessage) (Sent, error) {
	if !slices.Contains(Providers(), provider) {
		return Sent{}, tool.Errorf(tool.InvalidArguments, "%q is none of the providers %s", provider, strings.Join(Providers(), ", "))
	}
	s, err := schema.Compile(parameters)
	if err != nil {
		return Sent{}, wrap(err)
	}
	return sent(s, provider), nil
}

func sent(s *schema.Schema, provider string) Sent {
	form := s.For(schema.Provider(provider))
	return Sent{Provider: provider, Parameters: form.Schema, Warnings: form.Warnings}
}

// Checked is what there is to say of a definition that would be accepted.
type Checked struct {
	Warnings []tool.Warning `json:"warnings"`
	Sent     []Sent         `json:"sent"`  // by provider, as Providers lists them
	Types    string         `json:"types"` // TypeScript: type Args = …
}

// Check finds out what Create would say of def, examples included, and keeps nothing.
func (w *Workspace) Check(ctx context.Context, def tool.Definition) (Checked, error) {
	return reading(w, func(r *registry.Registry) (Checked, error) {
		built, err := r.Check(ctx, w.principal, def)
		if err != nil {
			return Checked{}, err
		}
		out := Checked{Warnings: built.Warnings, Types: built.Parameters.TypeScript()}
		for _, p := range Providers() {
			out.Sent = append(out.Sent, sent(built.Parameters, p))
		}
		return out, nil
	})
}
