package builtin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	exp "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"toolroom/tool"
)

// decode reads the arguments of the built-in t into a struct, one field at a
// time and strictly: names must match to the letter, at every level. null is
// "left out", which is how many models say it. All problems come back in one error.
func decode(t Tool, args json.RawMessage, into any) error {
	given, err := members(args)
	if err != nil {
		err.Message = t.Name + ": " + err.Message
		return err
	}
	known, required := fields(t)
	var problems []problem
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if p, bad := setField(into, name, given[name], known); bad {
			problems = append(problems, p)
		}
	}
	for _, name := range required {
		if v, ok := given[name]; !ok || string(v) == "null" {
			problems = append(problems, problem{name, name + ": missing"})
		}
	}
	return refuse(t, problems, known)
}

// problem is one thing wrong with one argument.
type problem struct {
	field string
	text  string
}

func members(args json.RawMessage) (map[string]json.RawMessage, *tool.Error) {
	if args = bytes.TrimSpace(args); len(args) == 0 || string(args) == "null" {
		return nil, nil
	}
	var given map[string]json.RawMessage
	err := exp.Unmarshal(args, &given)
	if err == nil {
		return given, nil
	}
	if kind := kindOf(args); kind != "an object" {
		return nil, tool.Errorf(tool.InvalidArguments, "the arguments must be one JSON object, such as {\"name\": \"x\"}; got %s", kind).
			WithHint("Send the object itself: not in a list, and not as a string that holds it.")
	}
	var at *jsontext.SyntacticError
	if errors.As(err, &at) && errors.Is(err, jsontext.ErrDuplicateName) {
		return nil, tool.Errorf(tool.InvalidArguments, "%s: this name is there twice in its object", dotted(at.JSONPointer)).
			WithHint("Send each name once.")
	}
	return nil, tool.Errorf(tool.InvalidArguments, "the arguments are not valid JSON: %v", err)
}

// dotted is a JSON pointer as people write it.
func dotted(p jsontext.Pointer) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
}

// fields is what the schema of t knows and requires.
func fields(t Tool) (known map[string]json.RawMessage, required []string) {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(t.Parameters, &schema); err != nil {
		return nil, nil
	}
	return schema.Properties, schema.Required
}

func setField(into any, name string, value json.RawMessage, known map[string]json.RawMessage) (problem, bool) {
	if _, ok := known[name]; !ok {
		return problem{name, fmt.Sprintf("%s: there is no such argument%s", name, meant(name, known))}, true
	}
	if string(value) == "null" {
		return problem{}, false
	}
	one, err := json.Marshal(map[string]json.RawMessage{name: value})
	if err != nil {
		return problem{name, name + ": " + err.Error()}, true
	}
	if err := exp.Unmarshal(one, into, exp.RejectUnknownMembers(true)); err != nil {
		return problem{name, explain(name, value, err)}, true
	}
	return problem{}, false
}

// meant guesses what a name that is unknown stands for: another way to write a known one,
// or what others call it.
func meant(name string, known map[string]json.RawMessage) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	guess := ""
	switch plain(name) {
	case "code", "script", "implementation", "function":
		guess = "body"
	case "inputschema", "schema", "jsonschema":
		guess = "parameters"
	case "args", "params", "parameters", "inputarguments":
		guess = "arguments"
	case "tool", "toolname":
		guess = "name"
	case "permissions", "capabilities":
		guess = "grant"
	}
	for k := range known {
		if plain(k) == plain(name) {
			guess = k
		}
	}
	if _, ok := known[guess]; !ok {
		return ""
	}
	return "; " + guess + " is meant, it seems"
}

// explain says in words what is wrong with a value that did not decode.
func explain(name string, value json.RawMessage, err error) string {
	at := name
	var semantic *exp.SemanticError
	if errors.As(err, &semantic) {
		at = dotted(semantic.JSONPointer)
	}
	switch {
	case errors.Is(err, exp.ErrUnknownName):
		return at + ": there is no such field"
	case kindOf(value) == "a string" && json.Valid([]byte(unquote(value))) && strings.HasPrefix(unquote(value), "{"):
		return at + ": an object is wanted, not a string that holds one; send the JSON itself without quotes around it"
	case semantic != nil && semantic.Err != nil:
		return at + ": " + semantic.Err.Error()
	case semantic != nil && semantic.GoType != nil:
		return fmt.Sprintf("%s: %s is wanted", at, wanted(semantic.GoType.Kind().String()))
	}
	return at + ": " + err.Error()
}

func wanted(kind string) string {
	switch kind {
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	case "slice":
		return "a list"
	case "struct", "map", "ptr":
		return "an object"
	}
	return "a whole number"
}

func unquote(value json.RawMessage) string {
	var s string
	_ = json.Unmarshal(value, &s) // not a string: "" is the answer
	return strings.TrimSpace(s)
}

func kindOf(value json.RawMessage) string {
	switch value = bytes.TrimSpace(value); {
	case bytes.HasPrefix(value, []byte(`"`)):
		return "a string"
	case bytes.HasPrefix(value, []byte("[")):
		return "a list"
	case bytes.HasPrefix(value, []byte("{")):
		return "an object"
	}
	return "a bare value"
}

// refuse makes one error of all problems. A problem in a field of a definition
// keeps the code that the registry gives to that field.
func refuse(t Tool, problems []problem, known map[string]json.RawMessage) error {
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.text
	}
	names := slices.Sorted(maps.Keys(known))
	return tool.Errorf(codeFor(t, problems[0].field, known), "%s: %s", t.Name, strings.Join(texts, "; ")).
		WithHint("%s takes: %s.", t.Name, strings.Join(names, ", ")).WithDetails(map[string]any{"problems": texts})
}

func codeFor(t Tool, field string, known map[string]json.RawMessage) tool.Code {
	if _, ok := known[field]; !ok || (t.Name != CreateTool && t.Name != UpdateTool) {
		return tool.InvalidArguments
	}
	switch field {
	case "name":
		return tool.InvalidName
	case "description":
		return tool.InvalidDescription
	case "parameters", "output_schema":
		return tool.InvalidSchema
	case "enabled", "expected_version", "if_exists", "reason", "restore_version":
		return tool.InvalidArguments // about the change, not about the tool
	}
	return tool.InvalidDefinition
}
