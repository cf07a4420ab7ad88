package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolroom/tool"
)

// FailedExample is one entry of the details of example_failed.
type FailedExample struct {
	Example  string `json:"example"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
	Diff     string `json:"diff,omitempty"`
}

func exampleName(e tool.Example, i int) string {
	if e.Name != "" {
		return fmt.Sprintf("example %q", e.Name)
	}
	return fmt.Sprintf("example %d", i+1)
}

// runExamples runs all the examples of a version that is not stored yet, and refuses it
// if any gives something else than it says.
func (r *Registry) runExamples(ctx context.Context, p tool.Principal, built *Resolved) error {
	failed, err := r.TestExamples(ctx, p, built)
	if err != nil || len(failed) == 0 {
		return err
	}
	f := failed[0]
	return tool.Errorf(tool.ExampleFailed, "%s: expected %s, got %s%s", f.Example, cut(f.Expected, 200), cut(f.Got, 200), others(len(failed)-1)).
		WithDetails(failed).WithHint("Mend the body, or the example if it is what is wrong; nothing was saved.")
}

func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// TestExamples runs a tool's examples and answers with those that fail. An error means
// that they could not be run at all.
func (r *Registry) TestExamples(ctx context.Context, p tool.Principal, built *Resolved) ([]FailedExample, error) {
	if r.opts.RunExample == nil {
		return nil, nil
	}
	var failed []FailedExample
	for i, e := range built.Tool.Current.Definition.Examples {
		out, err := r.opts.RunExample(ctx, p, built, e)
		if ctx.Err() != nil {
			return failed, tool.AsError(ctx.Err())
		}
		if f, ok := compare(e, out, err); !ok {
			f.Example = exampleName(e, i)
			failed = append(failed, f)
		}
	}
	return failed, nil
}

func compare(e tool.Example, out tool.Outcome, err error) (FailedExample, bool) {
	switch {
	case e.Error != "" && err == nil:
		return FailedExample{Expected: "the error " + string(e.Error), Got: "the result " + string(out.Value)}, false
	case e.Error != "":
		return FailedExample{Expected: "the error " + string(e.Error), Got: describe(err)}, tool.CodeOf(err) == e.Error
	case err != nil:
		return FailedExample{Expected: expected(e), Got: describe(err)}, false
	case len(e.Result) == 0 || sameJSON(e.Result, out.Value):
		return FailedExample{}, true
	}
	return FailedExample{
		Expected: string(e.Result), Got: string(out.Value),
		Diff: udiff.Unified("expected", "got", indent(e.Result), indent(out.Value)),
	}, false
}

func expected(e tool.Example) string {
	if len(e.Result) == 0 {
		return "no error"
	}
	return string(e.Result)
}

func describe(err error) string {
	var e *tool.Error
	if errors.As(err, &e) {
		return "the error " + e.Error()
	}
	return "the error " + string(tool.CodeOf(err))
}

// sameJSON compares two JSON values: the order of keys and the way a number is
// written do not matter.
func sameJSON(a, b json.RawMessage) bool {
	x, errX := canonical(a)
	y, errY := canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func canonical(raw json.RawMessage) ([]byte, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// indent is a JSON value over several lines, keys in order, so that a diff of two shows
// just what differs.
func indent(raw json.RawMessage) string {
	b, err := canonical(raw)
	if err != nil {
		return lines(string(raw))
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	var v any
	if json.Unmarshal(b, &v) != nil || enc.Encode(v) != nil {
		return lines(string(raw))
	}
	return out.String()
}
