package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolroom"
)

// TestWhatModelsOftenGetWrong sends each mistake as a model would, and reads what it is told.
func TestWhatModelsOftenGetWrong(t *testing.T) {
	_, s := open(t, toolroom.Options{})
	session := overStdio(t, s, nil)
	made := call(t, session, "create_tool", `{"name":"t","description":"T.","body":"return args","parameters":{"type":"object","required":["n"],"properties":{
		"n":{"type":"number"},"o":{"type":"object","properties":{"a":{"type":"string"}}},"s":{"type":"string"},"l":{"type":"array","items":{"type":"integer"}},"b":{"type":"boolean"}}}}`)
	if made.IsError {
		t.Fatal(text(made))
	}
	for _, c := range []struct{ args, starts, says string }{
		{`{"n":"5"}`, "invalid_arguments: n:", "without quotes: 5"},
		{`{"n":1,"b":"true"}`, "invalid_arguments: b:", "without quotes: true"},
		{`{"n":1,"o":"{\"a\":\"x\"}"}`, "invalid_arguments: o:", "send the object itself"},
		{`{"n":1,"l":"[1,2]"}`, "invalid_arguments: l:", "send the array itself"},
		{`{"n":1,"l":3}`, "invalid_arguments: l:", "as a list"},
		{`{"n":1,"s":null}`, "invalid_arguments: s:", "leave s out if it is optional"},
		{`{"n":1,"s":5}`, "invalid_arguments: s:", `"5"`},
		{`"{\"n\":1}"`, "invalid_arguments: (root):", "send the object itself"},
		{`[1]`, "invalid_arguments: (root):", "one object of named values"},
		{`null`, "invalid_arguments: n: is required and missing", ""},
		{`{"n":1}`, `{"n":1}`, ""},
	} {
		if got := text(call(t, session, "t", c.args)); !strings.HasPrefix(got, c.starts) || !strings.Contains(got, c.says) {
			t.Errorf("t %s: got %s", c.args, got)
		}
		through := fmt.Sprintf(`{"name":"t","arguments":%s}`, c.args)
		if got := text(call(t, session, "call_tool", through)); !strings.HasPrefix(got, c.starts) || !strings.Contains(got, c.says) {
			t.Errorf("call_tool %s: got %s", through, got)
		}
	}
}

