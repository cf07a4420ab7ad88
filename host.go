package toolroom

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
	"time"

	exp "github.com/go-json-experiment/json"

	"toolroom/internal/broker"
	"toolroom/internal/runner"
	"toolroom/tool"
)

// host answers what one call asks for. Calls of other tools are the Room's;
// everything else goes to the broker, in a session made when it is first needed.
type host struct {
	call    *call
	once    sync.Once
	session *broker.Session
	failed  error
}

// opCall is the request for another tool's result.
const opCall = "tool.call"

// Serve implements runner.Host.
func (h *host) Serve(ctx context.Context, req runner.Request) runner.Response {
	if h.call.sealed {
		return runner.Response{Err: tool.Errorf(tool.CapabilityDenied, "%s is not available while an example runs", req.Op)}
	}
	h.once.Do(h.open)
	switch {
	case h.session == nil:
		return runner.Response{Err: tool.AsError(h.failed)}
	case req.Op == opCall:
		value, err := h.callTool(ctx, req)
		return runner.Response{Data: value, Err: tool.AsError(err)} // as data: a result may be larger than a value
	}
	value, data, fail := h.session.Serve(ctx, req.Op, req.Args, req.Data)
	return runner.Response{Value: value, Data: data, Err: fail}
}

// open makes the session. It ends by close, when the call has ended.
func (h *host) open() {
	d := h.call.what.Tool.Current.Definition
	h.session, h.failed = h.call.w.room.broker.Session(context.Background(), broker.Call{
		Place: h.call.w.principal.Place, Root: h.call.w.root, Scope: d.Scope, Grant: d.Grant,
	})
}

// close ends the session, if there was one, and refuses what is asked after it.
func (h *host) close() {
	h.once.Do(func() { h.failed = tool.Errorf(tool.Cancelled, "the call is over") })
	if h.session != nil {
		h.session.Close()
	}
}

// hiding says whether the call may hold secrets, so that what leaves it is looked through.
// Bodies hold stand-ins only: there is something to find only if a secret came back in a way the broker
// does not know, such as in pieces.
func (h *host) hiding() bool {
	return len(h.call.what.Tool.Current.Definition.Grant.Secrets) > 0
}

// redact takes the call's secrets out of its result and log.
func (h *host) redact(out *tool.Outcome) {
	if h.session == nil || !h.hiding() {
		return
	}
	r := h.session.Redactor()
	out.Value = r.Bytes(out.Value)
	for i := range out.Logs {
		out.Logs[i].Text = r.String(out.Logs[i].Text)
	}
}

// redactError is err without the call's secrets.
func (h *host) redactError(err error) error {
	if err == nil || h.session == nil || !h.hiding() {
		return err
	}
	r, e := h.session.Redactor(), *tool.AsError(err)
	e.Message, e.Hint = r.String(e.Message), r.String(e.Hint)
	if e.Details != nil {
		details, encodeErr := json.Marshal(e.Details)
		if encodeErr != nil {
			return &e
		}
		e.Details = json.RawMessage(r.Bytes(details))
	}
	return &e
}

// told is hooks whose texts go out without the call's secrets.
func (h *host) told(hooks Hooks) Hooks {
	if !h.hiding() {
		return hooks
	}
	clean := func(text string) string {
		h.once.Do(h.open) // orders what follows after the session was made
		if h.session == nil {
			return text
		}
		return h.session.Redactor().String(text)
	}
	told := hooks
	if hooks.Log != nil {
		told.Log = func(l tool.LogLine) { l.Text = clean(l.Text); hooks.Log(l) }
	}
	if hooks.Progress != nil {
		told.Progress = func(p tool.Progress) { p.Message = clean(p.Message); hooks.Progress(p) }
	}
	return told
}

// callTool runs another tool for the body. Whatever that tool may do follows
// from its own grant; how long, from both.
func (h *host) callTool(ctx context.Context, req runner.Request) (json.RawMessage, error) {
	if err := h.session.Count(req.Op); err != nil {
		return nil, err
	}
	var in struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	if err := exp.Unmarshal(req.Args, &in, exp.RejectUnknownMembers(true)); err != nil {
		return nil, tool.Errorf(tool.InvalidArguments, "callTool wants a name and arguments").WithCause(err).
			WithHint(`Write await ctx.callTool("name", { … }).`)
	}
	if len(req.Data) > 0 {
		in.Args = req.Data // arguments too large for the request itself
	}
	if !granted(h.call.what.Tool.Current.Definition.Grant.Call, in.Name) {
		return nil, tool.Errorf(tool.CapabilityDenied, "this tool may not call %q: its grant.call does not name it", in.Name).
			WithHint("Add %q to grant.call of %s.", in.Name, h.call.what.Tool.Name)
	}
	view := *h.call.w
	view.hooks = Hooks{} // log and progress of a callee are its own
	out, err := view.callNamed(ctx, in.Name, in.Args, h.call)
	return out.Value, err
}

func granted(n *tool.Names, name string) bool {
	if n == nil || n.Any {
		return true
	}
	for _, allowed := range n.List {
		if strings.EqualFold(allowed, name) {
			return true
		}
	}
	return false
}

// maxDepth is how many tools may wait for each other.
const maxDepth = 8

// nest makes c a call that another call waits for: no cycles, no more than
// maxDepth, and no longer than what the other has left.
func (c *call) nest(from *call) error {
	if from == nil {
		return nil
	}
	c.from = from
	c.chain = append(append(c.chain, from.chain...), from.what.Tool.Name)
	path := strings.Join(append(c.chain[:len(c.chain):len(c.chain)], c.what.Tool.Name), " → ")
	for _, name := range c.chain {
		if name == c.what.Tool.Name {
			return tool.Errorf(tool.CallCycle, "%s is called again while it waits: a cycle, %s", name, path).
				WithHint("Use a loop or a function inside the body in place of recursion.")
		}
	}
	if len(c.chain) > maxDepth {
		return tool.Errorf(tool.CallCycle, "tools call each other more than %d deep: %s", maxDepth, path)
	}
	left := time.Until(from.deadline).Milliseconds()
	if left <= 0 {
		return tool.Errorf(tool.Timeout, "no time is left to call %s", c.what.Tool.Name)
	}
	c.limits = c.limits.Tighten(tool.Limits{TimeoutMS: left})
	return nil
}

// newCallID names a call for people and logs.
func newCallID() string { return "c_" + rand.Text()[:16] }
