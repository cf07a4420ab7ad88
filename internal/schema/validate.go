package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolroom/tool"
)

// maxSpread bounds the sum of the depths of all values: every error about a
// value copies the path to it.
const maxSpread = 20 << 20

// Validate checks the arguments of a call and returns them as the body gets
// them. Absent and null mean {}. Nothing is converted and no default is filled
// in. The error is a *tool.Error with code invalid_arguments and Details of
// type []Problem.
func (s *Schema) Validate(args json.RawMessage) (json.RawMessage, error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	problems, err := s.check(args, arguments, limits{depth: MaxDepth, exact: true, spread: maxSpread})
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, refuse(tool.InvalidArguments, problems)
	}
	return args, nil
}

// ValidateOutput checks what a tool returned. The error is a *tool.Error with
// code output_mismatch and Details of type []Problem, whose paths begin with "result". It
// speaks to the author of the body, for no caller can mend it.
func (s *Schema) ValidateOutput(value json.RawMessage) error {
	problems, err := s.check(bytes.TrimSpace(value), result, limits{depth: MaxDepth, spread: maxSpread})
	if err != nil || len(problems) == 0 {
		return err
	}
	e := refuse(tool.OutputMismatch, problems)
	if e.Hint == "" {
		e.WithHint("Return what output_schema says, or change output_schema.")
	}
	return e
}

// check lists how raw does not fit.
func (s *Schema) check(raw json.RawMessage, of subject, l limits) ([]Problem, error) {
	if len(raw) > MaxArguments {
		return []Problem{{Path: of.within(rootName), Message: fmt.Sprintf("%d bytes; at most %d are allowed", len(raw), MaxArguments)}}, nil
	}
	tree, problem := parse(raw, l)
	if problem != nil {
		problem.Path = of.within(problem.Path)
		return []Problem{*problem}, nil
	}
	c, err := s.take()
	if err != nil {
		return nil, err
	}
	defer s.put(c)
	return c.check(plain(tree), of), nil
}

// take gives a checker that nobody else uses.
func (s *Schema) take() (*checker, error) {
	select {
	case c := <-s.free:
		return c, nil
	default:
		return newChecker(s.doc)
	}
}

func (s *Schema) put(c *checker) {
	select {
	case s.free <- c:
	default:
	}
}

// check validates v within the budget.
func (c *checker) check(v any, of subject) (problems []Problem) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case spent:
			problems = []Problem{r.problem(v, of)}
		default:
			panic(r)
		}
	}()
	c.budget.begin(0)
	c.budget.spend(countValues(v) * c.enums())
	err := c.root.Validate(v)
	if err == nil {
		return nil
	}
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return []Problem{{Path: of.within(rootName), Message: clip(err.Error(), 200)}}
	}
	if refCycle(verr) {
		return []Problem{{Path: of.within(rootName), Message: "a reference of the schema turns in a circle", hint: "The schema of the tool must be corrected."}}
	}
	x := explainer{root: v, of: of, known: c.byLocation}
	return x.problems(verr)
}

// enums is how many values the whole schema lists to compare with.
func (c *checker) enums() int {
	n := 0
	for _, s := range c.byLocation {
		if s.Enum != nil {
			n += len(s.Enum.Values)
		}
	}
	return n
}

func countValues(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += countValues(e)
		}
	case []any:
		for _, e := range v {
			n += countValues(e)
		}
	}
	return n
}

// problem says what took too long.
func (s spent) problem(v any, of subject) Problem {
	if s.pattern == "" {
		return Problem{Path: of.within(rootName), Message: "checking against the schema takes too much work",
			hint: of.verb() + " less, or simplify the schema of the tool: fewer alternatives inside one another."}
	}
	tokens, _ := findText(v, s.text, nil)
	return Problem{
		Path: of.path(tokens), Message: fmt.Sprintf("the pattern %s takes too long on %s", quote(s.pattern), quote(s.text)),
		Expected: "text that matches " + quote(s.pattern), Got: "string " + quote(s.text),
		hint: "The pattern of the tool backtracks without end on this text: it needs one without nested repetition such as (a+)+.",
	}
}

// findText is the path to a string, or to the object that has it as a name.
func findText(v any, text string, path []string) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return path, v == text
	case map[string]any:
		for k, e := range v {
			at := append(path[:len(path):len(path)], k)
			if k == text {
				return at, true
			}
			if found, ok := findText(e, text, at); ok {
				return found, true
			}
		}
	case []any:
		for i, e := range v {
			if found, ok := findText(e, text, append(path[:len(path):len(path)], indexToken(i))); ok {
				return found, true
			}
		}
	}
	return nil, false
}