// TestDefinitionsThatModelsOftenGetWrong is the same for create_tool. A definition that stands is
// answered with warnings, one that does not with an error and a hint.
func TestDefinitionsThatModelsOftenGetWrong(t *testing.T) {
	_, s := open(t, toolroom.Options{})
	session := overStdio(t, s, nil)
	for i, c := range []struct{ fields, starts, says string }{
		{`"parameters":{}`, `{"name"`, ""},
		{`"parameters":{"type":"object"}`, `{"name"`, ""},
		{`"parameters":"{\"type\":\"object\"}"`, "invalid_schema", "not as text in a string"},
		{`"parameters":{"city":{"type":"string"}}`, "invalid_schema: city", `under "properties"`},
		{`"parameters":{"name":"x","input_schema":{"type":"object"}}`, "invalid_schema: input_schema", "alone"},
		{`"parameters":{"type":"function","function":{"name":"x","parameters":{}}}`, "invalid_schema: function", "alone"},
		{`"parameters":{"properties":{"a":{"type":"str"}}}`, "invalid_schema: properties.a.type", `"type": "string"`},
		{`"parameters":{"properties":{"a":{"type":"String"}}}`, "invalid_schema: properties.a.type", `"string"`},
		{`"parameters":{"properties":{"a":{"type":"any"}}}`, "invalid_schema: properties.a.type", "Leave type out"},
		{`"parameters":{"properties":{"a":{"type":"string","required":true}}}`, "invalid_schema: properties.a.required", "list of names"},
		{`"parameters":{"type":"string"}`, "invalid_schema: type", "Arguments are always one object"},
		{`"parameters":{"properties":{"a":{"$ref":"https://example.com/s.json"}}}`, "invalid_schema", "$defs"},
		{"\"body\":\"```js\\nreturn 1\\n```\"", "syntax_error: line 1", "without the ``` lines"},
		{"\"body\":\"Here it is:\\n```js\\nreturn 1\\n```\"", "syntax_error: line 1", "without prose"},
		{`"body":"module.exports = async (args) => 1"`, `{"name"`, "Do not export"},
		{`"body":"function add(a) { return a }"`, `{"name"`, "declares a function that nothing calls"},
		{`"body":"const add = async (a) => a;"`, `{"name"`, "declares a function that nothing calls"},
		{`"body":"const two = 2;\nfunction add(a) { return a + two }"`, `{"name"`, "declares a function that nothing calls"},
		{`"body":"async (args) => { return 1 }"`, `{"name"`, "arrow function that nothing calls"},
		{`"body":"import fs from 'fs';\nreturn 1"`, "syntax_error: line 1", "ctx.readText"},
		{`"body":["return 1"]`, "invalid_definition", "body: a string is wanted"},
		{`"runtime":"node"`, "invalid_definition: runtime", "Leave runtime out"},
		{`"grant":"{}"`, "invalid_definition", "not a string that holds one"},
		{`"limits":{"timeout_ms":"5"}`, "invalid_definition", "limits.timeout_ms"},
		{`"limits":{"timeout":5}`, "invalid_definition", "limits.timeout: there is no such field"},
		{`"source":"user"`, "invalid_arguments", "source: there is no such argument"},
		{`"enabled":true`, "invalid_arguments", "enabled: there is no such argument"},
		{`"outputSchema":{}`, "invalid_arguments", "output_schema is meant"},
		{`"code":"return 1"`, "invalid_arguments", "body is meant"},
		{`"input_schema":{}`, "invalid_arguments", "parameters is meant"},
		{`"description":"` + strings.Repeat("x", 1100) + `"`, `{"name"`, "more than 1024"},
	} {
		fields := map[string]json.RawMessage{}
		given := fmt.Sprintf(`{"name":"d%d","description":"D.","parameters":{},"body":"return 1"}`, i)
		for _, source := range []string{given, "{" + strings.ReplaceAll(c.fields, "\n", `\n`) + "}"} {
			if err := json.Unmarshal([]byte(source), &fields); err != nil {
				t.Fatalf("%s: %v", source, err)
			}
		}
		args, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(call(t, session, "create_tool", string(args))); !strings.HasPrefix(got, c.starts) || !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), c.says) {
			t.Errorf("%s: got %s", c.fields, got)
		}
	}
}

// TestTheSchemaAsAProviderGetsIt: create_tool warns, and read_tool shows what would be sent.
func TestTheSchemaAsAProviderGetsIt(t *testing.T) {
	_, s := open(t, toolroom.Options{})
	session := overStdio(t, s, nil)
	got := text(call(t, session, "create_tool", `{"name":"p","description":"P.","body":"return 1",
		"parameters":{"type":"object","properties":{"a b":{"type":"string","format":"uri"},"l":{"type":"array"}},"oneOf":[{"required":["l"]}]}}`))
	for _, about := range []string{`"about":"anthropic"`, `"about":"openai"`, `"about":"openai-strict"`, `"about":"gemini"`, "read_tool with provider"} {
		if !strings.Contains(got, about) {
			t.Errorf("create_tool says nothing of %s: %s", about, got)
		}
	}
	for provider, want := range map[string]string{
		"anthropic":     `"a_b":{`,
		"openai":        `"items":{}`,
		"openai-strict": `"additionalProperties":false`,
		"gemini":        `"items":{"type":"string"}`,
	} {
		var read struct {
			Sent toolroom.Sent
		}
		if err := json.Unmarshal([]byte(text(call(t, session, "read_tool", fmt.Sprintf(`{"name":"p","provider":%q}`, provider)))), &read); err != nil {
			t.Fatal(err)
		}
		if p := string(read.Sent.Parameters); !strings.Contains(p, want) || strings.Contains(p, "oneOf") || len(read.Sent.Warnings) == 0 {
			t.Errorf("%s gets %s, with %d warnings", provider, p, len(read.Sent.Warnings))
		}
	}
	if got := text(call(t, session, "read_tool", `{"name":"p","provider":"acme"}`)); !strings.HasPrefix(got, "invalid_arguments") {
		t.Errorf("an unknown provider: %s", got)
	}
}
