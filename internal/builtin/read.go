package builtin

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"toolroom"
	"toolroom/tool"
)

// summary is a tool as lists show it.
type summary struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Source      tool.Source     `json:"source"`
	Location    tool.Location   `json:"location"`
	Enabled     bool            `json:"enabled"`
	Deleted     bool            `json:"deleted,omitempty"`
	Version     string          `json:"version"`
	Shadowed    bool            `json:"shadowed,omitempty"`
	Note        string          `json:"note,omitempty"` // why it is not offered, or who else has its name
	Broken      *tool.Error     `json:"broken,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

func summarize(t tool.Tool) summary {
	note := ""
	if t.Shadowed {
		note = shadowedNote
	}
	return summary{
		Note: note,
		Name: t.Name, Description: t.Current.Definition.Description, Source: t.Source, Location: t.Location,
		Enabled: t.Enabled, Deleted: t.Deleted, Version: t.Current.ID, Shadowed: t.Shadowed, Broken: t.Broken,
	}
}

// shadowedNote is about a global tool whose name the workspace uses itself.
const shadowedNote = "A tool of this workspace has this name too: that one is called, and this global one is not offered here. Delete one of them, or make it anew under another name."

type listArgs struct {
	Query    string `json:"query"`
	Disabled bool   `json:"include_disabled"`
	Deleted  bool   `json:"include_deleted"`
	Cursor   string `json:"cursor"`
}

func list(ctx context.Context, w Reader, t Tool, args json.RawMessage) (json.RawMessage, error) {
	var in listArgs
	if err := decode(t, args, &in); err != nil {
		return nil, err
	}
	page, err := w.Tools(ctx, toolroom.ListOptions{Query: in.Query, Disabled: in.Disabled, Deleted: in.Deleted, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := struct {
		Tools []summary `json:"tools"`
		Next  string    `json:"next_cursor,omitempty"`
	}{Tools: []summary{}, Next: page.Next}
	for _, t := range page.Tools {
		out.Tools = append(out.Tools, summarize(t))
	}
	return encode(out)
}

func search(ctx context.Context, w Reader, t Tool, args json.RawMessage) (json.RawMessage, error) {
	in := struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}{Limit: 10}
	if err := decode(t, args, &in); err != nil {
		return nil, err
	}
	found, err := w.Search(ctx, in.Query, min(max(in.Limit, 1), 50))
	if err != nil {
		return nil, err
	}
	tools := []summary{}
	for _, t := range found {
		s := summarize(t)
		s.Parameters = t.Current.Definition.Parameters
		tools = append(tools, s)
	}
	return encode(map[string]any{"tools": tools})
}

type readArgs struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Provider string `json:"provider"`
	FromLine int    `json:"from_line"`
	ToLine   int    `json:"to_line"`
	History  bool   `json:"history"`
	Cursor   string `json:"cursor"`
	Diff     *struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"diff"`
}

// full is everything about a tool.
type full struct {
	summary
	Current    string          `json:"current_version"`
	Number     int64           `json:"number"`
	Author     tool.Author     `json:"author"`
	Created    time.Time       `json:"created"`
	Reason     string          `json:"reason,omitempty"`
	Definition tool.Definition `json:"definition"`
	Lines      string          `json:"body_lines,omitempty"`
	May        []string        `json:"may"` // what the body may do, in words
	Notes      []string        `json:"notes,omitempty"`
	History    []past          `json:"history,omitempty"`
	Next       string          `json:"next_cursor,omitempty"`
	Diff       *toolroom.Diff  `json:"diff,omitempty"`
	Sent       *toolroom.Sent  `json:"sent,omitempty"`
	Last       *last           `json:"last_change,omitempty"`
}

// last is the newest change of a tool, which may have made no version.
type last struct {
	Action string      `json:"action"`
	Author tool.Author `json:"author"`
	At     time.Time   `json:"at"`
	Reason string      `json:"reason,omitempty"`
}

// past is a version as the history shows it.
type past struct {
	Version string      `json:"version"`
	Number  int64       `json:"number"`
	Author  tool.Author `json:"author"`
	Created time.Time   `json:"created"`
	Changed []string    `json:"changed,omitempty"`
	Reason  string      `json:"reason,omitempty"`
}

func read(ctx context.Context, w Reader, t Tool, args json.RawMessage) (json.RawMessage, error) {
	var in readArgs
	if err := decode(t, args, &in); err != nil {
		return nil, err
	}
	got, err := w.Tool(ctx, in.Name)
	if err != nil {
		return nil, err
	}
	v := got.Current
	if in.Version != "" {
		if v, err = w.Version(ctx, in.Name, in.Version); err != nil {
			return nil, err
		}
	}
	out := describe(got, v)
	out.Definition.Body, out.Lines = cutLines(out.Definition.Body, in.FromLine, in.ToLine)
	if err := out.addPast(ctx, w, in); err != nil {
		return nil, err
	}
	if e, err := w.LastChange(ctx, got); err != nil {
		return nil, err
	} else if e.Revision != 0 {
		out.Last = &last{string(e.Action), e.Author, e.At, e.Reason}
	}
	if in.Provider != "" {
		sent, err := toolroom.SchemaFor(in.Provider, v.Definition.Parameters)
		if err != nil {
			return nil, err
		}
		out.Sent = &sent
	}
	return encode(out)
}

func describe(t tool.Tool, v tool.Version) full {
	out := full{
		summary: summarize(t), Current: t.Current.ID, Number: v.Number, Author: v.Author, Created: v.Created, Reason: v.Reason,
		Definition: v.Definition, May: Grants(v.Definition),
	}
	out.Version, out.Description = v.ID, v.Definition.Description
	if v.Solo {
		out.Notes = append(out.Notes, "A call of this version once had to be killed, because it did not end when told to; it runs alone in its worker since. A new version starts afresh.")
	}
	if t.Deleted {
		out.Notes = append(out.Notes, "Deleted. update_tool with restore_version set to a version of this tool brings it back.")
	}
	return out
}

func (f *full) addPast(ctx context.Context, w Reader, in readArgs) error {
	if in.History || in.Cursor != "" {
		page, err := w.History(ctx, in.Name, in.Cursor)
		if err != nil {
			return err
		}
		f.Next = page.Next
		for _, v := range page.Versions {
			f.History = append(f.History, past{v.ID, v.Number, v.Author, v.Created, v.Changed, v.Reason})
		}
	}
	if in.Diff != nil {
		diff, err := w.Diff(ctx, in.Name, in.Diff.From, in.Diff.To)
		if err != nil {
			return err
		}
		f.Diff = &diff
	}
	return nil
}

// cutLines keeps lines from to to of body, and says which when that is not all.
func cutLines(body string, from, to int) (string, string) {
	if from <= 0 && to <= 0 {
		return body, ""
	}
	lines := strings.Split(body, "\n")
	if to <= 0 || to > len(lines) {
		to = len(lines)
	}
	from = min(max(from, 1), to)
	return strings.Join(lines[from-1:to], "\n"), lineRange(from, to, len(lines))
}
