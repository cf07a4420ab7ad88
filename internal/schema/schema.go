// Package schema compiles, checks and explains the JSON Schemas of tools.
//
// A schema is JSON Schema 2020-12, or draft 7 when its "$schema" says so. Both
// the schema and what is checked against it come from models and strangers, so
// everything is bounded: size, depth, count of subschemas, the work of one
// validation, the time of its patterns. Nothing is ever loaded: references
// lead inside the schema, or to the published meta-schemas that are built in.
//
// What a schema means here, where the standard leaves room:
//
//   - "format" is an annotation: it is shown to models and never refused. A
//     tool that depends on a date being a date checks it, or says "pattern".
//   - "default" is an annotation: a value that was not sent stays absent.
//   - null is not absence: null for an optional property is refused unless its
//     type has "null". OpenAPI's "nullable": true counts as that, with a warning.
//   - "pattern" has the meaning of ECMA-262 with the u flag.
//   - 120000.0 and 1e3 are integers. A literal beyond 2^53 in arguments is
//     refused, since the body's numbers could not hold it.
//   - "contentEncoding" and its kin are annotations, as the standard advises.
//
// A Schema is immutable and may be used concurrently.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"toolroom/tool"
)

const (
	// MaxSchema is the largest schema, in bytes.
	MaxSchema = 64 << 10
	// MaxArguments is the largest value that Validate takes, in bytes.
	MaxArguments = 16 << 20
	// MaxDepth is how deep a value or a schema may nest.
	MaxDepth = 512

	maxSchemaDepth = 128
	maxSubschemas  = 3000
)

// Schema is a compiled schema. It holds a few compiled forms of itself, one for
// each validation that runs at the same time, and nothing that must be closed.
type Schema struct {
	raw      json.RawMessage
	root     any // the ordered tree of raw
	doc      any // the plain tree, nullable resolved
	warnings []tool.Warning
	free     chan *checker
}

// Compile compiles the parameters of a tool. Absent, null or {} means a tool
// without arguments; a missing type or missing properties at the root are
// completed. The error is a *tool.Error with code invalid_schema and Details of
// type []Problem, paths leading into the schema.
func Compile(raw json.RawMessage) (*Schema, error) {
	raw, root, err := read(raw)
	if err != nil {
		return nil, err
	}
	obj, ok := root.(*object)
	if !ok {
		return nil, refuseSchema(Problem{Path: rootName, Message: "want a JSON Schema object, got " + describe(root), Expected: "object", Got: describe(root)}).
			WithHint("%s", rootHint(root))
	}
	if err := checkRoot(obj); err != nil {
		return nil, err
	}
	raw = complete(raw, obj)
	return compile(raw)
}

// CompileOutput compiles an output_schema, whose root may describe any value.
func CompileOutput(raw json.RawMessage) (*Schema, error) {
	raw, _, err := read(raw)
	if err != nil {
		return nil, err
	}
	return compile(raw)
}

// Parameters is the schema as it is stored and shown: what the author wrote,
// completed. It must not be changed.
func (s *Schema) Parameters() json.RawMessage { return s.raw }

// Warnings is what the author should know about the accepted schema, whoever
// is going to read it. For one provider's view see For.
func (s *Schema) Warnings() []tool.Warning { return s.warnings }

func read(raw json.RawMessage) (json.RawMessage, any, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	if len(raw) > MaxSchema {
		return nil, nil, refuseSchema(Problem{Path: rootName, Message: fmt.Sprintf("the schema has %d bytes; at most %d are allowed", len(raw), MaxSchema)}).
			WithHint("Move long enumerations and descriptions out of the schema.")
	}
	root, problem := parse(raw, limits{depth: maxSchemaDepth})
	if problem != nil {
		return nil, nil, refuseSchema(*problem)
	}
	return raw, root, nil
}

func compile(raw json.RawMessage) (*Schema, error) {
	root, problem := parse(raw, limits{depth: maxSchemaDepth})
	if problem != nil {
		return nil, refuseSchema(*problem)
	}
	s := &Schema{raw: raw, root: root, free: make(chan *checker, 4)}
	if n := countSubschemas(root); n > maxSubschemas {
		return nil, refuseSchema(Problem{Path: rootName, Message: fmt.Sprintf("the schema has %d subschemas; at most %d are allowed", n, maxSubschemas)})
	}
	if err := checkDialect(root); err != nil {
		return nil, err
	}
	s.doc = plain(root)
	resolveNullable(s.doc)
	s.warnings = ownWarnings(root)
	c, err := newChecker(s.doc)
	if err != nil {
		return nil, err
	}
	s.free <- c
	return s, nil
}

