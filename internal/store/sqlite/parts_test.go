package sqlite_test

import (
	"encoding/json"
	"testing"
	"time"

	"toolroom/internal/store"
	"toolroom/tool"
)

func place() tool.Place { return tool.Place{Tenant: "acme", Workspace: "one"} }

// draft is a write that makes a tool, or with a record a new version of it.
func draft(name, body string, r store.Record) store.Write {
	d := tool.Definition{Name: name, Description: "d", Body: body, Parameters: json.RawMessage(`{}`)}
	return store.Write{
		ToolID: r.ID, Revision: r.Revision, Place: place(), Name: name, Source: tool.ByUser, Enabled: true,
		Action: store.Updated, At: time.Now(), Version: &tool.Version{Definition: d}, Words: store.Words{Name: name, Description: "d"},
	}
}

func write(t *testing.T, s store.Store, name, body string) store.Record {
	t.Helper()
	out, err := s.Apply(t.Context(), []store.Write{draft(name, body, store.Record{})})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}
