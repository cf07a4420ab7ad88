package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"toolroom/internal/store"
	"toolroom/tool"
)

// Get is a tool by name, also a disabled or deleted one.
func (r *Registry) Get(ctx context.Context, place tool.Place, name string) (tool.Tool, error) {
	rec, err := r.store.Find(ctx, place, name)
	if err != nil {
		return tool.Tool{}, err
	}
	return tools([]store.Record{rec})[0], nil
}

// LastChange is the newest change of a tool: what was done, by whom and why, also when it made no version.
func (r *Registry) LastChange(ctx context.Context, place tool.Place, t tool.Tool) (store.Change, error) {
	found, err := r.store.Changes(ctx, t.Revision-1, 1)
	if err != nil || len(found) == 0 || found[0].Revision != t.Revision || !found[0].SeenBy(place) {
		return store.Change{}, err
	}
	return found[0], nil
}

// ListOptions say which tools List gives.
type ListOptions struct {
	Query    string // only tools whose name or description contains it
	Disabled bool   // disabled ones too
	Deleted  bool   // deleted ones too
	Cursor   string // Page.Next of the page before
	Limit    int    // 0: 100; at most 1,000
}

// Page is a part of a list. Next is empty on the last one.
type Page struct {
	Tools []tool.Tool `json:"tools"`
	Next  string      `json:"next_cursor,omitempty"`
}

// List is a page of the tools that place sees, by name. A tool that cannot be read has
// Broken set, and a global one whose name the workspace uses itself has Shadowed set.
func (r *Registry) List(ctx context.Context, place tool.Place, o ListOptions) (Page, error) {
	q := store.Query{Text: o.Query, Disabled: o.Disabled, Deleted: o.Deleted, Limit: pageSize(o.Limit)}
	if err := decodeCursor(o.Cursor, &q.After); err != nil {
		return Page{}, err
	}
	size := q.Limit
	q.Limit++ // one more tells whether there is another page
	found, err := r.store.List(ctx, place, q)
	if err != nil {
		return Page{}, err
	}
	var page Page
	if len(found) > size {
		found = found[:size]
		last := found[size-1]
		page.Next = encodeCursor(store.Cursor{Fold: store.Fold(last.Name), ID: last.ID})
	}
	page.Tools = tools(found)
	return page, nil
}

func tools(records []store.Record) []tool.Tool {
	out := make([]tool.Tool, len(records))
	for i, rec := range records {
		out[i] = rec.Tool
		if err := offerable(rec.Current.Definition); err != nil && rec.Broken == nil {
			out[i].Broken = store.Damaged(rec.Name, err)
		}
	}
	return out
}

// offerable says whether a stored schema has the one form that clients take whole lists by: an object that
// says so. That the rest of it holds, a call finds out.
func offerable(d tool.Definition) error {
	var root struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	switch err := json.Unmarshal(d.Parameters, &root); {
	case err != nil:
		return fmt.Errorf("its parameters are no schema: %w", err)
	case root.Type != "object" || len(root.Properties) == 0 || root.Properties[0] != '{':
		return errors.New("its parameters do not describe an object")
	}
	return nil
}

func pageSize(n int) int {
	if n <= 0 {
		return 100
	}
	return min(n, 999)
}

func encodeCursor(v any) string {
	b, _ := json.Marshal(v) // a struct of a string and a number
	return base64.RawURLEncoding.EncodeToString(b)
}

func decodeCursor(cursor string, into any) error {
	if cursor == "" {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		return tool.Errorf(tool.InvalidArguments, "the cursor %q is not one that a list gave", cut(cursor, 40)).
			WithHint("Leave cursor out to begin at the start.")
	}
	return nil
}

// Search is the enabled tools of place that fit the query best, best first.
func (r *Registry) Search(ctx context.Context, place tool.Place, query string, limit int) ([]tool.Tool, error) {
	const most = 16
	words := splitWords(cut(query, 1000))
	found, err := r.store.Search(ctx, place, words[:min(len(words), most)], pageSize(limit))
	if err != nil {
		return nil, err
	}
	return tools(found), nil
}

// Versions is a page of a history, newest first. Next is empty on the last one.
type Versions struct {
	Versions []tool.Version `json:"versions"`
	Next     string         `json:"next_cursor,omitempty"`
}

// History is a page of a tool's versions, also of a deleted tool.
func (r *Registry) History(ctx context.Context, place tool.Place, name, cursor string, limit int) (Versions, error) {
	before, err := strconv.ParseInt("0"+cursor, 10, 64)
	if err != nil {
		return Versions{}, decodeCursor("!"+cursor, nil)
	}
	rec, err := r.store.Find(ctx, place, name)
	if err != nil {
		return Versions{}, err
	}
	size := pageSize(limit)
	found, err := r.store.Versions(ctx, rec.ID, before, size+1)
	if err != nil {
		return Versions{}, err
	}
	var page Versions
	if len(found) > size {
		found = found[:size]
		page.Next = strconv.FormatInt(found[size-1].Number, 10)
	}
	page.Versions = found
	return page, nil
}

// Version is one version of a tool, also of a deleted tool.
func (r *Registry) Version(ctx context.Context, place tool.Place, name, id string) (tool.Version, error) {
	rec, v, err := r.store.Version(ctx, place, id)
	if err != nil {
		return v, err
	}
	if store.Fold(rec.Name) != store.Fold(name) {
		return tool.Version{}, store.NoVersion(id).WithHint("That version is not one of %q.", name)
	}
	return v, nil
}
