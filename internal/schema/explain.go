package schema

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// explainer turns the validator's tree of errors into a list of problems.
type explainer struct {
	root  any                           // what was validated
	of    subject                       // and what that is
	known map[string]*jsonschema.Schema // by location, to say what was wanted
	count int
}

// problems lists what err says, ordered by path.
func (x *explainer) problems(err *jsonschema.ValidationError) []Problem {
	var out []Problem
	x.collect(err, &out)
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(out, func(a, b Problem) bool { return a.Path == b.Path && a.Message == b.Message })
}

// collect goes through what only groups, and says the rest.
func (x *explainer) collect(err *jsonschema.ValidationError, out *[]Problem) {
	if x.count > 10*maxDetails {
		return
	}
	switch k := err.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf, *kind.Contains, *kind.MinContains:
		if len(err.Causes) > 0 && !contains(k) {
			for _, c := range err.Causes {
				x.collect(c, out)
			}
			return
		}
	case *kind.AnyOf:
		*out = append(*out, x.union(err))
		return
	case *kind.OneOf:
		if k.Subschemas == nil {
			*out = append(*out, x.union(err))
			return
		}
	}
	x.count++
	*out = append(*out, x.leaf(err)...)
}

func contains(k any) bool {
	switch k.(type) {
	case *kind.Contains, *kind.MinContains:
		return true
	}
	return false
}

// union is one problem for alternatives none of which fits. Alternatives that
// only differ in type become one wish.
func (x *explainer) union(err *jsonschema.ValidationError) Problem {
	tokens, got := x.at(err.InstanceLocation)
	if name, ok := got.(string); ok && x.of == definition && len(tokens) > 0 && tokens[len(tokens)-1] == "type" {
		return x.noType(tokens, name)
	}
	var parts, types []string
	for _, c := range err.Causes {
		var inner []Problem
		x.collect(c, &inner)
		if len(inner) == 0 {
			continue
		}
		first := inner[0]
		if t, ok := c.ErrorKind.(*kind.Type); ok && first.Path == x.path(tokens) {
			types = append(types, t.Want...)
			continue
		}
		parts = append(parts, first.Path+": "+first.Message)
	}
	if len(parts) == 0 && len(types) > 0 {
		return x.wrongType(tokens, types, got)
	}
	if len(parts) == 1 && len(types) > 0 && !slices.Contains(types, kindOf(got)) {
		return Problem{Path: x.path(tokens), Message: "fits none of the alternatives: " + parts[0] + ", or " + orList(types), Got: describe(got)}
	}
	if len(parts) > 5 {
		parts = append(parts[:5], fmt.Sprintf("and %d more", len(parts)-5))
	}
	return Problem{Path: x.path(tokens), Message: "fits none of the alternatives: " + strings.Join(parts, "; or "), Expected: "one of the alternatives", Got: describe(got)}
}

// noType is for a schema's type that is none, as other languages call it.
func (x *explainer) noType(tokens []string, name string) Problem {
	const types = "array, boolean, integer, null, number, object or string"
	p := Problem{Path: x.path(tokens), Message: quote(name) + " is no type of JSON Schema: want " + types, Expected: types, Got: "string " + quote(name)}
	switch strings.ToLower(name) {
	case "str", "text", "date", "datetime", "url", "uuid", "enum":
		p.hint = `Write "type": "string".`
	case "int", "long":
		p.hint = `Write "type": "integer".`
	case "float", "double", "decimal":
		p.hint = `Write "type": "number".`
	case "bool":
		p.hint = `Write "type": "boolean".`
	case "dict", "map", "json", "struct":
		p.hint = `Write "type": "object".`
	case "list", "tuple", "set":
		p.hint = `Write "type": "array".`
	case "any", "mixed", "unknown":
		p.hint = "Leave type out: any value fits then."
	case "none", "nil", "undefined":
		p.hint = `Write "type": "null".`
	default:
		if lower := strings.ToLower(name); lower != name && strings.Contains(types, lower) {
			p.hint = fmt.Sprintf("Types are written small: %q.", lower)
		}
	}
	return p
}

// at resolves a location to path tokens and the value there.
func (x *explainer) at(location []string) ([]string, any) {
	v := x.root
	var tokens []string
	for _, t := range location {
		switch c := v.(type) {
		case []any:
			i, err := strconv.Atoi(t)
			tokens = append(tokens, "#"+t)
			if err != nil || i < 0 || i >= len(c) {
				return tokens, nil
			}
			v = c[i]
		case map[string]any:
			tokens = append(tokens, t)
			v = c[t]
		default:
			return tokens, nil
		}
	}
	return tokens, v
}

