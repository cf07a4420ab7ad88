package folder_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"toolroom/internal/registry"
	"toolroom/internal/registry/folder"
	"toolroom/internal/store/sqlite"
	"toolroom/tool"
)

func user() tool.Principal {
	return tool.Principal{Place: tool.Place{Tenant: "acme", Workspace: "one"}, Kind: tool.User, ID: "ann"}
}

func open(t *testing.T) *registry.Registry {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "room.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r, err := registry.Open(context.Background(), s, registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// everything is definitions that use all the fields.
func everything() []tool.Definition {
	yes := true
	return []tool.Definition{
		{Name: "plain", Description: "Does <b>this</b> & that.", Body: "return 1;"},
		{
			Name: "full_One", Description: "a\nb\tc \u00e9 \u2028", Language: tool.TypeScript, Scope: tool.ScopeWorkspace, Location: tool.InTenant,
			Body:         "const x: number = args.n;\n\nreturn `\u00e9 </script> ${x}`; // no line break at the end",
			Parameters:   json.RawMessage(`{"type":"object","properties":{"z":{"type":"number"},"n":{"type":"number","default":10000000000000001}}}`),
			OutputSchema: json.RawMessage(`{"type":"string"}`),
			Grant:        tool.Grant{Net: tool.NameList("a.example"), Secrets: []string{"KEY"}, Exec: []string{"git"}, Call: tool.NameList("plain"), Files: tool.ReadFiles},
			Examples:     []tool.Example{{Name: "one", Args: json.RawMessage(`{"n":1}`), Result: json.RawMessage(`"1"`)}, {Error: tool.CallFailed}},
			Annotations:  &tool.Annotations{Title: "Full", ReadOnly: &yes}, Limits: tool.Limits{TimeoutMS: 1000, MemoryMB: 16, MaxResultBytes: 10},
		},
	}
}

func importAll(t *testing.T, r *registry.Registry, dir string) *registry.Plan {
	t.Helper()
	items, err := folder.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := r.PlanImport(t.Context(), user(), items, "import")
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Apply(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestAFolderLosesNothingOnTheWayThereAndBack(t *testing.T) {
	from, to, dir := open(t), open(t), t.TempDir()
	for _, d := range everything() {
		if _, err := from.Create(t.Context(), user(), d, registry.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := from.SetEnabled(t.Context(), user(), "plain", false, registry.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	names, stale, err := folder.Write(t.Context(), from, user().Place, dir)
	if err != nil || len(names) != 2 || len(stale) != 0 {
		t.Fatalf("wrote %v, stale %v, %v", names, stale, err)
	}
	importAll(t, to, dir)
	for _, name := range names {
		a, errA := from.Get(t.Context(), user().Place, name)
		b, errB := to.Get(t.Context(), user().Place, name)
		if errA != nil || errB != nil || a.Current.Hash != b.Current.Hash || a.Enabled != b.Enabled || a.Location != b.Location {
			t.Errorf("%s: %+v\nbecame %+v (%v, %v)", name, a, b, errA, errB)
		}
	}
	again := t.TempDir()
	if _, _, err := folder.Write(t.Context(), to, user().Place, again); err != nil {
		t.Fatal(err)
	}
	if a, b := contents(t, dir), contents(t, again); !reflect.DeepEqual(a, b) {
		t.Errorf("the second export differs:\n%v\n%v", a, b)
	}
	for _, step := range importAll(t, to, dir).Steps {
		if step.Action != "" {
			t.Errorf("importing what is there changes %+v", step)
		}
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = string(b)
	}
	return all
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAPlanShowsWhatWouldChange(t *testing.T) {
	r, dir := open(t), t.TempDir()
	put(t, dir, map[string]string{
		"a.json": `{"name":"a","description":"d","code":"a.js"}`, "a.js": "return 1;\n",
		"b.json": `{"name":"b","description":"d","body":"return 2;"}`,
	})
	importAll(t, r, dir)
	put(t, dir, map[string]string{"a.js": "return 3;\n", "b.json": `{"name":"b","description":"d","body":"return 2;","enabled":false}`,
		"c.json": `{"name":"c","description":"d","body":"return 4;"}`})
	items, err := folder.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := r.PlanImport(t.Context(), user(), items, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range plan.Steps {
		got = append(got, string(s.Action)+" "+s.Name)
	}
	if strings.Join(got, ", ") != "updated a, disabled b, created c" || !strings.Contains(plan.Steps[0].Diff.Body, "-return 1;\n+return 3;") {
		t.Fatalf("got %v, %+v", got, plan.Steps[0].Diff)
	}
	if _, err := r.Update(t.Context(), user(), "a", tool.Patch{Description: &got[0]}, registry.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := plan.Apply(t.Context(), nil); tool.CodeOf(err) != tool.Conflict {
		t.Fatalf("a plan that is old was applied: %v", err)
	}
	if _, err := r.Get(t.Context(), user().Place, "c"); tool.CodeOf(err) != tool.NotFound {
		t.Fatalf("a part of the import was made: %v", err)
	}
}

func TestAnImportWithOneBadToolChangesNothing(t *testing.T) {
	r, dir := open(t), t.TempDir()
	put(t, dir, map[string]string{
		"a.json": `{"name":"a","description":"d","body":"return 1;"}`,
		"b.json": `{"name":"b","description":"d","body":"return ("}`,
		"c.json": `{"name":"c","description":"","body":"return 1"}`,
	})
	items, err := folder.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.PlanImport(t.Context(), user(), items, "")
	if tool.CodeOf(err) != tool.InvalidDefinition || !strings.Contains(err.Error(), "2 of 3") || !strings.Contains(err.Error(), "c: ") {
		t.Fatalf("got %v", err)
	}
}

func TestAFolderThatCannotBeReadSaysWhichFile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.js")
	if err := os.WriteFile(outside, []byte("return 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for about, files := range map[string]map[string]string{
		"not JSON":              {"a.json": `{`},
		"two values":            {"a.json": `{"name":"a","body":"x"} 1`},
		"a misspelt field":      {"a.json": `{"name":"a","grants":{}}`},
		"another name":          {"a.json": `{"name":"b","body":"return 1"}`},
		"no code file":          {"a.json": `{"name":"a","code":"a.js"}`},
		"a code file elsewhere": {"a.json": `{"name":"a","code":"../a.js"}`},
		"an absolute code file": {"a.json": `{"name":"a","code":"/etc/passwd"}`},
		"both":                  {"a.json": `{"name":"a","body":"x","code":"a.js"}`, "a.js": "x"},
		"a link out":            {"a.json": `{"name":"a","code":"link.js"}`},
		"a large file":          {"a.json": `{"name":"a","code":"a.js"}`, "a.js": strings.Repeat(" ", 5<<20)},
	} {
		dir := t.TempDir()
		put(t, dir, files)
		if err := os.Symlink(outside, filepath.Join(dir, "link.js")); err != nil {
			t.Fatal(err)
		}
		_, err := folder.Read(dir)
		if tool.CodeOf(err) != tool.InvalidDefinition || !strings.Contains(err.Error(), "a.json") {
			t.Errorf("%s: got %v", about, err)
		}
	}
	_, err := folder.Read(filepath.Join(t.TempDir(), "none"))
	if tool.CodeOf(err) != tool.InvalidArguments {
		t.Errorf("no folder: %v", err)
	}
}
