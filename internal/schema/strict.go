package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Limits of OpenAI's strict mode.
const (
	strictProperties = 5000
	strictLevels     = 10
	strictEnums      = 1000
)

func lookaround(pattern string) bool {
	for _, mark := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.Contains(pattern, mark) {
			return true
		}
	}
	return false
}

// close makes an object what strict mode wants: nothing else allowed, everything
// required; what was optional may be null, and Restore takes that null out again.
func (a *adaptation) close(path []string, s *object) {
	if !hasType(s, "object") && s.values["properties"] == nil {
		return
	}
	if extra, ok := s.get("additionalProperties"); ok && extra != false {
		a.warn(append(path[:len(path):len(path)], "additionalProperties"), "objects with names that are not listed cannot be sent in strict mode")
	}
	properties, ok := s.values["properties"].(*object)
	if !ok {
		properties = newObject()
		s.set("properties", properties)
		if len(path) > 0 {
			a.warn(path, "an object without properties can only be empty in strict mode")
		}
	}
	required, _ := s.values["required"].([]any)
	var all []any
	for _, k := range properties.keys {
		all = append(all, k)
		if child, ok := properties.values[k].(*object); ok && !slices.Contains(required, any(k)) {
			properties.set(k, orNull(child))
		}
	}
	s.set("required", append([]any{}, all...))
	s.set("additionalProperties", false)
}

// orNull is s, or null.
func orNull(s *object) *object {
	if acceptsNull(s) {
		return s
	}
	if _, ok := s.get("type"); ok {
		m := map[string]any{"type": s.values["type"], "enum": s.values["enum"]}
		allowNull(m)
		s.set("type", m["type"])
		if _, ok := s.get("enum"); ok {
			s.set("enum", m["enum"])
		}
		if _, ok := s.get("const"); !ok {
			return s
		}
	}
	null, out := newObject(), newObject()
	null.set("type", "null")
	out.set("anyOf", []any{s, null})
	return out
}

func acceptsNull(s *object) bool {
	if hasType(s, "null") || s.values["nullable"] == true || len(s.keys) == 0 {
		return true
	}
	alternatives, _ := s.values["anyOf"].([]any)
	for _, alternative := range alternatives {
		if o, ok := alternative.(*object); ok && acceptsNull(o) {
			return true
		}
	}
	return false
}

// measure warns of what exceeds the limits of strict mode.
func (a *adaptation) measure(root *object) {
	properties, enums, deepest := 0, 0, 0
	visit(root, func(path []string, s *object) {
		if m, ok := s.values["properties"].(*object); ok {
			properties += len(m.keys)
		}
		values, _ := s.values["enum"].([]any)
		enums += len(values)
		level := 0
		for _, t := range path {
			if t == "properties" || t == "items" {
				level++
			}
		}
		deepest = max(deepest, level)
	})
	if properties > strictProperties {
		a.warn(nil, "%d properties; strict mode takes %d", properties, strictProperties)
	}
	if enums > strictEnums {
		a.warn(nil, "%d enum values; strict mode takes %d", enums, strictEnums)
	}
	if deepest > strictLevels {
		a.warn(nil, "%d levels of nesting; strict mode takes %d", deepest, strictLevels)
	}
}

// Restore turns arguments that answer f.Schema into arguments of the tool: names
// that were replaced come back, and nulls that strict mode asked for go. Text
// that is not JSON is returned as it is, for Validate to refuse.
func (f Form) Restore(args json.RawMessage) json.RawMessage {
	if len(f.names) == 0 && !f.strip {
		return args
	}
	tree, problem := parse(bytes.TrimSpace(args), limits{depth: MaxDepth})
	if problem != nil {
		return args
	}
	defs, _ := f.root.(*object)
	r := &restorer{form: f, defs: defs, steps: maxRestore}
	return encode(nil, r.value(f.root, tree, 0))
}

// maxRestore bounds the walk: references can make it exponential. What is left
// as it was sent is for Validate to judge.
const maxRestore = 1 << 18

// restorer walks a value along the schema it answers.
type restorer struct {
	form  Form
	defs  *object
	steps int
}

func (r *restorer) value(schema, v any, depth int) any {
	s, ok := schema.(*object)
	r.steps--
	if !ok || depth > MaxDepth || r.steps < 0 {
		return v
	}
	if target, ok := resolve(r.defs, s.values["$ref"]); ok {
		v = r.value(target, v, depth+1)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		alternatives, _ := s.values[k].([]any)
		for _, alternative := range alternatives {
			v = r.value(alternative, v, depth+1)
		}
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = r.value(s.values["items"], v[i], depth+1)
		}
	case *object:
		if properties, ok := s.values["properties"].(*object); ok {
			return r.object(s, properties, v, depth)
		}
	}
	return v
}

func (r *restorer) object(s, properties, v *object, depth int) *object {
	required, _ := s.values["required"].([]any)
	out := newObject()
	for _, k := range v.keys {
		name := k
		if original, ok := r.form.names[k]; ok && has(properties, original) {
			name = original
		}
		child, _ := properties.values[name].(*object)
		if r.form.strip && v.values[k] == nil && child != nil && !isRequired(required, name) && !acceptsNull(child) {
			continue
		}
		out.set(name, r.value(properties.values[name], v.values[k], depth+1))
	}
	return out
}

func has(o *object, key string) bool {
	_, ok := o.get(key)
	return ok
}
