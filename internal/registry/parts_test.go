package registry_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"toolroom/internal/registry"
	"toolroom/internal/store"
	"toolroom/internal/store/sqlite"
	"toolroom/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func place() tool.Place { return tool.Place{Tenant: "acme", Workspace: "one"} }

func user() tool.Principal { return tool.Principal{Place: place(), Kind: tool.User, ID: "ann"} }

func model() tool.Principal { return tool.Principal{Place: place(), Kind: tool.Model, ID: "bot"} }

// at is p in another workspace of the same tenant.
func at(p tool.Principal, workspace string) tool.Principal {
	p.Workspace = workspace
	return p
}

func openStore(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "room.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t testing.TB, set ...func(*registry.Options)) *registry.Registry {
	t.Helper()
	return over(t, openStore(t), set...)
}

func over(t testing.TB, s store.Store, set ...func(*registry.Options)) *registry.Registry {
	t.Helper()
	var o registry.Options
	for _, f := range set {
		f(&o)
	}
	r, err := registry.Open(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func definition(name string) tool.Definition {
	return tool.Definition{Name: name, Description: "Adds two numbers.", Body: "return args.a + args.b;",
		Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}}}`)}
}

func create(t testing.TB, r *registry.Registry, p tool.Principal, d tool.Definition) tool.Tool {
	t.Helper()
	c, err := r.Create(t.Context(), p, d, registry.CreateOptions{})
	if err != nil {
		t.Fatalf("create %s: %v", d.Name, err)
	}
	return c.Tool
}

func wantCode(t testing.TB, err error, want tool.Code) {
	t.Helper()
	if got := tool.CodeOf(err); got != want {
		t.Fatalf("got %q (%v), want %q", got, err, want)
	}
}

func to[T any](v T) *T { return &v }

func waitFor(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}
