package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// TypeScript is the schema as TypeScript declarations: `type Args = …;` and one
// type for each definition that is referred to. It says what TypeScript can say
// and is for editors and models, not for checking.
func (s *Schema) TypeScript() string { return s.declare("Args") }

// TypeScriptNamed is TypeScript with another name for the root.
func (s *Schema) TypeScriptNamed(name string) string { return s.declare(name) }

// maxTypes bounds the text: a schema of 64 KiB gives at most a few times as much.
const maxTypes = 256 << 10

// typeWriter collects the declarations of one schema.
type typeWriter struct {
	defs  *object
	names map[string]string // by reference
	taken map[string]bool
	queue []string
	size  int
}

func (s *Schema) declare(root string) string {
	defs, _ := s.root.(*object)
	w := &typeWriter{defs: defs, names: map[string]string{"#": root}, taken: map[string]bool{root: true}}
	var b strings.Builder
	fmt.Fprintf(&b, "type %s = %s;\n", root, w.typeOf(s.root, 0))
	for i := 0; i < len(w.queue); i++ {
		ref := w.queue[i]
		target, ok := resolve(defs, ref)
		text := "unknown"
		if ok {
			text = w.typeOf(target, 0)
		}
		fmt.Fprintf(&b, "type %s = %s;\n", w.names[ref], text)
	}
	return b.String()
}

// typeOf is the type of one subschema; indent counts levels.
func (w *typeWriter) typeOf(v any, indent int) string {
	s, ok := v.(*object)
	if !ok {
		if v == false {
			return "never"
		}
		return "unknown"
	}
	if w.size > maxTypes || indent > 40 {
		return "unknown"
	}
	text := w.bare(s, indent)
	if s.values["nullable"] == true && !strings.Contains(text, "null") {
		text += " | null"
	}
	w.size += len(text)
	return text
}

func (w *typeWriter) bare(s *object, indent int) string {
	if ref, ok := s.values["$ref"].(string); ok {
		return w.reference(ref)
	}
	if c, ok := s.get("const"); ok {
		return literalType(c)
	}
	if values, ok := s.values["enum"].([]any); ok && len(values) > 0 {
		return w.union(values, func(v any) string { return literalType(v) })
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if list, ok := s.values[k].([]any); ok && len(list) > 0 && s.values["properties"] == nil {
			return w.union(list, func(v any) string { return w.typeOf(v, indent) })
		}
	}
	if list, ok := s.values["allOf"].([]any); ok && len(list) > 0 && s.values["properties"] == nil {
		var parts []string
		for _, e := range list {
			parts = append(parts, "("+w.typeOf(e, indent)+")")
		}
		return strings.Join(parts, " & ")
	}
	switch t := s.values["type"].(type) {
	case string:
		return w.named(t, s, indent)
	case []any:
		return w.union(t, func(v any) string { name, _ := v.(string); return w.named(name, s, indent) })
	}
	if s.values["properties"] != nil {
		return w.object(s, indent)
	}
	return "unknown"
}

func (w *typeWriter) union(list []any, each func(any) string) string {
	var parts []string
	for i, v := range list {
		if i == 50 {
			parts = append(parts, "unknown")
			break
		}
		parts = append(parts, each(v))
	}
	return strings.Join(unique(parts), " | ")
}

func (w *typeWriter) named(name string, s *object, indent int) string {
	switch name {
	case "string", "number", "boolean", "null":
		return name
	case "integer":
		return "number"
	case "array":
		return w.array(s, indent)
	case "object":
		return w.object(s, indent)
	}
	return "unknown"
}

func (w *typeWriter) array(s *object, indent int) string {
	tuple, ok := s.values["prefixItems"].([]any)
	if !ok {
		tuple, ok = s.values["items"].([]any)
	}
	if ok {
		var parts []string
		for _, e := range tuple {
			parts = append(parts, w.typeOf(e, indent))
		}
		return "[" + strings.Join(parts, ", ") + ", ...unknown[]]"
	}
	element := "unknown"
	if items, ok := s.get("items"); ok {
		element = w.typeOf(items, indent)
	}
	if strings.ContainsAny(element, "|&") {
		element = "(" + element + ")"
	}
	return element + "[]"
}

func (w *typeWriter) object(s *object, indent int) string {
	properties, _ := s.values["properties"].(*object)
	required, _ := s.values["required"].([]any)
	pad := strings.Repeat("  ", indent+1)
	var b strings.Builder
	if properties != nil {
		for _, k := range properties.keys {
			b.WriteString(w.property(pad, k, properties.values[k], isRequired(required, k), indent))
		}
	}
	extra, ok := s.get("additionalProperties")
	switch {
	case b.Len() == 0 && ok && extra != false:
		return "Record<string, " + w.typeOf(extra, indent) + ">"
	case b.Len() == 0:
		return "{}"
	case ok && extra != false:
		fmt.Fprintf(&b, "%s[key: string]: unknown;\n", pad)
	}
	return "{\n" + b.String() + strings.Repeat("  ", indent) + "}"
}

func isRequired(required []any, name string) bool {
	for _, r := range required {
		if r == name {
			return true
		}
	}
	return false
}

func (w *typeWriter) property(pad, name string, v any, required bool, indent int) string {
	mark := "?"
	if required {
		mark = ""
	}
	comment := ""
	if s, ok := v.(*object); ok {
		if text, ok := s.values["description"].(string); ok && text != "" {
			text = strings.Join(strings.Fields(strings.ReplaceAll(text, "*/", "* /")), " ")
			comment = pad + "/** " + clip(text, 300) + " */\n"
		}
	}
	return fmt.Sprintf("%s%s%s%s: %s;\n", comment, pad, propertyName(name), mark, w.typeOf(v, indent+1))
}

func propertyName(name string) string {
	if regexp.MustCompile(`^[A-Za-z_$][\w$]*$`).MatchString(name) {
		return name
	}
	return literalType(name)
}

// literalType is a JSON value as a type.
func literalType(v any) string {
	b, err := json.Marshal(v)
	switch v.(type) {
	case nil, bool, string, json.Number:
		if err == nil {
			return string(b)
		}
	}
	return "unknown"
}

// reference is the name of the type that ref leads to, to be declared later.
func (w *typeWriter) reference(ref string) string {
	if name, ok := w.names[strings.TrimSuffix(ref, "/")]; ok {
		return name
	}
	words := regexp.MustCompile(`[A-Za-z0-9]+`).FindAllString(ref[strings.LastIndexByte(ref, '/')+1:], -1)
	name := ""
	for _, word := range words {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	if name == "" || name[0] <= '9' {
		name = "T" + name
	}
	base := name
	for n := 2; w.taken[name]; n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	w.taken[name] = true
	w.names[ref] = name
	w.queue = append(w.queue, ref)
	return name
}
