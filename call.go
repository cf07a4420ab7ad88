package toolroom

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"toolroom/internal/registry"
	"toolroom/internal/runner"
	"toolroom/internal/source"
	"toolroom/internal/wire"
	"toolroom/tool"
)

// Call runs the current version of a tool. args is one JSON object; nothing and null
// mean {}. With an error the Outcome still tells the log and the usage.
func (w *Workspace) Call(ctx context.Context, name string, args json.RawMessage) (tool.Outcome, error) {
	if err := w.room.enter(); err != nil {
		return tool.Outcome{}, err
	}
	defer w.room.work.Done()
	out, err := w.callNamed(ctx, name, args, nil)
	return out, w.room.outward(err)
}

// callNamed runs a tool; from is the call that asks for it, or nil.
func (w *Workspace) callNamed(ctx context.Context, name string, args json.RawMessage, from *call) (tool.Outcome, error) {
	found, err := w.room.registry.Resolve(ctx, w.principal.Place, name)
	if err != nil {
		return tool.Outcome{}, err
	}
	c := w.newCall(found, found.Tool.Current.ID)
	if err := c.nest(from); err != nil {
		return tool.Outcome{}, err
	}
	return c.run(ctx, args)
}

// Run runs a body once and keeps nothing. Of def the body, language, scope, grant and
// limits count. args may be any JSON value.
func (w *Workspace) Run(ctx context.Context, def tool.Definition, args json.RawMessage) (tool.Outcome, error) {
	if err := w.room.enter(); err != nil {
		return tool.Outcome{}, err
	}
	defer w.room.work.Done()
	built, err := w.room.registry.Once(ctx, w.principal, def, w.room.patient(w.hooks.Approver))
	if err != nil {
		return tool.Outcome{}, w.room.outward(err)
	}
	c := w.newCall(anyArgs(built), "run:"+source.Key(def.Body, def.Language))
	out, err := c.run(ctx, args)
	return out, w.room.outward(err)
}

// anyArgs is built without a schema of its arguments: a body that runs once takes any JSON value.
func anyArgs(built *registry.Resolved) *registry.Resolved {
	free := *built
	free.Parameters = nil
	return &free
}

// call is one call under way.
type call struct {
	w        *Workspace
	what     *registry.Resolved
	key      string // names the code to the runner
	limits   tool.Limits
	deadline time.Time
	loan     runner.Loan // its place, for the tools that it calls and waits for
	from     *call       // the call that waits for this one, or nil
	chain    []string    // names of the tools that wait for this call, outermost first
	sealed   bool        // gets no capability at all
	host     host
}

func (w *Workspace) newCall(what *registry.Resolved, key string) *call {
	return &call{w: w, what: what, key: key, limits: w.room.opts.limits().Tighten(what.Tool.Current.Definition.Limits)}
}

// run checks the arguments, runs the body and checks the result.
func (c *call) run(ctx context.Context, args json.RawMessage) (tool.Outcome, error) {
	args, err := c.accept(args)
	if err != nil {
		return tool.Outcome{}, err
	}
	c.deadline = time.Now().Add(time.Duration(c.limits.TimeoutMS) * time.Millisecond)
	out, failure, err := c.w.room.runner.Call(ctx, c.job(args))
	c.host.redact(&out)
	c.host.close()
	out.Call = newCallID()
	switch {
	case err != nil:
		return out, err
	case failure != nil:
		return out, c.host.redactError(c.explain(failure))
	case c.what.Output != nil:
		return c.checkOutput(out)
	}
	return out, nil
}

// maxArgs is how large arguments may be, in bytes of JSON.
const maxArgs = 1 << 20

// accept is the arguments as the body gets them.
func (c *call) accept(args json.RawMessage) (json.RawMessage, error) {
	if args = bytes.TrimSpace(args); len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	if len(args) > maxArgs {
		return nil, tool.Errorf(tool.InvalidArguments, "the arguments of %s have %d bytes; at most %d are allowed", c.what.Tool.Name, len(args), maxArgs).
			WithHint("Pass large data as a file of the workspace or a URL.")
	}
	if c.what.Parameters != nil {
		return c.what.Parameters.Validate(args)
	}
	if !json.Valid(args) {
		return nil, tool.Errorf(tool.InvalidArguments, "the arguments are not JSON")
	}
	return args, nil
}

func (c *call) job(args json.RawMessage) *runner.Job {
	v := &c.what.Tool.Current
	c.host.call = c
	hooks := c.host.told(c.w.hooks)
	job := &runner.Job{
		Place: c.w.principal.Place, Key: c.key, File: fileName(c.what.Tool.Name), Code: c.what.Body.Code,
		Args: args, Env: c.env(), Limits: c.limits, Solo: v.Solo,
		Host: &c.host, OnLog: hooks.Log, OnProgress: hooks.Progress,
	}
	if c.from != nil {
		job.Loan = &c.from.loan
	}
	return job
}

// env is what the body sees as env. It is put together by hand because it is on
// the path of every call; the names in it need no escaping.
func (c *call) env() json.RawMessage {
	var b bytes.Buffer
	b.Grow(128 + len(c.w.quoted) + len(c.w.room.vars))
	b.WriteString(`{"tool":"` + c.what.Tool.Name + `","version":"` + c.what.Tool.Current.ID + `","scope":"`)
	b.WriteString(string(c.what.Tool.Current.Definition.Scope) + `","workspace":`)
	b.Write(c.w.quoted)
	b.WriteString(`,"vars":`)
	b.Write(c.w.room.vars)
	b.WriteByte('}')
	return b.Bytes()
}

// explain puts a failure of the body into the author's terms.
func (c *call) explain(f *wire.Failure) error { return c.what.Body.Explain(f) }

// checkOutput holds a result against the tool's output schema.
func (c *call) checkOutput(out tool.Outcome) (tool.Outcome, error) {
	err := c.what.Output.ValidateOutput(out.Value)
	if err != nil {
		out.Value = nil
	}
	return out, err
}
