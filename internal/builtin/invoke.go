package builtin

import (
	"context"
	"encoding/json"

	"toolroom"
	"toolroom/tool"
)

// Workspace is what the built-in tools work on: *toolroom.Workspace is one. It
// decides by its own principal what is allowed.
type Workspace interface {
	Create(ctx context.Context, def tool.Definition, how toolroom.CreateOptions) (tool.Change, error)
	Update(ctx context.Context, name string, patch tool.Patch, how toolroom.ChangeOptions) (tool.Change, error)
	SetEnabled(ctx context.Context, name string, enabled bool, how toolroom.ChangeOptions) (tool.Change, error)
	Restore(ctx context.Context, name, version string, how toolroom.ChangeOptions) (tool.Change, error)
	Delete(ctx context.Context, name string, how toolroom.ChangeOptions) (tool.Change, error)
	Caller
	Reader
}

// Reader is how tools are found and read.
type Reader interface {
	Tools(ctx context.Context, which toolroom.ListOptions) (toolroom.Page, error)
	Tool(ctx context.Context, name string) (tool.Tool, error)
	LastChange(ctx context.Context, t tool.Tool) (toolroom.Event, error)
	Search(ctx context.Context, query string, limit int) ([]tool.Tool, error)
	History(ctx context.Context, name, cursor string) (toolroom.Versions, error)
	Version(ctx context.Context, name, id string) (tool.Version, error)
	Diff(ctx context.Context, name, from, to string) (toolroom.Diff, error)
}

// Caller is how tools and bodies are run.
type Caller interface {
	Call(ctx context.Context, name string, args json.RawMessage) (tool.Outcome, error)
	Run(ctx context.Context, def tool.Definition, args json.RawMessage) (tool.Outcome, error)
}

// Invoke runs the built-in tool name for whoever w acts as. The outcome's value
// is made to be read by a model; call_tool and run_code also hand on the log of
// what they ran. Every failure is a *tool.Error. It may be called concurrently.
func Invoke(ctx context.Context, w Workspace, name string, args json.RawMessage) (tool.Outcome, error) {
	t, ok := find(name)
	if !ok {
		return tool.Outcome{}, tool.Errorf(tool.NotFound, "there is no built-in tool %q", name)
	}
	switch name {
	case CallTool:
		return call(ctx, w, t, args)
	case RunCode:
		return run(ctx, w, t, args)
	}
	value, err := manage(ctx, w, t, args)
	return tool.Outcome{Value: value}, err
}

func manage(ctx context.Context, w Workspace, t Tool, args json.RawMessage) (json.RawMessage, error) {
	switch t.Name {
	case CreateTool:
		return create(ctx, w, t, args)
	case UpdateTool:
		return update(ctx, w, t, args)
	case DeleteTool:
		return remove(ctx, w, t, args)
	case ListTools:
		return list(ctx, w, t, args)
	case ReadTool:
		return read(ctx, w, t, args)
	}
	return search(ctx, w, t, args)
}

func call(ctx context.Context, w Workspace, t Tool, args json.RawMessage) (tool.Outcome, error) {
	var in struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := decode(t, args, &in); err != nil {
		return tool.Outcome{}, err
	}
	if in.Name == CallTool {
		return tool.Outcome{}, tool.Errorf(tool.InvalidArguments, "call_tool: name: call_tool does not call itself; name the tool to run")
	}
	if Is(in.Name) {
		return Invoke(ctx, w, in.Name, in.Arguments)
	}
	return w.Call(ctx, in.Name, in.Arguments)
}

func run(ctx context.Context, w Workspace, t Tool, args json.RawMessage) (tool.Outcome, error) {
	var in struct {
		tool.Definition
		Args json.RawMessage `json:"args"`
	}
	if err := decode(t, args, &in); err != nil {
		return tool.Outcome{}, err
	}
	return w.Run(ctx, in.Definition, in.Args)
}

func encode(v any) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, tool.Errorf(tool.Internal, "an answer could not be written as JSON").WithCause(err)
	}
	return b, nil
}
