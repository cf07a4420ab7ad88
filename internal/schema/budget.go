package schema

import (
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What one validation may cost. A schema of 64 KiB can ask for an exponential
// amount of work; a reasonable one on a megabyte of arguments stays far below.
const (
	maxTime    = time.Second
	maxPattern = 250 * time.Millisecond // all patterns of one validation together
	maxUnits   = 50 << 20
	stepUnits  = 50 // one subschema on one value; comparing with one enum value is one unit
)

// budget is what is left of a validation.
type budget struct {
	units    int
	deadline time.Time
	patterns time.Duration
}

// spent is what the meter panics with. A pattern names the text it ran on.
type spent struct {
	pattern, text string
}

// begin starts a validation of a value with this many nodes.
func (b *budget) begin(nodes int) {
	b.units, b.deadline, b.patterns = maxUnits-nodes, time.Now().Add(maxTime), maxPattern
}

func (b *budget) spend(units int) {
	b.units -= units
	if b.units < 0 || time.Now().After(b.deadline) {
		panic(spent{})
	}
}

// meter is the extension in every compiled subschema. It is asked after the
// subschema has seen a value.
type meter struct {
	budget *budget
	weight int // values to compare with, here and one level down
}

// Validate counts; it never adds an error.
func (m *meter) Validate(ctx *jsonschema.ValidatorContext, v any) {
	size := 1
	switch v := v.(type) {
	case map[string]any:
		size += len(v)
	case []any:
		size += len(v)
	case string:
		size += len(v) / 256
	}
	depth := 1 + len(ctx.ValueLocation())/16 // each error copies the path to it
	m.budget.spend(size * (stepUnits*depth + m.weight))
}

// pattern is a regular expression of a schema, on the checker's budget.
type pattern struct {
	budget *budget
	re     *regexp2.Regexp
	source string // as the author wrote it
}

// compile is the validator's regexp engine. ECMA-262 with the u flag is what
// JSON Schema asks for; backtracking comes with it, hence the budget.
func (b *budget) compile(expression string) (jsonschema.Regexp, error) {
	re, err := regexp2.Compile(translate(expression), regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	return &pattern{budget: b, re: re, source: expression}, nil
}

// String is the expression as the author wrote it.
func (p *pattern) String() string { return p.source }

// MatchString panics when the time for patterns is over: an answer of no would
// be a yes under "not".
func (p *pattern) MatchString(s string) bool {
	start := time.Now()
	p.re.MatchTimeout = p.budget.patterns
	matched, err := p.re.MatchString(s)
	p.budget.patterns -= time.Since(start)
	if err != nil || p.budget.patterns <= 0 {
		panic(spent{pattern: p.source, text: s})
	}
	return matched
}
