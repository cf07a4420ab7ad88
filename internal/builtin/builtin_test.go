package builtin

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"toolroom/internal/registry"
	"toolroom/internal/schema"
	"toolroom/tool"
)

// TestSchemas checks what a model reads: every schema holds, and every field in
// it says what it is for.
func TestSchemas(t *testing.T) {
	for _, x := range List() {
		if _, err := schema.Compile(x.Parameters); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
		var root map[string]any
		if err := json.Unmarshal(x.Parameters, &root); err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		undescribed(t, x.Name, root)
		if len(x.Description) < 60 {
			t.Errorf("%s is described in %d characters", x.Name, len(x.Description))
		}
	}
}

func undescribed(t *testing.T, path string, schema map[string]any) {
	t.Helper()
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		property := p.(map[string]any)
		if text, _ := property["description"].(string); text == "" {
			t.Errorf("%s.%s has no description", path, name)
		}
		undescribed(t, path+"."+name, property)
		if items, ok := property["items"].(map[string]any); ok {
			undescribed(t, path+"."+name+"[]", items)
		}
	}
}

// TestNamesAreReserved holds the list against the registry's, which refuses them.
func TestNamesAreReserved(t *testing.T) {
	if !slices.Equal(Names(), registry.Builtins()) {
		t.Errorf("built-in tools are %v, reserved are %v", Names(), registry.Builtins())
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		tool, args string
		code       tool.Code
		says       []string
	}{
		{CreateTool, `{"name":"a","description":"d","parameters":{},"body":"b"}`, "", nil},
		{CreateTool, `{"name":"a","description":"d","parameters":{},"body":"b","grant":null,"limits":null}`, "", nil},
		{CreateTool, `{"name":"a","description":"d","parameters":{},"body":"b","grant":{"net":"none","call":["x"]}}`, "", nil},
		{CreateTool, `{}`, tool.InvalidName, []string{"name: missing", "body: missing", "parameters: missing"}},
		{CreateTool, `{"name":5,"description":"d","parameters":{},"body":"b"}`, tool.InvalidName, []string{"name: a string is wanted"}},
		{CreateTool, `{"name":"a","description":"d","parameters":{},"body":["b"]}`, tool.InvalidDefinition, []string{"body: a string is wanted"}},
		{CreateTool, `{"name":"a","description":"d","parameters":{},"body":"b","grant":"{\"net\":[]}"}`, tool.InvalidDefinition, []string{"not a string that holds one"}},
		{CreateTool, `{"name":"a","description":"d","parameters":{},"body":"b","grant":{"network":[]}}`, tool.InvalidDefinition, []string{"grant.network: there is no such field"}},
		{CreateTool, `{"name":"a","description":"d","parameters":{},"body":"b","grant":{"net":"some"}}`, tool.InvalidDefinition, []string{"grant.net"}},
		{CreateTool, `{"name":"a","description":"d","parameters":{},"body":"b","limits":{"timeout_ms":"5"}}`, tool.InvalidDefinition, []string{"limits.timeout_ms: a whole number is wanted"}},
		{CreateTool, `{"Name":"a","description":"d","parameters":{},"body":"b"}`, tool.InvalidArguments, []string{"Name: there is no such argument", "name: missing"}},
		{CreateTool, `{"name":"a","description":"d","parameters":{},"body":"b","source":"user"}`, tool.InvalidArguments, []string{"source: there is no such argument"}},
		{CreateTool, `{"name":"a","description":"d","body":"b","parameters":{"properties":{"x":{},"x":{}}}}`, tool.InvalidArguments, []string{"parameters.properties.x", "twice"}},
		{CreateTool, `{"name":"a","description":"d","parameters":{},"body":"b","if_exists":1}`, tool.InvalidArguments, []string{"if_exists: a string is wanted"}},
		{CreateTool, `{"name":"a","description":"d","parameters":{},"code":"b"}`, tool.InvalidArguments, []string{"code: there is no such argument; body is meant"}},
		{CreateTool, `{"name":"a",`, tool.InvalidArguments, []string{"not valid JSON"}},
		{ListTools, ``, "", nil},
		{ListTools, `null`, "", nil},
		{ListTools, `{"query":"a","query":"b"}`, tool.InvalidArguments, nil},
		{ListTools, `{"include_deleted":"yes"}`, tool.InvalidArguments, []string{"true or false"}},
		{ReadTool, `{"name":"a","diff":{"from":"x","until":"y"}}`, tool.InvalidArguments, []string{"diff.until"}},
		{ReadTool, `"a"`, tool.InvalidArguments, []string{"got a string"}},
	} {
		x, _ := find(c.tool)
		err := decode(x, json.RawMessage(c.args), into(c.tool))
		if tool.CodeOf(err) != c.code {
			t.Errorf("%s %s: %v, want %q", c.tool, c.args, err, c.code)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s %s: %v, want it to say %q", c.tool, c.args, err, part)
			}
		}
	}
}

// into is what a built-in decodes its arguments into.
func into(name string) any {
	switch name {
	case CreateTool:
		return &createArgs{}
	case ReadTool:
		return &readArgs{}
	}
	return &listArgs{}
}

// FuzzDecode holds that no arguments, however odd, do more than fail with an error
// of the product.
func FuzzDecode(f *testing.F) {
	f.Add(CreateTool, `{"name":"a","grant":{"net":"any"},"examples":[{"name":"x","args":{}}]}`)
	f.Add(ReadTool, `{"diff":{"from":1},"from_line":1e400}`)
	f.Add(ListTools, `{"a":`)
	f.Fuzz(func(t *testing.T, name, args string) {
		x, ok := find(name)
		if !ok {
			return
		}
		if err := decode(x, json.RawMessage(args), into(name)); err != nil && tool.CodeOf(err) == tool.Internal {
			t.Errorf("%q: %v", args, err)
		}
	})
}

func TestGrantsInWords(t *testing.T) {
	words := strings.Join(Grants(tool.Definition{Scope: tool.ScopeWorkspace, Grant: tool.Grant{
		Net: tool.NameList("a.example", "*.b.example"), Secrets: []string{"KEY"}, Exec: []string{"git"}, Call: tool.NameList(),
	}}), " ")
	for _, part := range []string{"only these hosts: a.example, *.b.example", "read and write", "call no other tool", "KEY", "git"} {
		if !strings.Contains(words, part) {
			t.Errorf("%q does not say %q", words, part)
		}
	}
}

func TestCutLines(t *testing.T) {
	for _, c := range []struct {
		from, to   int
		want, note string
	}{
		{0, 0, "a\nb\nc", ""}, {2, 2, "b", "2 to 2 of 3"}, {2, 0, "b\nc", "2 to 3 of 3"}, {0, 2, "a\nb", "1 to 2 of 3"}, {9, 99, "c", "3 to 3 of 3"},
	} {
		got, note := cutLines("a\nb\nc", c.from, c.to)
		if got != c.want || note != c.note {
			t.Errorf("%d to %d: %q %q, want %q %q", c.from, c.to, got, note, c.want, c.note)
		}
	}
}
