package registry

import (
	"context"
	"encoding/json"

	"github.com/aymanbagabas/go-udiff"

	"toolroom/tool"
)

// Diff is how two versions of a tool differ.
type Diff struct {
	From   string        `json:"from"`
	To     string        `json:"to"`
	Body   string        `json:"body,omitempty"` // unified diff of the source, empty if it is the same
	Fields []FieldChange `json:"fields,omitempty"`
}

// FieldChange is a field other than the body that differs. A field that was not said is null.
type FieldChange struct {
	Field string          `json:"field"`
	From  json.RawMessage `json:"from"`
	To    json.RawMessage `json:"to"`
}

// Diff compares two versions of a tool, also of a deleted tool. With to empty it is the
// current one.
func (r *Registry) Diff(ctx context.Context, place tool.Place, name, from, to string) (Diff, error) {
	if to == "" {
		t, err := r.Get(ctx, place, name)
		if err != nil {
			return Diff{}, err
		}
		to = t.Current.ID
	}
	a, err := r.Version(ctx, place, name, from)
	if err != nil {
		return Diff{}, err
	}
	b, err := r.Version(ctx, place, name, to)
	if err != nil {
		return Diff{}, err
	}
	d := diffDefinitions(a.Definition, b.Definition)
	d.From, d.To = a.ID, b.ID
	return d, nil
}

func diffDefinitions(a, b tool.Definition) Diff {
	var d Diff
	was, is := fields(a), fields(b)
	for _, f := range changedFields(a, b) {
		if f == "body" {
			d.Body = udiff.Unified("before", "after", lines(a.Body), lines(b.Body))
			continue
		}
		d.Fields = append(d.Fields, FieldChange{Field: f, From: orNull(was[f]), To: orNull(is[f])})
	}
	return d
}

// lines ends s with a line break, so that no diff speaks of a missing one.
func lines(s string) string {
	if s == "" || s[len(s)-1] == '\n' {
		return s
	}
	return s + "\n"
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}
