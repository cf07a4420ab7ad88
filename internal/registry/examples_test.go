package registry_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"toolroom/internal/registry"
	"toolroom/tool"
)

// returning runs every example to the same end.
func returning(value string, err error) func(*registry.Options) {
	return func(o *registry.Options) {
		o.RunExample = func(context.Context, tool.Principal, *registry.Resolved, tool.Example) (tool.Outcome, error) {
			return tool.Outcome{Value: json.RawMessage(value)}, err
		}
	}
}

func TestAVersionWhoseExampleFailsIsRefused(t *testing.T) {
	failed := tool.Errorf(tool.EgressDenied, "no network here")
	for _, c := range []struct {
		about   string
		run     func(*registry.Options)
		example tool.Example
		want    registry.FailedExample // zero: it passes
	}{
		{"the same", returning(`{"a": 1.0, "b": [2]}`, nil), tool.Example{Result: json.RawMessage(`{"b":[2],"a":1}`)}, registry.FailedExample{}},
		{"no result expected", returning(`7`, nil), tool.Example{}, registry.FailedExample{}},
		{"the error", returning(`null`, failed), tool.Example{Error: tool.EgressDenied}, registry.FailedExample{}},
		{"another value", returning(`{"a":1,"b":3}`, nil), tool.Example{Name: "sum", Result: json.RawMessage(`{"a":1,"b":2}`)},
			registry.FailedExample{Example: `example "sum"`, Expected: `{"a":1,"b":2}`, Got: `{"a":1,"b":3}`, Diff: `+  "b": 3`}},
		{"an error for a value", returning(``, failed), tool.Example{Result: json.RawMessage(`1`)},
			registry.FailedExample{Example: "example 1", Expected: "1", Got: "the error egress_denied: no network here"}},
		{"an error for nothing", returning(``, failed), tool.Example{},
			registry.FailedExample{Example: "example 1", Expected: "no error", Got: "the error egress_denied: no network here"}},
		{"a value for an error", returning(`1`, nil), tool.Example{Error: tool.CallFailed},
			registry.FailedExample{Example: "example 1", Expected: "the error call_failed", Got: "the result 1"}},
		{"another error", returning(``, failed), tool.Example{Error: tool.CallFailed},
			registry.FailedExample{Example: "example 1", Expected: "the error call_failed", Got: "the error egress_denied: no network here"}},
	} {
		t.Run(c.about, func(t *testing.T) {
			r := open(t, c.run)
			d := definition("add")
			d.Examples = []tool.Example{c.example}
			_, err := r.Create(t.Context(), model(), d, registry.CreateOptions{})
			if c.want.Example == "" {
				wantCode(t, err, "")
				return
			}
			wantCode(t, err, tool.ExampleFailed)
			got := tool.AsError(err).Details.([]registry.FailedExample)[0]
			if !strings.Contains(got.Diff, c.want.Diff) {
				t.Errorf("diff %q lacks %q", got.Diff, c.want.Diff)
			}
			got.Diff, c.want.Diff = "", ""
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			_, err = r.Get(t.Context(), place(), "add")
			wantCode(t, err, tool.NotFound)
		})
	}
}

func TestExamplesGuardEveryWayToANewVersion(t *testing.T) {
	good := true
	r := open(t, func(o *registry.Options) {
		o.RunExample = func(_ context.Context, _ tool.Principal, built *registry.Resolved, e tool.Example) (tool.Outcome, error) {
			if string(e.Args) != "{}" || len(built.Body.Code) == 0 {
				t.Errorf("the runner got %s and %d bytes of code", e.Args, len(built.Body.Code))
			}
			if good {
				return tool.Outcome{Value: json.RawMessage("1")}, nil
			}
			return tool.Outcome{Value: json.RawMessage("2")}, nil
		}
	})
	d := definition("add")
	d.Examples = []tool.Example{{Result: json.RawMessage("1")}, {Name: "second", Result: json.RawMessage("1")}}
	first := create(t, r, user(), d)
	if _, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: to("return 1")}, registry.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	good = false
	none := registry.ChangeOptions{}
	_, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: to("return 2")}, none)
	wantCode(t, err, tool.ExampleFailed)
	if !strings.Contains(err.Error(), "and 1 more") {
		t.Errorf("got %v", err)
	}
	_, err = r.Restore(t.Context(), user(), "add", first.Current.ID, none)
	wantCode(t, err, tool.ExampleFailed)
	_, err = r.PlanImport(t.Context(), user(), []registry.Item{{Definition: d}}, "")
	wantCode(t, err, tool.ExampleFailed)
	_, err = r.Check(t.Context(), user(), d)
	wantCode(t, err, tool.ExampleFailed)
	if _, err := r.SetEnabled(t.Context(), user(), "add", false, none); err != nil {
		t.Errorf("disabling a tool whose examples fail: %v", err)
	}
}

func TestTheEngineMayRefuseAVersion(t *testing.T) {
	r := open(t, func(o *registry.Options) {
		o.Check = func(context.Context, tool.Place, *registry.Resolved) error {
			return tool.Errorf(tool.SyntaxError, "the engine does not take it")
		}
	})
	_, err := r.Create(t.Context(), user(), definition("add"), registry.CreateOptions{})
	wantCode(t, err, tool.SyntaxError)
}
