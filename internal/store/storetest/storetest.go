// Package storetest is the one suite that every store.Store passes: what the
// contract promises, tried from the outside.
package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"toolroom/internal/store"
	"toolroom/tool"
)

// Run runs the whole suite. Open gives an empty store, and closes it when the
// test ends.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"a new tool can be found", testNew},
		{"versions count up and stay", testVersions},
		{"a write from an old revision is refused", testStale},
		{"many writers at once lose nothing", testRace},
		{"several writes happen whole or not at all", testWhole},
		{"names that are or look the same are taken", testTaken},
		{"a second workspace can be avoided", testAvoid},
		{"a full workspace takes no more", testFull},
		{"a deleted tool gives up its name and keeps its history", testDeleted},
		{"a tool moves between workspace and tenant", testMove},
		{"nothing crosses a tenant or a workspace", testBorders},
		{"a list is paged by name", testList},
		{"a list is filtered", testFilter},
		{"a shadowed global tool says so", testShadowed},
		{"search ranks names before descriptions", testSearch},
		{"hostile words are only words", testHostileWords},
		{"every change has its place in the feed", testFeed},
		{"a version is marked solo once", testSolo},
		{"an approval moves from state to state once", testApprovals},
		{"a cancelled context is no storage failure", testCancelled},
		{"closing twice is fine", testClose},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func one() tool.Place { return tool.Place{Tenant: "acme", Workspace: "one"} }

func two() tool.Place { return tool.Place{Tenant: "acme", Workspace: "two"} }

func global() tool.Place { return tool.Place{Tenant: "acme"} }

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC) }

// fresh is the write that makes a tool.
func fresh(place tool.Place, name, body string) store.Write {
	d := tool.Definition{
		Name: name, Description: "About " + name + ".", Body: body, Parameters: json.RawMessage(`{"type":"object","properties":{}}`),
		Grant: tool.Grant{Net: tool.AnyName(), Call: tool.NameList("other"), Files: tool.NoFiles},
	}
	return store.Write{
		Place: place, Name: name, Source: tool.ByModel, Enabled: true, Action: store.Created, At: noon(),
		Version: &tool.Version{Definition: d, Author: tool.Author{Kind: tool.Model, ID: "bot"}, Reason: "because", Changed: []string{"created"}},
		Words:   store.Words{Name: name, Description: d.Description},
	}
}

// next is the write that gives a tool another body.
func next(r store.Record, body string) store.Write {
	w := fresh(r.Place, r.Name, body)
	w.ToolID, w.Revision, w.Action, w.Enabled = r.ID, r.Revision, store.Updated, r.Enabled
	return w
}

// headOnly is a write that makes no version.
func headOnly(r store.Record, a store.Action, enabled, deleted bool) store.Write {
	w := next(r, "")
	w.Version, w.Action, w.Enabled, w.Deleted = nil, a, enabled, deleted
	return w
}

func apply(t *testing.T, s store.Store, w store.Write) store.Record {
	t.Helper()
	out, err := s.Apply(t.Context(), []store.Write{w})
	if err != nil {
		t.Fatalf("apply %s %s: %v", w.Action, w.Name, err)
	}
	return out[0]
}

func refused(t *testing.T, s store.Store, want tool.Code, writes ...store.Write) error {
	t.Helper()
	_, err := s.Apply(t.Context(), writes)
	wantCode(t, err, want)
	return err
}

func find(t *testing.T, s store.Store, place tool.Place, name string) store.Record {
	t.Helper()
	r, err := s.Find(t.Context(), place, name)
	if err != nil {
		t.Fatalf("find %s: %v", name, err)
	}
	return r
}

func names(t *testing.T, s store.Store, place tool.Place, q store.Query) []string {
	t.Helper()
	found, err := s.List(t.Context(), place, q)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(found))
	for i, r := range found {
		out[i] = r.Name
	}
	return out
}

func wantCode(t *testing.T, err error, want tool.Code) {
	t.Helper()
	if got := tool.CodeOf(err); got != want {
		t.Fatalf("got %q (%v), want %q", got, err, want)
	}
}
