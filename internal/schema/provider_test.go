package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestProviderForms(t *testing.T) {
	const any = `{"properties":{"url":{"type":"string"}},"anyOf":[{"required":["url"]}]}`
	const price = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"net":{"type":"number","exclusiveMinimum":0},"mode":{"const":"gross"}},"required":["net"],"additionalProperties":false}`
	for _, c := range []struct {
		name     string
		provider Provider
		schema   string
		want     string
		warns    string
	}{
		{"empty", Anthropic, `{}`, `{"type":"object","properties":{}}`, ""},
		{"root anyOf", Anthropic, any, `{"type":"object","properties":{"url":{"type":"string"}}}`, "anyOf: anyOf is refused at the top level"},
		{"root anyOf", OpenAI, any, `{"type":"object","properties":{"url":{"type":"string"}}}`, "anyOf: anyOf is refused at the top level"},
		{"key", Anthropic, `{"properties":{"filter[name]":{"type":"string"}},"required":["filter[name]"]}`,
			`{"type":"object","properties":{"filter_name":{"type":"string"}},"required":["filter_name"]}`, "sent as filter_name"},
		{"key", OpenAI, `{"properties":{"filter[name]":{"type":"string"}}}`, `{"type":"object","properties":{"filter[name]":{"type":"string"}}}`, ""},
		{"items", OpenAI, `{"properties":{"xs":{"type":"array"}}}`, `{"type":"object","properties":{"xs":{"type":"array","items":{}}}}`, "array without items"},
		{"nullable", Anthropic, `{"properties":{"n":{"type":"string","nullable":true}}}`, `{"type":"object","properties":{"n":{"type":["string","null"]}}}`, ""},
		{"strict", OpenAIStrict, `{"properties":{"q":{"type":"string"},"site":{"type":"string","minLength":1}},"required":["q"]}`,
			`{"type":"object","properties":{"q":{"type":"string"},"site":{"type":["string","null"],"description":"(minLength: 1)"}},"required":["q","site"],"additionalProperties":false}`, "minLength is not supported"},
		{"strict lookahead", OpenAIStrict, `{"properties":{"q":{"type":"string","pattern":"^(?=a)"}},"required":["q"]}`,
			`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}`, "look-ahead"},
		{"gemini", Gemini, price,
			`{"type":"object","properties":{"net":{"type":"number","description":"(exclusiveMinimum: 0)"},"mode":{"type":"string","enum":["gross"]}},"required":["net"]}`, "exclusiveMinimum is not supported"},
		{"gemini type list", Gemini, `{"properties":{"n":{"type":["string","null"]}}}`, `{"type":"object","properties":{"n":{"type":"string","nullable":true}}}`, "a list of types"},
		{"gemini enum", Gemini, `{"properties":{"n":{"type":"integer","enum":[1,2]}}}`, `{"type":"object","properties":{"n":{"type":"integer","description":"One of [1,2]."}}}`, "strings only"},
		{"gemini ref", Gemini, `{"properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"string"}}}`, `{"type":"object","properties":{"p":{"type":"string"}}}`, ""},
		{"unknown", "other", `{"properties":{"p":{"format":"x"}}}`, `{"type":"object","properties":{"p":{"format":"x"}}}`, ""},
	} {
		t.Run(string(c.provider)+" "+c.name, func(t *testing.T) {
			form := mustCompile(t, c.schema).For(c.provider)
			if string(form.Schema) != c.want {
				t.Errorf("got  %s\nwant %s", form.Schema, c.want)
			}
			var said []string
			for _, w := range form.Warnings {
				said = append(said, w.Path+": "+w.Message)
			}
			if all := strings.Join(said, "\n"); c.warns == "" && all != "" || !strings.Contains(all, c.warns) {
				t.Errorf("warnings %q, want %q", all, c.warns)
			}
		})
	}
}

func TestRecursiveFormsEnd(t *testing.T) {
	s := mustCompile(t, `{"properties":{"v":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#"}}},"additionalProperties":false}`)
	for _, p := range Providers() {
		form := s.For(p)
		if _, err := Compile(form.Schema); err != nil {
			t.Errorf("%s: %s: %v", p, form.Schema, err)
		}
	}
}

func TestRestore(t *testing.T) {
	s := mustCompile(t, `{"properties":{"filter[name]":{"type":"string"},"q":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["string","null"]}}}}}`)
	for _, c := range []struct {
		provider   Provider
		sent, want string
	}{
		{Anthropic, `{"filter_name":"x","q":{"a":null}}`, `{"filter[name]":"x","q":{"a":null}}`},
		{OpenAIStrict, `{"filter[name]":null,"q":{"a":null,"b":null}}`, `{"q":{"b":null}}`},
		{OpenAI, `{"q":null}`, `{"q":null}`},
		{Anthropic, `no JSON`, `no JSON`},
	} {
		if got := string(s.For(c.provider).Restore(json.RawMessage(c.sent))); got != c.want {
			t.Errorf("%s: Restore(%s) = %s, want %s", c.provider, c.sent, got, c.want)
		}
	}
}

// TestRestoreEnds: references that double at each of thirty levels.
func TestRestoreEnds(t *testing.T) {
	s := mustCompile(t, doubling("allOf", `{"type":"object","properties":{"a":{"type":"string"}}}`))
	for _, p := range Providers() {
		s.For(p).Restore(json.RawMessage(`{"q":{"a":null}}`))
	}
}

func TestTypeScript(t *testing.T) {
	s := mustCompile(t, `{"properties":{
		"city":{"type":"string","description":"Which */ city"},"n":{"type":["integer","null"]},"mode":{"enum":["a",1]},
		"odd key":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"boolean"}]}},
		"node":{"$ref":"#/$defs/tree-node"},"more":{"type":"object","additionalProperties":{"type":"number"}}},
		"required":["city"],"$defs":{"tree-node":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/tree-node"}}}}}}`)
	want := `type Args = {
  /** Which * / city */
  city: string;
  n?: number | null;
  mode?: "a" | 1;
  "odd key"?: (string | boolean)[];
  node?: TreeNode;
  more?: Record<string, number>;
};
type TreeNode = {
  kids?: TreeNode[];
};
`
	if got := s.TypeScript(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWarnings(t *testing.T) {
	s := mustCompile(t, `{"properties":{"n":{"type":"string","nullable":true}}}`)
	if w := s.Warnings(); len(w) != 1 || w[0].Path != "properties.n" {
		t.Errorf("got %v", w)
	}
}
