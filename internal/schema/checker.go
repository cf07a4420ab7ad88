package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// base is the address of every schema: what relative references resolve
// against. Nothing is ever fetched from it.
const base = "toolroom:///schema"

// checker is one compiled form of a schema. The validator has no way to stop,
// so every compiled subschema carries an extension that counts work against the
// checker's budget and panics when it is spent; hence one validation at a time.
type checker struct {
	root       *jsonschema.Schema
	budget     *budget
	byLocation map[string]*jsonschema.Schema
}

// noLoader refuses every reference that leads out of the schema.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("only references inside the schema are allowed")
}

func newChecker(doc any) (*checker, error) {
	c := &checker{budget: &budget{}, byLocation: map[string]*jsonschema.Schema{}}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine(c.budget.compile)
	if err := compiler.AddResource(base, doc); err != nil {
		return nil, explainCompile(doc, err)
	}
	c.budget.begin(0)
	root, err := compiler.Compile(base)
	if err != nil {
		return nil, explainCompile(doc, err)
	}
	c.root = root
	if err := c.prepare(root); err != nil {
		return nil, err
	}
	return c, nil
}

// prepare walks every reachable subschema once: it refuses references that lead
// back to themselves without a value in between, and adds the meter.
func (c *checker) prepare(root *jsonschema.Schema) error {
	todo := []*jsonschema.Schema{root}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if c.byLocation[s.Location] != nil {
			continue
		}
		c.byLocation[s.Location] = s
		same, down := children(s)
		s.Extensions = append(s.Extensions, &meter{budget: c.budget, weight: enumItems(append(down, s))})
		todo = append(append(todo, same...), down...)
	}
	state := map[*jsonschema.Schema]int{}
	for _, s := range c.byLocation {
		if at := cycle(s, state); at != nil {
			return refuseSchema(Problem{Path: schemaPath(at.Location), Message: "this reference leads back to itself without a value in between", Expected: "a schema that ends"}).
				WithHint("A recursive schema must recurse through properties or items; remove the $ref that only leads in a circle.")
		}
	}
	return nil
}

const (
	entered = 1
	done    = 2
)

// cycle finds a subschema that is applied to the same value again by way of
// itself.
func cycle(s *jsonschema.Schema, state map[*jsonschema.Schema]int) *jsonschema.Schema {
	switch state[s] {
	case entered:
		return s
	case done:
		return nil
	}
	state[s] = entered
	same, _ := children(s)
	for _, child := range same {
		if at := cycle(child, state); at != nil {
			return at
		}
	}
	state[s] = done
	return nil
}

// children are the subschemas that are applied to the same value, and those that
// are applied to what is inside it.
func children(s *jsonschema.Schema) (same, down []*jsonschema.Schema) {
	same = append(same, s.Ref, s.Not, s.If, s.Then, s.Else, s.RecursiveRef)
	same = append(append(append(same, s.AllOf...), s.AnyOf...), s.OneOf...)
	if s.DynamicRef != nil {
		same = append(same, s.DynamicRef.Ref)
	}
	for _, d := range s.DependentSchemas {
		same = append(same, d)
	}
	for _, d := range s.Dependencies {
		if d, ok := d.(*jsonschema.Schema); ok {
			same = append(same, d)
		}
	}
	down = append(down, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	down = append(down, s.PrefixItems...)
	for _, p := range s.Properties {
		down = append(down, p)
	}
	for _, p := range s.PatternProperties {
		down = append(down, p)
	}
	for _, either := range []any{s.AdditionalProperties, s.AdditionalItems, s.Items} {
		switch either := either.(type) {
		case *jsonschema.Schema:
			down = append(down, either)
		case []*jsonschema.Schema:
			down = append(down, either...)
		}
	}
	return present(same), present(down)
}

func present(list []*jsonschema.Schema) []*jsonschema.Schema {
	out := list[:0]
	for _, s := range list {
		if s != nil {
			out = append(out, s)
		}
	}
	return out
}

func enumItems(list []*jsonschema.Schema) int {
	n := 0
	for _, s := range list {
		if s.Enum != nil {
			n += len(s.Enum.Values)
		}
	}
	return n
}

// schemaPath is where a compiled schema lies in what the author wrote.
func schemaPath(location string) string {
	_, pointer, _ := strings.Cut(location, "#")
	var tokens []string
	for t := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if t != "" {
			tokens = append(tokens, unescape(t))
		}
	}
	return pathOf(tokens)
}

// explainCompile says what is wrong with a schema in the author's terms.
func explainCompile(doc any, err error) error {
	var invalid *jsonschema.SchemaValidationError
	var load *jsonschema.LoadURLError
	var pattern *jsonschema.InvalidRegexError
	switch {
	case errors.As(err, &invalid):
		var verr *jsonschema.ValidationError
		if errors.As(invalid.Err, &verr) {
			x := explainer{root: doc, of: definition}
			return refuseSchema(x.problems(verr)...)
		}
	case errors.As(err, &load):
		return refuseSchema(Problem{Path: rootName, Message: fmt.Sprintf("the reference %s leads out of the schema; nothing is loaded", quote(strings.TrimPrefix(load.URL, base)))}).
			WithHint(`Copy what it refers to under "$defs" and write "$ref": "#/$defs/NAME".`)
	case errors.As(err, &pattern):
		return refuseSchema(Problem{Path: schemaPath(pattern.URL), Message: fmt.Sprintf("%s is not a regular expression: %s", quote(pattern.Regex), clip(pattern.Err.Error(), 200)), Got: pattern.Regex}).
			WithHint("Patterns are JavaScript regular expressions without slashes and flags; in JSON a backslash is written twice.")
	}
	text := strings.ReplaceAll(clip(err.Error(), 400), base, "")
	return refuseSchema(Problem{Path: rootName, Message: text}).WithHint("References look like #/$defs/NAME, and NAME must be there.")
}

// refCycle says whether err has a reference that turned in a circle while
// validating: one that only dynamic scope could make.
func refCycle(err *jsonschema.ValidationError) bool {
	if _, ok := err.ErrorKind.(*kind.RefCycle); ok {
		return true
	}
	for _, c := range err.Causes {
		if refCycle(c) {
			return true
		}
	}
	return false
}
