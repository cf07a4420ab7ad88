package schema

import (
	"slices"
)

// rules are what a provider takes, as data. Facts as of 2026:
//
//   - Anthropic answers a whole request with 400 when one tool has oneOf, anyOf or
//     allOf at the root of its input_schema, or a property whose name does not
//     match ^[a-zA-Z0-9_.-]{1,64}$, and checks the schema against draft 2020-12.
//   - OpenAI refuses a function whose schema has no properties, an array without
//     items, or oneOf, anyOf, allOf, enum or not at the root.
//   - OpenAI's strict mode takes a subset: every object closed, every property
//     required, no composition but anyOf, ten levels, 5,000 properties, 1,000 enum
//     values, a short list of formats, no look-around in patterns.
//   - Gemini's function declarations take the fields of its Schema message: one type,
//     nullable, string enums, few formats, anyOf; no references, no
//     additionalProperties, no exclusive bounds.
type rules struct {
	rootDrop  []string // refused at the root only
	drop      []string // refused anywhere
	keep      []string // everything else is refused; nil for no such rule
	formats   []string // the formats that are taken; nil for any
	safeNames bool
	inline    bool // no references
	strict    bool
	rewrites  []func(a *adaptation, path []string, s *object)
}

func rulesOf(p Provider) rules {
	switch p {
	case Anthropic:
		return rules{
			rootDrop: []string{"anyOf", "oneOf", "allOf"}, drop: []string{"$schema"}, safeNames: true,
			rewrites: []func(*adaptation, []string, *object){nullableToType, tuples},
		}
	case OpenAI:
		return rules{
			rootDrop: []string{"anyOf", "oneOf", "allOf", "enum", "not"}, drop: []string{"$schema"},
			rewrites: []func(*adaptation, []string, *object){nullableToType, addItems},
		}
	case OpenAIStrict:
		return rules{
			rootDrop: []string{"anyOf", "oneOf", "allOf", "enum", "not"}, strict: true,
			keep: []string{"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs", "definitions",
				"description", "title", "pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"},
			formats:  []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
			rewrites: []func(*adaptation, []string, *object){nullableToType, oneOfToAnyOf, addItems, dropFormats, dropLookaround},
		}
	case Gemini:
		return rules{
			rootDrop: []string{"anyOf", "oneOf", "allOf", "enum", "not"}, inline: true,
			keep: []string{"type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties", "required",
				"minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering", "default", "minimum", "maximum"},
			formats:  []string{"date-time", "enum", "float", "double", "int32", "int64"},
			rewrites: []func(*adaptation, []string, *object){oneOfToAnyOf, constToEnum, typeToNullable, stringEnums, addItems, dropFormats, knownRequired},
		}
	}
	return rules{}
}

// nullableToType writes OpenAPI's nullable as JSON Schema does.
func nullableToType(_ *adaptation, _ []string, s *object) {
	if v, ok := s.get("nullable"); ok {
		if v == true {
			m := map[string]any{"type": s.values["type"], "enum": s.values["enum"]}
			allowNull(m)
			for _, k := range []string{"type", "enum"} {
				if _, has := s.get(k); has {
					s.set(k, m[k])
				}
			}
		}
		s.drop("nullable")
	}
}

// tuples writes draft 7's list of items as prefixItems.
func tuples(a *adaptation, path []string, s *object) {
	items, ok := s.values["items"].([]any)
	if !ok {
		return
	}
	a.warn(append(path[:len(path):len(path)], "items"), "a list of items is draft 7; it is sent as prefixItems")
	s.drop("items")
	s.set("prefixItems", items)
	if rest, ok := s.get("additionalItems"); ok {
		s.drop("additionalItems")
		s.set("items", rest)
	}
}

// addItems gives an array the items that OpenAI and Gemini insist on.
func addItems(a *adaptation, path []string, s *object) {
	v, has := s.get("items")
	if !hasType(s, "array") {
		return
	}
	if _, ok := v.(*object); ok {
		return
	}
	if has {
		a.warn(append(path[:len(path):len(path)], "items"), "items must be one schema; any items are allowed instead")
	} else {
		a.warn(path, "an array without items is refused; \"items\": {} is added")
	}
	items := newObject()
	if a.provider == Gemini {
		items.set("type", "string")
	}
	s.set("items", items)
}