// leaf says one failed keyword.
func (x *explainer) leaf(err *jsonschema.ValidationError) []Problem {
	tokens, got := x.at(err.InstanceLocation)
	one := func(expected, format string, args ...any) []Problem {
		return []Problem{{Path: x.path(tokens), Message: fmt.Sprintf(format, args...), Expected: expected, Got: describe(got)}}
	}
	if expected := bound(err.ErrorKind); expected != "" {
		return one(expected, "want %s, got %s", expected, describe(got))
	}
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		return []Problem{x.wrongType(tokens, k.Want, got)}
	case *kind.Required:
		return x.missing(err, tokens, k.Missing)
	case *kind.DependentRequired:
		return one(strings.Join(k.Missing, ", "), "%s needs %s as well", quote(k.Prop), quotedList(k.Missing))
	case *kind.Dependency:
		return one(strings.Join(k.Missing, ", "), "%s needs %s as well", quote(k.Prop), quotedList(k.Missing))
	case *kind.AdditionalProperties:
		return x.unknown(err, tokens, k.Properties)
	case *kind.FalseSchema:
		return one("nothing", "no value is allowed here, got %s", describe(got))
	case *kind.Enum:
		return []Problem{x.notListed(tokens, k.Want, got)}
	case *kind.UniqueItems:
		return one("items that differ", "items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Format:
		if k.Want == "regex" {
			return one("a regular expression", "%s is not a regular expression: %s", describe(got), clip(k.Err.Error(), 200))
		}
	case *kind.PropertyNames:
		return []Problem{x.badName(k.Property)}
	case *kind.Not:
		return one("", "this value is ruled out, got %s", describe(got))
	case *kind.OneOf:
		return one("exactly one alternative", "fits more than one of the alternatives that exclude one another")
	case *kind.Contains, *kind.MinContains:
		return one("", "too few items are of the kind that must be there")
	}
	return one("", "%s", err.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

// badName is for a name that propertyNames refuses. The validator's location of
// this one error is not reliable, so the name is looked for.
func (x *explainer) badName(name string) Problem {
	tokens, _ := findText(x.root, name, nil)
	message := "the name " + quote(name) + " is not allowed"
	if x.of == definition {
		message = quote(name) + " is not a regular expression"
	}
	return Problem{Path: x.path(tokens), Message: message, Got: quote(name)}
}

// bound is what one keyword wants, for those that compare with something.
func bound(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Const:
		return literal(k.Want)
	case *kind.Pattern:
		return "text that matches " + quote(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("at most %d items", k.Want)
	case *kind.Minimum:
		return "at least " + number(k.Want)
	case *kind.Maximum:
		return "at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "less than " + number(k.Want)
	case *kind.MultipleOf:
		return "a multiple of " + number(k.Want)
	}
	return ""
}

func number(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func (x *explainer) missing(err *jsonschema.ValidationError, tokens, names []string) []Problem {
	var out []Problem
	for _, n := range names {
		wish := x.wish(err.SchemaURL, n)
		p := Problem{Path: x.path(append(tokens[:len(tokens):len(tokens)], n)), Message: "is required and missing", Expected: wish, Got: "nothing"}
		if wish != "" {
			p.Message += "; want " + wish
		}
		out = append(out, p)
	}
	return out
}

// wish is what kind of thing a schema wants under a name.
func (x *explainer) wish(location, name string) string {
	parent := x.known[location]
	if parent == nil || parent.Properties[name] == nil {
		return ""
	}
	s := parent.Properties[name]
	for s.Ref != nil && s.Types == nil {
		s = s.Ref
	}
	if s.Types == nil || s.Types.IsEmpty() {
		return ""
	}
	return orList(s.Types.ToStrings())
}

func (x *explainer) unknown(err *jsonschema.ValidationError, tokens, names []string) []Problem {
	slices.Sort(names)
	var known []string
	if s := x.known[err.SchemaURL]; s != nil {
		for n := range s.Properties {
			known = append(known, n)
		}
	}
	slices.Sort(known)
	message := "is not a known property"
	if len(known) > 0 && len(known) <= 30 {
		message += "; known are " + quotedList(known)
	}
	var out []Problem
	for _, n := range names {
		out = append(out, Problem{Path: x.path(append(tokens[:len(tokens):len(tokens)], n)), Message: message, Expected: "nothing", Got: quote(n)})
	}
	return out
}

func (x *explainer) notListed(tokens []string, want []any, got any) Problem {
	var said []string
	for i, v := range want {
		if i == 20 {
			said = append(said, fmt.Sprintf("%d more", len(want)-i))
			break
		}
		said = append(said, literal(v))
	}
	expected := "one of " + strings.Join(said, ", ")
	return Problem{Path: x.path(tokens), Message: "want " + expected + ", got " + describe(got), Expected: expected, Got: describe(got), hint: x.hint(tokens, nil, got)}
}

func (x *explainer) wrongType(tokens, types []string, got any) Problem {
	types = unique(types)
	expected := orList(types)
	return Problem{
		Path: x.path(tokens), Message: "want " + expected + ", got " + describe(got),
		Expected: expected, Got: describe(got), hint: x.hint(tokens, types, got),
	}
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func orList(list []string) string { return strings.Join(list, " or ") }

func quotedList(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, quote(s))
	}
	return strings.Join(out, ", ")
}
