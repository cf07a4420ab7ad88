package builtin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"toolroom"
	"toolroom/tool"
)

// changed is the answer to a change.
type changed struct {
	Name     string         `json:"name"`
	Version  string         `json:"version"`
	Number   int64          `json:"number"`
	Enabled  bool           `json:"enabled"`
	Changed  []string       `json:"changed,omitempty"`
	Warnings []tool.Warning `json:"warnings,omitempty"`
	Next     string         `json:"next,omitempty"` // what to do now, in words
}

func answer(c tool.Change, next string) (json.RawMessage, error) {
	v := c.Tool.Current
	for _, w := range c.Warnings {
		if slices.Contains(toolroom.Providers(), w.About) {
			next = strings.TrimSpace(next + " read_tool with provider shows the schema as that provider gets it.")
			break
		}
	}
	return encode(changed{
		Name: c.Tool.Name, Version: v.ID, Number: v.Number, Enabled: c.Tool.Enabled, Changed: v.Changed, Warnings: c.Warnings, Next: next,
	})
}

type createArgs struct {
	tool.Definition
	IfExists toolroom.IfExists `json:"if_exists"`
	Reason   string            `json:"reason"`
}

func create(ctx context.Context, w Workspace, t Tool, args json.RawMessage) (json.RawMessage, error) {
	var in createArgs
	if err := decode(t, args, &in); err != nil {
		return nil, err
	}
	switch in.IfExists {
	case "", toolroom.Refuse, toolroom.Replace:
	default:
		return nil, tool.Errorf(tool.InvalidArguments, `create_tool: if_exists: %q is neither "error" nor "replace"`, in.IfExists)
	}
	how := toolroom.CreateOptions{IfExists: in.IfExists}
	how.Reason = in.Reason
	c, err := w.Create(ctx, in.Definition, how)
	if err != nil {
		return nil, err
	}
	return answer(c, "Call it by its name, or with call_tool if your client does not show it yet.")
}

// changeArgs is who and how of every change of an existing tool.
type changeArgs struct {
	Name   string `json:"name"`
	Expect string `json:"expected_version"`
	Reason string `json:"reason"`
}

func (a changeArgs) how() toolroom.ChangeOptions {
	return toolroom.ChangeOptions{Expect: a.Expect, Reason: a.Reason}
}

func update(ctx context.Context, w Workspace, t Tool, args json.RawMessage) (json.RawMessage, error) {
	var in struct {
		changeArgs
		tool.Patch
		Enabled *bool  `json:"enabled"`
		Restore string `json:"restore_version"`
	}
	if err := decode(t, args, &in); err != nil {
		return nil, err
	}
	ways := 0
	for _, asked := range []bool{in.Patch != tool.Patch{}, in.Enabled != nil, in.Restore != ""} {
		if asked {
			ways++
		}
	}
	if ways != 1 {
		return nil, tool.Errorf(tool.InvalidArguments, "update_tool: give fields to change, or enabled, or restore_version: one of the three, not %d", ways)
	}
	c, err := apply(ctx, w, in.changeArgs, in.Patch, in.Enabled, in.Restore)
	if err != nil {
		return nil, err
	}
	if in.Enabled != nil {
		c.Tool.Current.Changed = []string{"enabled"} // its version is the old one, which says what made it
	}
	return answer(c, "")
}

func apply(ctx context.Context, w Workspace, a changeArgs, patch tool.Patch, enabled *bool, restore string) (tool.Change, error) {
	switch {
	case enabled != nil:
		return w.SetEnabled(ctx, a.Name, *enabled, a.how())
	case restore != "":
		return w.Restore(ctx, a.Name, restore, a.how())
	}
	return w.Update(ctx, a.Name, patch, a.how())
}

func remove(ctx context.Context, w Workspace, t Tool, args json.RawMessage) (json.RawMessage, error) {
	var in changeArgs
	if err := decode(t, args, &in); err != nil {
		return nil, err
	}
	c, err := w.Delete(ctx, in.Name, in.how())
	if err != nil {
		return nil, err
	}
	return encode(struct {
		Name    string `json:"name"`
		Deleted bool   `json:"deleted"`
		Version string `json:"version"` // as every change answers
		Undo    string `json:"undo_version"`
		Next    string `json:"next"`
	}{c.Tool.Name, true, c.Tool.Current.ID, c.Tool.Current.ID, "To undo: update_tool with this name and restore_version set to undo_version."})
}
