package registry

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"toolroom/tool"
)

const (
	maxDescription = 4096 // characters
	maxExamples    = 50
	maxTitle       = 200
	maxReason      = 2000
)

// invalid is the answer for a field that breaks a rule no other code is for.
func invalid(field, format string, args ...any) *tool.Error {
	e := tool.Errorf(tool.InvalidDefinition, format, args...).WithDetails(map[string]any{"field": field})
	e.Message = field + ": " + e.Message
	return e
}

// complete is d with every default said.
func (r *Registry) complete(d tool.Definition) tool.Definition {
	d.Language = orText(d.Language, tool.JavaScript)
	d.Runtime = orText(d.Runtime, tool.Isolate)
	d.Scope = orText(d.Scope, tool.ScopeGlobal)
	d.Location = orText(d.Location, tool.InWorkspace)
	d.Description = strings.ReplaceAll(d.Description, "\r\n", "\n")
	d.Grant = r.completeGrant(d.Grant, d.Scope)
	if string(d.OutputSchema) == "null" {
		d.OutputSchema = nil
	}
	d.Examples = completeExamples(d.Examples)
	return d
}

// completeExamples says of every example that said nothing about its arguments that it has none.
func completeExamples(examples []tool.Example) []tool.Example {
	if len(examples) == 0 {
		return nil
	}
	examples = slices.Clone(examples)
	for i, e := range examples {
		if len(e.Args) == 0 || string(e.Args) == "null" {
			examples[i].Args = json.RawMessage("{}")
		}
	}
	return examples
}

func orText[T ~string](v, otherwise T) T {
	if v == "" {
		return otherwise
	}
	return v
}

