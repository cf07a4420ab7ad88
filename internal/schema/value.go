package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object that remembers the order of its members.
type object struct {
	keys   []string
	values map[string]any
}

func newObject() *object { return &object{values: map[string]any{}} }

func (o *object) get(key string) (any, bool) {
	v, ok := o.values[key]
	return v, ok
}

func (o *object) set(key string, value any) {
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = value
}

func (o *object) drop(key string) {
	if _, ok := o.values[key]; !ok {
		return
	}
	delete(o.values, key)
	for i, k := range o.keys {
		if k == key {
			o.keys = append(o.keys[:i:i], o.keys[i+1:]...)
			return
		}
	}
}

// encode appends the JSON of a tree, members in their order.
func encode(b []byte, v any) []byte {
	switch v := v.(type) {
	case *object:
		b = append(b, '{')
		for i, k := range v.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(encode(b, k), ':')
			b = encode(b, v.values[k])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = encode(b, e)
		}
		return append(b, ']')
	case string:
		b, _ = jsontext.AppendQuote(b, v) // only bad UTF-8 fails, which parse refuses
		return b
	case json.Number:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// plain is v with maps for objects, as the validator wants it.
func plain(v any) any {
	switch v := v.(type) {
	case *object:
		m := make(map[string]any, len(v.keys))
		for k, e := range v.values {
			m[k] = plain(e)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = plain(e)
		}
		return list
	}
	return v
}

// limits bound what parse accepts.
type limits struct {
	depth  int
	exact  bool // refuse integers that a double cannot hold
	spread int  // sum of the depths of all values, 0 for any
}

// reader builds a tree from tokens. A name that comes twice, a number that is
// none, text after the value and bad UTF-8 are problems.
type reader struct {
	dec    *jsontext.Decoder
	limits limits
	path   []string
	spread int
}

// parse reads one JSON value.
func parse(raw []byte, l limits) (any, *Problem) {
	r := &reader{dec: jsontext.NewDecoder(bytes.NewReader(raw)), limits: l}
	v, problem := r.value()
	if problem != nil {
		return nil, problem
	}
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return nil, r.problem("text after the JSON value")
	}
	return v, nil
}

func (r *reader) problem(format string, args ...any) *Problem {
	return &Problem{Path: pathOf(r.path), Message: fmt.Sprintf(format, args...)}
}

func (r *reader) value() (any, *Problem) {
	r.spread += len(r.path) + 1
	if len(r.path) > r.limits.depth {
		r.path = r.path[:8]
		return nil, r.problem("nested deeper than %d levels", r.limits.depth)
	}
	if r.limits.spread > 0 && r.spread > r.limits.spread {
		return nil, &Problem{Path: rootName, Message: "too many values nested too deeply"}
	}
	t, err := r.dec.ReadToken()
	if err != nil {
		return nil, r.syntax(err)
	}
	switch t.Kind() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return t.String(), nil
	case '0':
		return r.number(t.String())
	case 't', 'f':
		return t.Kind() == 't', nil
	}
	return nil, nil
}

func (r *reader) object() (any, *Problem) {
	o := newObject()
	for r.dec.PeekKind() != '}' {
		t, err := r.dec.ReadToken()
		if err != nil {
			return nil, r.syntax(err)
		}
		key := t.String()
		r.path = append(r.path, key)
		v, problem := r.value()
		if problem != nil {
			return nil, problem
		}
		r.path = r.path[:len(r.path)-1]
		o.set(key, v)
	}
	_, err := r.dec.ReadToken()
	return o, r.syntax(err)
}

func (r *reader) array() (any, *Problem) {
	list := []any{}
	for r.dec.PeekKind() != ']' {
		r.path = append(r.path, "#"+strconv.Itoa(len(list)))
		v, problem := r.value()
		if problem != nil {
			return nil, problem
		}
		r.path = r.path[:len(r.path)-1]
		list = append(list, v)
	}
	_, err := r.dec.ReadToken()
	return list, r.syntax(err)
}

func (r *reader) syntax(err error) *Problem {
	if err == nil {
		return nil
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return r.problem("a name comes twice in this object: %s", clip(err.Error(), 200))
	}
	var se *jsontext.SyntacticError
	if errors.As(err, &se) {
		return r.problem("not valid JSON at byte %d: %v", se.ByteOffset, se.Err)
	}
	return r.problem("not valid JSON: the text ends too early")
}

// maxExact is the largest integer up to which a double holds every integer.
const maxExact = 1<<53 - 1

// number keeps a literal exactly, within what a double can hold. Long literals
// and exponents are shortened to the double they mean: exact arithmetic on
// 1e-99999999 would need gigabytes.
func (r *reader) number(literal string) (any, *Problem) {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, r.problem("the number %s is too large", clip(literal, 40))
	}
	integer := !strings.ContainsAny(literal, ".eE")
	if integer && r.limits.exact && math.Abs(f) > maxExact {
		return nil, &Problem{
			Path: pathOf(r.path), Got: clip(literal, 40), Expected: "an integer up to 9007199254740991",
			Message: fmt.Sprintf("the integer %s is too large to be exact", clip(literal, 40)),
			hint:    `JavaScript numbers are exact only up to 9007199254740991: such an id must be a string, "type": "string" in the tool's schema and in quotes in the arguments.`,
		}
	}
	if integer && len(literal) <= 64 || len(literal) <= 24 && !strings.ContainsAny(literal, "eE") {
		return json.Number(literal), nil
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), nil
}