func hasType(s *object, name string) bool {
	switch t := s.values["type"].(type) {
	case string:
		return t == name
	case []any:
		return slices.Contains(t, any(name))
	}
	return false
}

func oneOfToAnyOf(a *adaptation, path []string, s *object) {
	v, ok := s.get("oneOf")
	if !ok {
		return
	}
	if _, both := s.get("anyOf"); both {
		return
	}
	a.warn(append(path[:len(path):len(path)], "oneOf"), "oneOf is sent as anyOf")
	s.drop("oneOf")
	s.set("anyOf", v)
}

func constToEnum(a *adaptation, path []string, s *object) {
	v, ok := s.get("const")
	text, isText := v.(string)
	if !ok || !isText {
		return
	}
	a.warn(append(path[:len(path):len(path)], "const"), "const is sent as enum")
	s.drop("const")
	s.set("type", "string")
	s.set("enum", []any{text})
}

// typeToNullable writes a list of types as one type and nullable, or as anyOf.
func typeToNullable(a *adaptation, path []string, s *object) {
	types, ok := s.values["type"].([]any)
	if !ok {
		return
	}
	var rest []any
	for _, t := range types {
		if t != "null" {
			rest = append(rest, t)
		}
	}
	if len(rest) < len(types) {
		s.set("nullable", true)
	}
	a.warn(append(path[:len(path):len(path)], "type"), "a list of types is sent as one type, nullable or anyOf")
	if len(rest) == 1 {
		s.set("type", rest[0])
		return
	}
	s.drop("type")
	var each []any
	for _, t := range rest {
		o := newObject()
		o.set("type", t)
		each = append(each, o)
	}
	if _, has := s.get("anyOf"); !has && len(each) > 0 {
		s.set("anyOf", each)
	}
}

// stringEnums drops an enum of anything but strings.
func stringEnums(a *adaptation, path []string, s *object) {
	values, ok := s.values["enum"].([]any)
	if !ok {
		return
	}
	var texts []any
	for _, v := range values {
		if _, text := v.(string); text {
			texts = append(texts, v)
		}
	}
	if len(texts) == len(values) {
		return
	}
	if len(texts) > 0 && len(texts) == len(values)-1 && slices.Contains(comparable(values), any(nil)) {
		s.set("enum", texts)
		s.set("nullable", true)
		return
	}
	a.warn(append(path[:len(path):len(path)], "enum"), "an enum takes strings only; it is left out and checked when the tool is called")
	note := "One of " + literal(plain(values)) + "."
	if text, ok := s.values["description"].(string); ok {
		note = text + " " + note
	}
	s.set("description", note)
	s.drop("enum")
}

func dropFormats(a *adaptation, path []string, s *object) {
	format, ok := s.values["format"].(string)
	if !ok || slices.Contains(a.rules.formats, format) {
		return
	}
	a.warn(append(path[:len(path):len(path)], "format"), "the format %s is refused; it is left out", quote(format))
	s.drop("format")
}

func dropLookaround(a *adaptation, path []string, s *object) {
	pattern, ok := s.values["pattern"].(string)
	if !ok || !lookaround(pattern) {
		return
	}
	a.warn(append(path[:len(path):len(path)], "pattern"), "look-ahead and look-behind are refused; the pattern is left out and checked when the tool is called")
	s.drop("pattern")
}

// knownRequired drops required names that are not among the properties.
func knownRequired(a *adaptation, path []string, s *object) {
	names, ok := s.values["required"].([]any)
	if !ok {
		return
	}
	properties, _ := s.values["properties"].(*object)
	var known []any
	for _, n := range names {
		name, _ := n.(string)
		if properties != nil {
			if _, has := properties.get(name); has {
				known = append(known, n)
				continue
			}
		}
		a.warn(append(path[:len(path):len(path)], "required"), "%s is required but is no property", quote(name))
	}
	s.drop("required")
	if len(known) > 0 {
		s.set("required", known)
	}
}
