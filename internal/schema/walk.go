package schema

import "strconv"

// visit calls f for every subschema of root, parents first, with the path of
// tokens that leads to it. Values that are data (enum, const, default,
// examples) are not schemas and are not entered.
func visit(root any, f func(path []string, s *object)) { visitAt(nil, root, f) }

func visitAt(path []string, v any, f func([]string, *object)) {
	s, ok := v.(*object)
	if !ok {
		return
	}
	f(path, s)
	for _, k := range s.keys {
		child := s.values[k]
		at := append(path[:len(path):len(path)], k)
		switch shapeOf(k) {
		case one:
			visitAt(at, child, f)
			visitList(at, child, f)
		case list:
			visitList(at, child, f)
		case named:
			visitNamed(at, child, f)
		}
	}
}

func visitList(path []string, v any, f func([]string, *object)) {
	elements, _ := v.([]any)
	for i, e := range elements {
		visitAt(append(path[:len(path):len(path)], indexToken(i)), e, f)
	}
}

func visitNamed(path []string, v any, f func([]string, *object)) {
	m, ok := v.(*object)
	if !ok {
		return
	}
	for _, k := range m.keys {
		visitAt(append(path[:len(path):len(path)], k), m.values[k], f)
	}
}

// shape is how a keyword holds subschemas.
type shape int

const (
	none  shape = iota
	one         // a schema; for draft 7's items also a list
	list        // a list of schemas
	named       // schemas by name
)

func shapeOf(keyword string) shape {
	switch keyword {
	case "items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
		"contains", "propertyNames", "not", "if", "then", "else", "contentSchema":
		return one
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return list
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return named
	}
	return none
}

// knownKeyword says whether a root key is JSON Schema's, and not a property that
// lost its way.
func knownKeyword(k string) bool {
	switch k {
	case "$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$comment", "$vocabulary", "id",
		"type", "enum", "const", "title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly",
		"format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minProperties", "maxProperties", "required",
		"dependentRequired", "contentEncoding", "contentMediaType", "nullable", "strict":
		return true
	}
	return shapeOf(k) != none
}

func countSubschemas(root any) int {
	n := 0
	visit(root, func([]string, *object) { n++ })
	return n
}

func indexToken(i int) string { return "#" + strconv.Itoa(i) }
