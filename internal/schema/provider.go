package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolroom/tool"
)

// Provider is whose API a schema is sent to.
type Provider string

// The providers whose rules are known.
const (
	Anthropic    Provider = "anthropic"
	OpenAI       Provider = "openai"
	OpenAIStrict Provider = "openai-strict"
	Gemini       Provider = "gemini"
)

// Providers lists every provider.
func Providers() []Provider { return []Provider{Anthropic, OpenAI, OpenAIStrict, Gemini} }

// Form is a schema as one provider takes it. What had to go is still enforced
// when the tool is called.
type Form struct {
	Schema   json.RawMessage // always type object with properties of its own
	Warnings []tool.Warning  // what the provider would have refused or ignored

	names map[string]string // as sent → as the tool has it
	root  any
	strip bool // optional properties were made nullable
}

// For is the schema in the form that p takes. An unknown provider gets the
// schema as it is.
func (s *Schema) For(p Provider) Form {
	tree, _ := parse(s.raw, limits{depth: MaxDepth})
	root, ok := tree.(*object)
	if !ok {
		return Form{Schema: s.raw, root: s.root}
	}
	a := &adaptation{provider: p, rules: rulesOf(p), defs: root, names: map[string]string{}, used: propertyNames(root)}
	root = a.root(root)
	return Form{Schema: encode(nil, root), Warnings: a.warnings, names: a.names, root: s.root, strip: a.rules.strict}
}

// ProviderWarnings is what any provider would refuse or ignore.
func (s *Schema) ProviderWarnings() []tool.Warning {
	var out []tool.Warning
	for _, p := range Providers() {
		out = append(out, s.For(p).Warnings...)
	}
	return out
}

// adaptation is one schema on its way to one provider.
type adaptation struct {
	provider Provider
	rules    rules
	defs     *object
	names    map[string]string
	used     map[string]bool // names that properties have
	warnings []tool.Warning
	expanded int
}

// maxWarnings bounds what one schema can make a provider's list say.
const maxWarnings = 50

func (a *adaptation) warn(path []string, format string, args ...any) {
	if len(a.warnings) < maxWarnings {
		a.warnings = append(a.warnings, tool.Warning{About: string(a.provider), Path: pathOf(path), Message: fmt.Sprintf(format, args...)})
	}
}

func (a *adaptation) root(root *object) *object {
	for _, k := range a.rules.rootDrop {
		if _, ok := root.get(k); ok {
			a.warn([]string{k}, "%s is refused at the top level; it is left out and checked when the tool is called", k)
			root.drop(k)
		}
	}
	if ref, ok := root.get("$ref"); ok {
		root = a.rootRef(root, ref)
	}
	out := a.schema(nil, root, 0)
	out.set("type", "object")
	if _, ok := out.values["properties"].(*object); !ok {
		out.set("properties", newObject())
	}
	if a.rules.strict {
		a.measure(out)
	}
	return out
}

// rootRef puts the properties of what the root refers to in the root.
func (a *adaptation) rootRef(root *object, ref any) *object {
	target, ok := resolve(a.defs, ref)
	if !ok {
		return root
	}
	out := newObject()
	for _, k := range root.keys {
		if k != "$ref" {
			out.set(k, root.values[k])
		}
	}
	for _, k := range target.keys {
		if v, ok := out.values[k].(*object); !ok || len(v.keys) == 0 {
			out.set(k, target.values[k])
		}
	}
	a.warn([]string{"$ref"}, "a reference at the top level is replaced by what it refers to")
	return out
}

// schema adapts one subschema and what is inside it.
func (a *adaptation) schema(path []string, in *object, depth int) *object {
	if depth > 64 {
		return newObject()
	}
	in = a.reference(path, in)
	s := newObject()
	for _, k := range in.keys {
		s.set(k, in.values[k])
	}
	for _, rewrite := range a.rules.rewrites {
		rewrite(a, path, s)
	}
	a.dropUnknown(path, s)
	for _, k := range slices.Clone(s.keys) {
		a.inside(append(path[:len(path):len(path)], k), s, k, depth)
	}
	if a.rules.strict {
		a.close(path, s)
	}
	return s
}

func (a *adaptation) inside(path []string, s *object, k string, depth int) {
	v := s.values[k]
	switch shapeOf(k) {
	case one, list:
		if child, ok := v.(*object); ok && shapeOf(k) == one {
			s.set(k, a.schema(path, child, depth+1))
		}
		if elements, ok := v.([]any); ok {
			s.set(k, a.each(path, elements, depth))
		}
	case named:
		m, ok := v.(*object)
		if !ok {
			return
		}
		out := newObject()
		for _, name := range m.keys {
			child := m.values[name]
			if c, ok := child.(*object); ok {
				child = a.schema(append(path[:len(path):len(path)], name), c, depth+1)
			}
			if k == "properties" {
				name = a.name(append(path[:len(path):len(path)], name), name)
			}
			out.set(name, child)
		}
		s.set(k, out)
		if k == "properties" {
			a.renameRequired(s)
		}
	}
}

