package registry_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"toolroom/internal/registry"
	"toolroom/tool"
)

func TestADefinitionThatBreaksARuleIsRefused(t *testing.T) {
	r := open(t)
	create(t, r, user(), definition("taken_l"))
	for _, c := range []struct {
		about string
		set   func(*tool.Definition)
		code  tool.Code
		says  string // in the message
	}{
		{"no name", func(d *tool.Definition) { d.Name = "" }, tool.InvalidName, "empty"},
		{"a digit first", func(d *tool.Definition) { d.Name = "1st" }, tool.InvalidName, "begin with a letter"},
		{"65 characters", func(d *tool.Definition) { d.Name = strings.Repeat("n", 65) }, tool.InvalidName, "64"},
		{"a space", func(d *tool.Definition) { d.Name = "get weather" }, tool.InvalidName, "' '"},
		{"another alphabet", func(d *tool.Definition) { d.Name = "g\u0435t" }, tool.InvalidName, `\u0435`},
		{"a line break", func(d *tool.Definition) { d.Name = "get\n" }, tool.InvalidName, `\n`},
		{"a bidirectional mark", func(d *tool.Definition) { d.Name = "get\u202e" }, tool.InvalidName, `\u202e`},
		{"a built-in name", func(d *tool.Definition) { d.Name = "run_code" }, tool.NameConflict, "built-in"},
		{"a built-in name in capitals", func(d *tool.Definition) { d.Name = "Create_Tool" }, tool.NameConflict, "create_tool"},
		{"like a built-in name", func(d *tool.Definition) { d.Name = "ca1l-t0ol" }, tool.NameConflict, "call_tool"},
		{"a name in another case", func(d *tool.Definition) { d.Name = "Taken_L" }, tool.NameConflict, "taken_l"},
		{"a name that looks the same", func(d *tool.Definition) { d.Name = "taken-1" }, tool.NameConflict, "taken_l"},
		{"no description", func(d *tool.Definition) { d.Description = " \n" }, tool.InvalidDescription, "empty"},
		{"a long description", func(d *tool.Definition) { d.Description = strings.Repeat("\u00e9", 4097) }, tool.InvalidDescription, "4097"},
		{"a NUL", func(d *tool.Definition) { d.Description = "a\x00" }, tool.InvalidDescription, `NUL`},
		{"a description of bad bytes", func(d *tool.Definition) { d.Description = "a\xff" }, tool.InvalidDescription, "UTF-8"},
		{"a remote reference", func(d *tool.Definition) {
			d.Parameters = json.RawMessage(`{"type":"object","$ref":"http://x/y"}`)
		}, tool.InvalidSchema, ""},
		{"parameters of another type", func(d *tool.Definition) { d.Parameters = json.RawMessage(`{"type":"array"}`) }, tool.InvalidSchema, ""},
		{"a bad output schema", func(d *tool.Definition) { d.OutputSchema = json.RawMessage(`{"type":7}`) }, tool.InvalidSchema, ""},
		{"a body that closes early", func(d *tool.Definition) { d.Body = "} evil(); {" }, tool.SyntaxError, ""},
		{"a long body", func(d *tool.Definition) { d.Body = strings.Repeat(" ", 64<<10) + "1" }, tool.BodyTooLarge, ""},
		{"a body of bad bytes", func(d *tool.Definition) { d.Body = "return '\xff'" }, tool.InvalidDefinition, "UTF-8"},
		{"a language", func(d *tool.Definition) { d.Language = "python" }, tool.InvalidDefinition, "language"},
		{"a runtime", func(d *tool.Definition) { d.Runtime = "deno" }, tool.InvalidDefinition, "runtime"},
		{"a scope", func(d *tool.Definition) { d.Scope = "all" }, tool.InvalidDefinition, "scope"},
		{"a location", func(d *tool.Definition) { d.Location = "here" }, tool.InvalidDefinition, "location"},
		{"a URL for a host", func(d *tool.Definition) { d.Grant.Net = tool.NameList("https://a.example") }, tool.InvalidDefinition, "URL"},
		{"any within the list", func(d *tool.Definition) { d.Grant.Net = tool.NameList("any") }, tool.InvalidDefinition, "in place of the list"},
		{"a wildcard inside", func(d *tool.Definition) { d.Grant.Net = tool.NameList("a*.example") }, tool.InvalidDefinition, "grant.net"},
		{"a secret with a slash", func(d *tool.Definition) { d.Grant.Secrets = []string{"a/b"} }, tool.InvalidDefinition, "grant.secrets"},
		{"a command with a path", func(d *tool.Definition) { d.Grant.Exec = []string{"/bin/sh"} }, tool.InvalidDefinition, "grant.exec"},
		{"a call of no name", func(d *tool.Definition) { d.Grant.Call = tool.NameList("a b") }, tool.InvalidDefinition, "grant.call"},
		{"files without the scope", func(d *tool.Definition) { d.Grant.Files = tool.ReadFiles }, tool.InvalidDefinition, "grant.files"},
		{"files of no kind", func(d *tool.Definition) { d.Grant.Files = "all" }, tool.InvalidDefinition, "grant.files"},
		{"a longer timeout than the room's", func(d *tool.Definition) { d.Limits.TimeoutMS = 30_001 }, tool.InvalidDefinition, "timeout_ms"},
		{"more memory than the room's", func(d *tool.Definition) { d.Limits.MemoryMB = 129 }, tool.InvalidDefinition, "memory_mb"},
		{"a larger result than the room's", func(d *tool.Definition) { d.Limits.MaxResultBytes = 1<<20 + 1 }, tool.InvalidDefinition, "max_result_bytes"},
		{"a negative limit", func(d *tool.Definition) { d.Limits.TimeoutMS = -1 }, tool.InvalidDefinition, "timeout_ms"},
		{"an example of both", func(d *tool.Definition) {
			d.Examples = []tool.Example{{Result: json.RawMessage("1"), Error: tool.CallFailed}}
		}, tool.InvalidDefinition, "example 1"},
		{"an example of an unknown error", func(d *tool.Definition) { d.Examples = []tool.Example{{Name: "x", Error: "oops"}} }, tool.InvalidDefinition, `"oops"`},
		{"an example that is not JSON", func(d *tool.Definition) { d.Examples = []tool.Example{{Args: json.RawMessage("{")}} }, tool.InvalidDefinition, "JSON"},
		{"a title that escapes", func(d *tool.Definition) { d.Annotations = &tool.Annotations{Title: "a\x1b"} }, tool.InvalidDefinition, "title"},
	} {
		t.Run(c.about, func(t *testing.T) {
			d := definition("fresh")
			c.set(&d)
			_, err := r.Create(t.Context(), user(), d, registry.CreateOptions{})
			wantCode(t, err, c.code)
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
	page, err := r.List(t.Context(), place(), registry.ListOptions{})
	if err != nil || len(page.Tools) != 1 {
		t.Fatalf("something was stored: %+v, %v", page, err)
	}
}

func TestAnErrorSaysWhatNameWouldDo(t *testing.T) {
	for name, want := range map[string]string{"get weather!": `"get_weather"`, "1st-try": `"st-try"`, "\u00e9": "beginning with a letter"} {
		d := definition(name)
		_, err := open(t).Create(t.Context(), user(), d, registry.CreateOptions{})
		if hint := tool.AsError(err).Hint; !strings.Contains(hint, want) {
			t.Errorf("%q: %s", name, hint)
		}
	}
}

func TestAVersionSaysEverything(t *testing.T) {
	r := open(t, func(o *registry.Options) { o.Net = tool.NameList() })
	for _, c := range []struct {
		scope tool.Scope
		files tool.FileAccess
	}{{"", tool.NoFiles}, {tool.ScopeWorkspace, tool.WriteFiles}} {
		d := tool.Definition{Name: "plain" + string(c.scope), Description: "a\r\nb", Body: "return 1", Scope: c.scope}
		got := create(t, r, user(), d).Current.Definition
		want := tool.Definition{
			Name: d.Name, Description: "a\nb", Body: "return 1", Language: tool.JavaScript, Runtime: tool.Isolate,
			Scope: tool.ScopeGlobal, Location: tool.InWorkspace, Parameters: got.Parameters,
			Grant: tool.Grant{Net: &tool.Names{List: []string{}}, Call: tool.AnyName(), Files: c.files},
		}
		if c.scope != "" {
			want.Scope = c.scope
		}
		got.Grant.Secrets, got.Grant.Exec = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		if s := string(got.Parameters); !strings.Contains(s, `"type"`) || !strings.Contains(s, `"properties"`) {
			t.Errorf("parameters %s", s)
		}
	}
}

func TestAPatchOfAGrantLeavesTheRestOfIt(t *testing.T) {
	r := open(t)
	d := definition("add")
	d.Grant = tool.Grant{Net: tool.NameList("B.example", "a.example", "a.example"), Secrets: []string{"KEY"}, Call: tool.NameList()}
	create(t, r, user(), d)
	c, err := r.Update(t.Context(), user(), "add", tool.Patch{Grant: &tool.Grant{Exec: []string{"git"}}, Scope: to(tool.ScopeWorkspace)}, registry.ChangeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g := c.Tool.Current.Definition.Grant
	want := tool.Grant{Net: tool.NameList("a.example", "b.example"), Secrets: []string{"KEY"}, Exec: []string{"git"}, Call: &tool.Names{List: []string{}}, Files: tool.WriteFiles}
	if !reflect.DeepEqual(g, want) {
		t.Errorf("got %+v, want %+v", g, want)
	}
	c, err = r.Update(t.Context(), user(), "add", tool.Patch{Grant: &tool.Grant{Secrets: []string{}}}, registry.ChangeOptions{})
	if err != nil || len(c.Tool.Current.Definition.Grant.Secrets) != 0 {
		t.Errorf("an empty list does not clear: %+v, %v", c.Tool.Current.Definition.Grant, err)
	}
}
