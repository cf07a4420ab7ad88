package toolroom_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"toolroom"
	"toolroom/tool"
)

func room(t *testing.T, opts toolroom.Options) *toolroom.Room {
	t.Helper()
	if opts.Data == "" {
		opts.Data = t.TempDir()
	}
	r, err := toolroom.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func view(t *testing.T, r *toolroom.Room, kind tool.Kind, workspace string) *toolroom.Workspace {
	t.Helper()
	w, err := r.Workspace(tool.Principal{Place: tool.Place{Tenant: "t", Workspace: workspace}, Kind: kind, ID: string(kind)}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func define(t *testing.T, w *toolroom.Workspace, name, body string, change ...func(*tool.Definition)) tool.Change {
	t.Helper()
	d := tool.Definition{Name: name, Description: "A tool.", Parameters: json.RawMessage(`{"type":"object"}`), Body: body}
	for _, f := range change {
		f(&d)
	}
	c, err := w.Create(t.Context(), d, toolroom.CreateOptions{})
	if err != nil {
		t.Fatalf("making %s: %v", name, err)
	}
	return c
}

// wants compares an outcome with a value, or with a code and a part of the message.
func wants(t *testing.T, out tool.Outcome, err error, want string) {
	t.Helper()
	got := string(out.Value)
	if err != nil {
		got = err.Error()
	}
	if got != want && (err == nil || !strings.HasPrefix(got, want)) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestArguments(t *testing.T) {
	w := view(t, room(t, toolroom.Options{}), tool.User, "w")
	define(t, w, "keys", "return Object.keys(args).length", func(d *tool.Definition) {
		d.Parameters = json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`)
	})
	for args, want := range map[string]string{
		"":                           "0",
		"null":                       "0",
		" {} ":                       "0",
		`{"a":1}`:                    "1",
		`{"a":1.0}`:                  "1",
		`{"a":"1"}`:                  "invalid_arguments",
		`"{}"`:                       "invalid_arguments",
		`[]`:                         "invalid_arguments",
		`{`:                          "invalid_arguments",
		`{"a":1}{"a":2}`:             "invalid_arguments",
		`{"a":12345678901234567890}`: "invalid_arguments",
		`{"b":"` + strings.Repeat("x", 1<<20) + `"}`: "invalid_arguments",
	} {
		out, err := w.Call(t.Context(), "keys", json.RawMessage(args))
		wants(t, out, err, want)
	}
}

func TestBodySeesItsEnvironment(t *testing.T) {
	w := view(t, room(t, toolroom.Options{Env: map[string]string{"REGION": "eu"}}), tool.User, `odd "name"`)
	c := define(t, w, "who", "return [env.tool, env.version, env.scope, env.workspace, env.vars.REGION, ctx.tool]")
	out, err := w.Call(t.Context(), "who", nil)
	wants(t, out, err, fmt.Sprintf(`["who",%q,"global","odd \"name\"","eu","who"]`, c.Tool.Current.ID))
}

func TestLimitsOnlyTighten(t *testing.T) {
	w := view(t, room(t, toolroom.Options{Timeout: time.Second, MaxResult: 1000}), tool.User, "w")
	define(t, w, "loop", "for (;;);", func(d *tool.Definition) { d.Limits.TimeoutMS = 100 })
	define(t, w, "large", "return 'x'.repeat(args.n)", func(d *tool.Definition) { d.Limits.MaxResultBytes = 100 })
	out, err := w.Call(t.Context(), "loop", nil)
	wants(t, out, err, "timeout")
	out, err = w.Call(t.Context(), "large", json.RawMessage(`{"n":200}`))
	wants(t, out, err, "result_too_large")
	_, err = w.Run(t.Context(), tool.Definition{Body: "return 1", Limits: tool.Limits{TimeoutMS: 5000}}, nil)
	if tool.CodeOf(err) == "" {
		t.Error("a body that asks for more time than the room gives was run")
	}
}

func TestCallTool(t *testing.T) {
	w := view(t, room(t, toolroom.Options{}), tool.User, "w")
	define(t, w, "double", "args.n *= 2; return args.n", func(d *tool.Definition) {
		d.Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`)
	})
	define(t, w, "self", "return await ctx.callTool('self', {})")
	define(t, w, "ping", "return await ctx.callTool('pong', {})")
	define(t, w, "pong", "return await ctx.callTool('ping', {})")
	define(t, w, "patient", "return await ctx.callTool('slow', {})", func(d *tool.Definition) { d.Limits.TimeoutMS = 400 })
	define(t, w, "slow", "await new Promise(r => setTimeout(r, 20000)); return 1")
	define(t, w, "alone", "return await ctx.callTool('double', {n: 1})", func(d *tool.Definition) { d.Grant.Call = tool.NameList("ping") })
	for body, want := range map[string]string{
		"const o = {n: 4}; return [await ctx.callTool('double', o), o.n]":        "[8,4]",
		"return await ctx.callTool('DOUBLE', {n: 1})":                            "2",
		"return await ctx.callTool('self', {})":                                  "call_cycle",
		"return await ctx.callTool('ping', {})":                                  "call_cycle",
		"return await ctx.callTool('absent', {})":                                "call_failed",
		"return await ctx.callTool('double', {n: 'x'})":                          "call_failed",
		"return await ctx.callTool('double')":                                    "call_failed",
		"return await ctx.callTool('alone', {})":                                 "capability_denied",
		"try { await ctx.callTool('absent', {}) } catch (e) { return 'caught' }": `"caught"`,
	} {
		out, err := w.Run(t.Context(), tool.Definition{Body: body}, nil)
		wants(t, out, err, want)
	}
	began := time.Now()
	_, err := w.Call(t.Context(), "patient", nil)
	if err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("a call that waits for a slow one ended after %s with %v", time.Since(began), err)
	}
}

func TestModelsAndUsers(t *testing.T) {
	r := room(t, toolroom.Options{})
	user, model := view(t, r, tool.User, "w"), view(t, r, tool.Model, "w")
	define(t, user, "ours", "return 1")
	define(t, model, "theirs", "return 2")
	body := "return 3"
	_, err := model.Update(t.Context(), "ours", tool.Patch{Body: &body}, toolroom.ChangeOptions{})
	wants(t, tool.Outcome{}, err, "forbidden")
	_, err = model.Delete(t.Context(), "ours", toolroom.ChangeOptions{})
	wants(t, tool.Outcome{}, err, "forbidden")
	if _, err = user.Update(t.Context(), "theirs", tool.Patch{Body: &body}, toolroom.ChangeOptions{}); err != nil {
		t.Error(err)
	}
	out, err := model.Call(t.Context(), "ours", nil)
	wants(t, out, err, "1")
	other := view(t, r, tool.User, "elsewhere")
	_, err = other.Call(t.Context(), "ours", nil)
	wants(t, tool.Outcome{}, err, "not_found")
}

// TestApprovedOnceInboxed asks as a model, answers as a user, and asks again.
func TestApprovedOnceInboxed(t *testing.T) {
	r := room(t, toolroom.Options{})
	user, model := view(t, r, tool.User, "w"), view(t, r, tool.Model, "w")
	global := tool.Definition{Name: "g", Description: "G.", Parameters: json.RawMessage(`{"type":"object"}`), Body: "return 1", Location: tool.InTenant}
	_, err := model.Create(t.Context(), global, toolroom.CreateOptions{})
	wants(t, tool.Outcome{}, err, "approval_unavailable")
	kept, _, err := user.Approvals(t.Context(), toolroom.Pending, "")
	if err != nil || len(kept) != 1 {
		t.Fatalf("%d questions are kept, want 1: %v", len(kept), err)
	}
	if _, err := model.Decide(t.Context(), kept[0].ID, toolroom.Approve); tool.CodeOf(err) != tool.Forbidden {
		t.Errorf("a model answered its own question: %v", err)
	}
	if _, err := user.Decide(t.Context(), kept[0].ID, toolroom.Approve); err != nil {
		t.Fatal(err)
	}
	other := global
	other.Body = "return 2"
	_, err = model.Create(t.Context(), other, toolroom.CreateOptions{})
	wants(t, tool.Outcome{}, err, "approval_unavailable")
	if _, err := model.Create(t.Context(), global, toolroom.CreateOptions{}); err != nil {
		t.Errorf("the approved change was refused: %v", err)
	}
}

func TestCloseDrains(t *testing.T) {
	r := room(t, toolroom.Options{})
	w := view(t, r, tool.User, "w")
	define(t, w, "slow", "await new Promise(r => setTimeout(r, 400)); return 'done'")
	began := make(chan struct{})
	var calls sync.WaitGroup
	calls.Go(func() {
		close(began)
		out, err := w.Call(context.Background(), "slow", nil)
		wants(t, out, err, `"done"`)
	})
	<-began
	time.Sleep(100 * time.Millisecond)
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	calls.Wait()
	_, err := w.Call(t.Context(), "slow", nil)
	wants(t, tool.Outcome{}, err, "stopped")
	_, err = w.Tool(t.Context(), "slow")
	wants(t, tool.Outcome{}, err, "stopped")
}

func TestReopened(t *testing.T) {
	dir := t.TempDir()
	first := room(t, toolroom.Options{Data: dir})
	define(t, view(t, first, tool.User, "w"), "kept", "return 'kept'")
	if _, err := toolroom.Open(t.Context(), toolroom.Options{Data: dir}); tool.CodeOf(err) != tool.Locked {
		t.Errorf("a second room on the directory: %v, want locked", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := view(t, room(t, toolroom.Options{Data: dir}), tool.User, "w").Call(t.Context(), "kept", nil)
	wants(t, out, err, `"kept"`)
}

func TestOptionsOutOfRange(t *testing.T) {
	for name, o := range map[string]toolroom.Options{
		"timeout":   {Timeout: time.Hour},
		"short":     {Timeout: time.Microsecond},
		"memory":    {MemoryMB: 4096},
		"negative":  {MemoryMB: -1},
		"result":    {MaxResult: 1 << 30},
		"tools":     {MaxTools: 20_000},
		"isolation": {Isolation: "none"},
		"in flight": {InFlight: 20_000},
		"workers":   {Workers: 2000},
		"no worker": {Workers: -1},
		"rate":      {Rate: -1},
		"rate NaN":  {Rate: math.NaN()},
		"wait":      {ApprovalWait: 2 * time.Hour},
	} {
		o.Data = t.TempDir()
		if r, err := toolroom.Open(t.Context(), o); err == nil {
			t.Errorf("%s: a room opened with an option out of range", name)
			_ = r.Close()
		}
	}
	if _, err := toolroom.Open(t.Context(), toolroom.Options{}); tool.CodeOf(err) != tool.StorageFailed {
		t.Errorf("without a directory: %v", err)
	}
}

// TestOneWorkerServesManyWorkspaces has a room with one process: a workspace waits until another's is idle, and
// never gets a process that the other used.
func TestOneWorkerServesManyWorkspaces(t *testing.T) {
	r := room(t, toolroom.Options{Workers: 1})
	var calls sync.WaitGroup
	for n := range 4 {
		w := view(t, r, tool.Model, fmt.Sprint("w", n))
		define(t, w, "mine", fmt.Sprintf("await null; return [%d, args.i]", n))
		calls.Go(func() {
			for i := range 5 {
				out, err := w.Call(context.Background(), "mine", json.RawMessage(fmt.Sprintf(`{"i":%d}`, i)))
				wants(t, out, err, fmt.Sprintf("[%d,%d]", n, i))
			}
		})
	}
	calls.Wait()
}

// TestManyWorkspacesAtOnce holds every result against what was asked for.
func TestManyWorkspacesAtOnce(t *testing.T) {
	r := room(t, toolroom.Options{})
	var calls sync.WaitGroup
	for n := range 8 {
		w := view(t, r, tool.Model, fmt.Sprint("w", n))
		define(t, w, "mine", fmt.Sprintf("await null; return [%d, args.i]", n))
		for i := range 40 {
			calls.Go(func() {
				out, err := w.Call(context.Background(), "mine", json.RawMessage(fmt.Sprintf(`{"i":%d}`, i)))
				wants(t, out, err, fmt.Sprintf("[%d,%d]", n, i))
			})
		}
	}
	calls.Wait()
}