// check refuses a completed definition that breaks a rule about a single field,
// apart from those that compiling finds.
func (r *Registry) check(d tool.Definition) error {
	checks := []func() error{
		func() error { return checkName(d.Name) },
		func() error { return checkDescription(d.Description) },
		func() error { return checkWords(d) },
		func() error { return checkBody(d.Body) },
		func() error { return checkGrant(d.Grant, d.Scope) },
		func() error { return r.opts.CheckGrant(d.Grant) },
		func() error { return checkLimits(d.Limits, r.opts.Limits) },
		func() error { return checkExamples(d.Examples) },
		func() error { return checkAnnotations(d.Annotations) },
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func checkDescription(s string) error {
	bad := func(format string, args ...any) error {
		return tool.Errorf(tool.InvalidDescription, format, args...).
			WithHint("Say in 1 to 4,096 characters what the tool does and when to use it.")
	}
	if strings.TrimSpace(s) == "" {
		return bad("the description is empty")
	}
	if !utf8.ValidString(s) {
		return bad("the description is not valid UTF-8")
	}
	if n := utf8.RuneCountInString(s); n > maxDescription {
		return bad("the description has %d characters, and %d is the most", n, maxDescription)
	}
	if strings.ContainsRune(s, 0) {
		return bad("the description has a NUL character")
	}
	return nil // other control characters are whoever shows it to make inert, as in results and logs
}

func checkWords(d tool.Definition) error {
	words := []struct{ field, value, want string }{
		{"language", string(d.Language), "javascript typescript"},
		{"runtime", string(d.Runtime), "isolate node"},
		{"scope", string(d.Scope), "global workspace"},
		{"location", string(d.Location), "workspace global"},
	}
	for _, w := range words {
		if !slices.Contains(strings.Fields(w.want), w.value) {
			return invalid(w.field, "%q is none of %s", cut(w.value, 40), strings.ReplaceAll(w.want, " ", ", "))
		}
	}
	if d.Runtime == tool.Node {
		return invalid("runtime", "this room serves no tools of runtime node").
			WithHint("Leave runtime out: the body runs in an isolate, with fetch, crypto.subtle and what else the web platform has.")
	}
	return nil
}

func checkBody(body string) error {
	if !utf8.ValidString(body) {
		return invalid("body", "it is not valid UTF-8").WithHint("Send the source as UTF-8 text.")
	}
	return nil // that it is one function, of an allowed size, the compiler proves
}

func checkLimits(l, room tool.Limits) error {
	budgets := []struct {
		field, unit string
		want, most  int64
	}{
		{"timeout_ms", "ms", l.TimeoutMS, room.TimeoutMS},
		{"memory_mb", "MB", l.MemoryMB, room.MemoryMB},
		{"max_result_bytes", "bytes", l.MaxResultBytes, room.MaxResultBytes},
	}
	for _, b := range budgets {
		if b.want < 0 {
			return invalid("limits."+b.field, "%d is less than nothing", b.want)
		}
		if b.want > b.most {
			return invalid("limits."+b.field, "%d %s is more than the room's %d; a tool may only tighten", b.want, b.unit, b.most).
				WithHint("Leave it out for the room's own, or ask the operator to raise the room's.")
		}
	}
	return nil
}

func checkExamples(examples []tool.Example) error {
	if len(examples) > maxExamples {
		return invalid("examples", "there are %d, and %d is the most", len(examples), maxExamples)
	}
	for i, e := range examples {
		if e.Name != cut(e.Name, maxTitle) || control(e.Name, "") >= 0 {
			return invalid("examples", "the name of number %d is longer than %d bytes or has control characters", i+1, maxTitle)
		}
		if len(e.Result) > 0 && e.Error != "" {
			return invalid("examples", "%s expects both a result and an error", exampleName(e, i))
		}
		if len(e.Args) > 0 && !json.Valid(e.Args) || len(e.Result) > 0 && !json.Valid(e.Result) {
			return invalid("examples", "%s has args or a result that is not JSON", exampleName(e, i))
		}
		if e.Error != "" && !slices.Contains(tool.Codes(), e.Error) {
			return invalid("examples", "%s expects the error %q, which does not exist", exampleName(e, i), cut(string(e.Error), 40))
		}
	}
	return nil
}

func checkAnnotations(a *tool.Annotations) error {
	if a == nil {
		return nil
	}
	if len(a.Title) > maxTitle || !utf8.ValidString(a.Title) || control(a.Title, "") >= 0 {
		return invalid("annotations.title", "it is longer than %d bytes or has control characters", maxTitle)
	}
	return nil
}

func checkReason(s string) error {
	if utf8.RuneCountInString(s) > maxReason || !utf8.ValidString(s) {
		return invalid("reason", "it is longer than %d characters or not UTF-8", maxReason)
	}
	return nil
}

// patched is d with what p says.
func patched(d tool.Definition, p tool.Patch) tool.Definition {
	set(&d.Description, p.Description)
	set(&d.Parameters, p.Parameters)
	set(&d.OutputSchema, p.OutputSchema)
	set(&d.Body, p.Body)
	set(&d.Language, p.Language)
	set(&d.Runtime, p.Runtime)
	set(&d.Location, p.Location)
	set(&d.Examples, p.Examples)
	set(&d.Limits, p.Limits)
	if p.Annotations != nil {
		d.Annotations = p.Annotations
	}
	if p.Scope != nil && *p.Scope != d.Scope {
		d.Scope, d.Grant.Files = *p.Scope, "" // unsaid, files follow from the new scope
	}
	if p.Grant != nil {
		d.Grant = patchGrant(d.Grant, *p.Grant)
	}
	return d
}

func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

// fields is a definition as its JSON fields.
func fields(d tool.Definition) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	if b, err := json.Marshal(d); err == nil {
		_ = json.Unmarshal(b, &m) // it was marshalled a moment ago
	}
	return m
}

// changedFields is the names of the fields in which two definitions differ, in the
// order of the contract.
func changedFields(a, b tool.Definition) []string {
	order := []string{"name", "description", "parameters", "output_schema", "body", "language", "runtime", "scope", "location",
		"grant", "examples", "annotations", "limits"}
	was, is := fields(a), fields(b)
	var out []string
	for _, f := range order {
		if string(was[f]) != string(is[f]) {
			out = append(out, f)
		}
	}
	return out
}