// each adapts a list into a new one: where references are replaced, one list is
// reached more than once.
func (a *adaptation) each(path []string, elements []any, depth int) []any {
	out := slices.Clone(elements)
	for i, e := range elements {
		if child, ok := e.(*object); ok {
			out[i] = a.schema(append(path[:len(path):len(path)], indexToken(i)), child, depth+1)
		}
	}
	return out
}

// reference replaces a $ref where the provider takes none. Recursion ends in a
// schema that accepts anything.
func (a *adaptation) reference(path []string, in *object) *object {
	ref, ok := in.get("$ref")
	if !ok || !a.rules.inline {
		return in
	}
	for range 16 {
		target, ok := resolve(a.defs, ref)
		a.expanded++
		if !ok || a.expanded > 200 || recursions(path) > 3 {
			a.warn(path, "the recursion of %s is cut off here", literal(ref))
			return newObject()
		}
		out := newObject()
		for _, k := range target.keys {
			out.set(k, target.values[k])
		}
		for _, k := range in.keys {
			if k != "$ref" {
				out.set(k, in.values[k])
			}
		}
		if ref, ok = out.get("$ref"); !ok {
			return out
		}
	}
	return newObject()
}

// recursions is a rough depth: how many properties and items lie above.
func recursions(path []string) int { return len(path) / 4 }

func (a *adaptation) dropUnknown(path []string, s *object) {
	var lost []string
	for _, k := range slices.Clone(s.keys) {
		if !slices.Contains(a.rules.drop, k) && (a.rules.keep == nil || slices.Contains(a.rules.keep, k)) {
			continue
		}
		if matters(k) {
			lost = append(lost, k+": "+literal(plain(s.values[k])))
			a.warn(append(path[:len(path):len(path)], k), "%s is not supported; it is left out and checked when the tool is called", k)
		}
		s.drop(k)
	}
	if len(lost) > 0 && len(path) > 0 {
		note := "(" + strings.Join(lost, ", ") + ")"
		if text, ok := s.values["description"].(string); ok && text != "" {
			note = text + " " + note
		}
		s.set("description", note)
	}
}

// matters says whether leaving a keyword out changes what is accepted.
func matters(k string) bool {
	switch k {
	case "$schema", "$id", "$comment", "$defs", "definitions", "title", "examples", "example", "default", "deprecated", "readOnly", "writeOnly",
		"contentEncoding", "contentMediaType", "contentSchema", "nullable", "$anchor":
		return false
	}
	return knownKeyword(k)
}

// name is a property's name as it is sent.
func (a *adaptation) name(path []string, name string) string {
	if !a.rules.safeNames || safeName(name) {
		return name
	}
	safe := strings.Map(func(r rune) rune {
		if safeName(string(r)) {
			return r
		}
		return '_'
	}, name)
	safe = strings.Trim(safe[:min(len(safe), 60)], "_")
	if safe == "" {
		safe = "property"
	}
	sent := safe
	for n := 2; ; n++ {
		was, taken := a.names[sent]
		if !a.used[sent] && (!taken || was == name) {
			break
		}
		sent = fmt.Sprintf("%s_%d", safe, n)
	}
	a.names[sent] = name
	a.warn(path, "the name %s is refused (letters, digits, _ . - and at most 64 of them); it is sent as %s", quote(name), sent)
	return sent
}

func safeName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
}

// propertyNames are all names of properties anywhere in the schema.
func propertyNames(root *object) map[string]bool {
	names := map[string]bool{}
	visit(root, func(_ []string, s *object) {
		if m, ok := s.values["properties"].(*object); ok {
			for _, k := range m.keys {
				names[k] = true
			}
		}
	})
	return names
}

func (a *adaptation) renameRequired(s *object) {
	names, ok := s.values["required"].([]any)
	if !ok || len(a.names) == 0 {
		return
	}
	out := slices.Clone(names)
	for i, n := range names {
		for sent, name := range a.names {
			if n == name {
				out[i] = sent
			}
		}
	}
	s.set("required", out)
}

// resolve follows a reference inside root.
func resolve(root *object, ref any) (*object, bool) {
	text, ok := ref.(string)
	pointer, local := strings.CutPrefix(text, "#")
	if !ok || !local {
		return nil, false
	}
	var v any = root
	for t := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if t == "" {
			continue
		}
		o, ok := v.(*object)
		if !ok {
			return nil, false
		}
		v = o.values[unescape(t)]
	}
	o, ok := v.(*object)
	return o, ok
}

// unescape is a token of a JSON pointer as the name it stands for.
func unescape(token string) string {
	if !strings.Contains(token, "~") {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