// checkRoot refuses what cannot describe an object of arguments.
func checkRoot(root *object) error {
	if key := wrapper(root); key != "" {
		return refuseSchema(Problem{Path: key, Message: "this is a whole tool, or a schema inside something else, and not the schema", Got: key}).
			WithHint(`Send what is under %q alone: {"type": "object", "properties": {...}}.`, key)
	}
	if t, ok := root.get("type"); ok && t != "object" {
		return refuseSchema(Problem{Path: "type", Message: `the root must have "type": "object", got ` + describe(t), Expected: `"object"`, Got: describe(t)}).
			WithHint(`Arguments are always one object: {"type": "object", "properties": {...}}. Put the value itself under a property.`)
	}
	if looksLikeProperties(root) {
		return refuseSchema(Problem{Path: root.keys[0], Message: "this is a property, not a keyword of JSON Schema", Got: root.keys[0]}).
			WithHint(`Put the properties under "properties": {"type": "object", "properties": {%q: ...}}.`, root.keys[0])
	}
	return nil
}

// wrapper is the name under which root holds what should have been sent itself: a
// provider's form of a tool, which as a schema would accept anything.
func wrapper(root *object) string {
	if _, ok := root.get("properties"); ok {
		return ""
	}
	for _, k := range []string{"function", "parameters", "input_schema", "inputSchema", "json_schema", "schema", "args_schema"} {
		if v, ok := root.get(k); ok {
			if _, ok := v.(*object); ok && !isProperty(root, k) {
				return k
			}
		}
	}
	return ""
}

// isProperty says whether k looks like a property among properties, as in {"schema": {"type": "string"}}.
func isProperty(root *object, k string) bool {
	v, _ := root.get(k)
	t, ok := v.(*object).get("type")
	return ok && t != "object" && t != "function" && looksLikeProperties(root)
}

// looksLikeProperties recognises {"city": {"type": "string"}}: properties
// without the schema around them, which would accept anything.
func looksLikeProperties(root *object) bool {
	for _, k := range root.keys {
		v, _ := root.get(k)
		child, ok := v.(*object)
		if knownKeyword(k) || !ok {
			return false
		}
		if _, ok := child.get("type"); !ok {
			return false
		}
	}
	return len(root.keys) > 0
}

// complete puts a missing type and missing properties in front, and leaves the
// rest as it was written.
func complete(raw json.RawMessage, root *object) json.RawMessage {
	var add []byte
	if _, ok := root.get("type"); !ok {
		add = append(add, `"type":"object",`...)
	}
	if _, ok := root.get("properties"); !ok {
		add = append(add, `"properties":{},`...)
	}
	if len(add) == 0 {
		return raw
	}
	rest := raw[bytes.IndexByte(raw, '{')+1:]
	if len(root.keys) == 0 {
		add = add[:len(add)-1]
	}
	return append(append([]byte("{"), add...), rest...)
}

// checkDialect refuses every "$schema" but the two that are promised.
func checkDialect(root any) error {
	obj, ok := root.(*object)
	if !ok {
		return nil
	}
	v, ok := obj.get("$schema")
	if !ok {
		return nil
	}
	switch v {
	case "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2020-12/schema#",
		"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema",
		"https://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema":
		return nil
	}
	return refuseSchema(Problem{Path: "$schema", Message: "unknown dialect " + describe(v), Got: describe(v)}).
		WithHint("Leave $schema out for JSON Schema 2020-12, or write http://json-schema.org/draft-07/schema# for draft 7.")
}

func refuseSchema(problems ...Problem) *tool.Error {
	return refuse(tool.InvalidSchema, problems)
}

func rootHint(root any) string {
	if _, ok := root.(string); ok {
		return "Send the schema as a JSON object, not as text in a string."
	}
	return `Write {"type": "object", "properties": {...}}.`
}
