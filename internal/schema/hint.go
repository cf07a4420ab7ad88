package schema

import (
	"fmt"
	"slices"
	"strings"
)

// subject is what a value that does not fit is, and so who can mend it: the
// caller sends arguments, the author of a body returns a result.
type subject int

const (
	arguments  subject = iota
	result             // what the body returned
	definition         // a schema
)

const resultName = "result"

// path is where tokens lead to, as whoever reads the problem calls it.
func (s subject) path(tokens []string) string {
	if s == result {
		return pathOf(slices.Concat([]string{resultName}, tokens))
	}
	return pathOf(tokens)
}

// within puts the place of s before a path that was made without it.
func (s subject) within(path string) string {
	switch {
	case s != result:
		return path
	case path == rootName:
		return resultName
	case strings.HasPrefix(path, "["):
		return resultName + path
	}
	return resultName + "." + path
}

// verb is what is done with a value of this kind.
func (s subject) verb() string {
	if s == result {
		return "Return"
	}
	return "Send"
}

func (x *explainer) path(tokens []string) string { return x.of.path(tokens) }

// hint recognises what models get wrong about a value of the wrong type.
func (x *explainer) hint(tokens, want []string, got any) string {
	path, root := x.path(tokens), len(tokens) == 0
	if x.of == definition && !root && tokens[len(tokens)-1] == "required" && kindOf(got) == "boolean" {
		return `required is a list of names beside "properties", not a mark on each property: "required": ["name"].`
	}
	switch got := got.(type) {
	case nil:
		return x.of.nullHint(path, root)
	case string:
		return x.of.textHint(path, root, want, got)
	case []any:
		if root && x.of != result {
			return `Arguments are one object of named values: {"name": value}.`
		}
	case map[string]any:
		if slices.Contains(want, "string") {
			return x.of.objectHint(path)
		}
	}
	return x.of.otherHint(path, want, got)
}

// nullHint is for null where a value was wanted.
func (s subject) nullHint(path string, root bool) string {
	switch {
	case s == result && root:
		return "Return a value: a body that ends without return gives null."
	case s == result:
		return fmt.Sprintf("null is not absence: return a value for %s, or leave it out if it is optional.", path)
	case s == arguments && !root:
		return fmt.Sprintf("null is not absence: leave %s out if it is optional, else send a value.", path)
	case !root:
		return fmt.Sprintf("Leave %s out, or give it a value.", path)
	}
	return ""
}

// objectHint is for an object where text was wanted.
func (s subject) objectHint(path string) string {
	if s == result {
		return fmt.Sprintf("Return %s as text; JSON.stringify it if output_schema wants JSON in a string.", path)
	}
	return fmt.Sprintf("Send %s as text; JSON.stringify it if the tool wants JSON in a string.", path)
}

// otherHint is for a value that neither null nor text hints speak of.
func (s subject) otherHint(path string, want []string, got any) string {
	switch {
	case slices.Contains(want, "array") && kindOf(got) != "array":
		return s.listHint(path, literal(got))
	case slices.Contains(want, "string") && kindOf(got) != "object":
		return fmt.Sprintf("%s %s as text: \"%s\".", s.verb(), path, strings.Trim(literal(got), `"`))
	}
	return ""
}

func (s subject) listHint(path, element string) string {
	return fmt.Sprintf("%s %s as a list, also when it has one element: [%s].", s.verb(), path, element)
}

// textHint is for a string where something else was wanted.
func (s subject) textHint(path string, root bool, want []string, got string) string {
	inner, notJSON := parse([]byte(got), limits{depth: MaxDepth})
	encoded := notJSON == nil
	kind := kindOf(inner)
	switch {
	case s != result && root && encoded && kind == "object":
		return "The arguments are JSON text in a string: send the object itself."
	case s != result && root:
		return `Arguments are one object of named values: {"name": value}.`
	case encoded && slices.Contains(want, kind) && (kind == "object" || kind == "array"):
		return s.encodedHint(path, kind)
	case encoded && (isNumber(inner) && (slices.Contains(want, "integer") || slices.Contains(want, "number")) || slices.Contains(want, kind)):
		return fmt.Sprintf("%s %s without quotes: %s.", s.verb(), path, clip(got, 40))
	case slices.Contains(want, "array"):
		return s.listHint(path, quote(got))
	}
	return ""
}

// encodedHint is for JSON text where the value in it was wanted.
func (s subject) encodedHint(path, kind string) string {
	if s == result {
		return fmt.Sprintf("%s is JSON text in a string: return the %s itself, without JSON.stringify.", path, kind)
	}
	return fmt.Sprintf("%s is JSON text in a string (encoded twice): send the %s itself.", path, kind)
}

func isNumber(v any) bool { return kindOf(v) == "number" }
