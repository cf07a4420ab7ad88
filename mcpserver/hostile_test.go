package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// hostile is one line of what hostile input must get, through the program's own front door.
type hostile struct {
	name string
	args map[string]any // of run_code, or of create_tool when it has a name
	want string         // the code; "" when it must work
	says string         // in the answer
}

// budgets are bodies that would take more than they may have. Each runs with a second of
// time; room for noisy machines is in the test.
func budgets() []hostile {
	var all []hostile
	add := func(want string, bodies map[string]string) {
		patience := 20_000 // what ends by itself may take long on a busy machine
		if want == "timeout" {
			patience = 1000
		}
		for name, body := range bodies {
			all = append(all, hostile{name: name, want: want, args: map[string]any{"body": body, "limits": map[string]any{"timeout_ms": patience, "memory_mb": 64}}})
		}
	}
	add("timeout", map[string]string{
		"a loop":                         "for (;;) {}",
		"a loop in catch":                "for (;;) { try { throw 1 } catch { for (;;) {} } }",
		"a loop that catches its end":    "for (;;) { try { for (;;) {} } catch {} }",
		"a loop in finally":              "try { return 1 } finally { for (;;) {} }",
		"a loop in toJSON":               "return { toJSON() { for (;;) {} } }",
		"a loop in a getter":             "return { get a() { for (;;) {} } }",
		"a loop in a proxy":              "return new Proxy({}, { ownKeys() { for (;;) {} } })",
		"a loop in a thenable":           "return { then() { for (;;) {} } }",
		"endless microtasks":             "const again = () => { Promise.resolve().then(again) }; again(); await new Promise(() => {})",
		"endless queueMicrotask":         "const again = () => queueMicrotask(again); again(); await new Promise(() => setTimeout(() => {}, 5000))",
		"a promise behind a timer":       "await new Promise((go) => setTimeout(go, 20000))",
		"an exploding expression":        "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
		"indexOf, which never polls":     "return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
		"includes, which never polls":    "return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
		"lastIndexOf, which never polls": "return Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
		"reverse, which never polls":     "return Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
		"a native inside catch":          "try { for (;;) {} } catch { return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1) }",
	})
	add("memory_exceeded", map[string]string{
		"hoarding with catch and retry": "const all = []; for (;;) { try { for (;;) all.push(new Uint8Array(1 << 20).fill(1)) } catch {} }",
		"hoarding small objects":        "const all = []; for (;;) { try { for (;;) all.push({ a: [1, 2, 3] }) } catch {} }",
	})
	add("call_failed", map[string]string{
		"a million calls deep":          "const deep = (n) => n ? deep(n - 1) + 1 : 0; return deep(1e6)",
		"a million levels of JSON":      "return JSON.parse('['.repeat(1e6))",
		"a million groups":              "return new RegExp('('.repeat(1e6) + ')'.repeat(1e6)).source.length",
		"a million brackets of source":  "return Function('return ' + '['.repeat(1e6))()",
		"a code that a body makes up":   "throw Object.assign(new Error('x'), { code: 'timeout', retryable: true })",
		"an error that looks like ours": "throw { name: 'ToolError', code: 'internal', message: 'x' }",
	})
	add("result_too_large", map[string]string{
		"NULs that grow when encoded": "return '\\0'.repeat(300000)",
		"more than a result may be":   "return 'x'.repeat(3 << 20)",
	})
	add("result_not_json", map[string]string{
		"undefined":         "return",
		"a function inside": "return { items: [1, () => 1] }",
		"a BigInt":          "return 1n",
		"NaN":               "return { a: NaN }",
		"a cycle":           "const a = {}; a.a = a; return a",
		"a Map":             "return new Map()",
	})
	add("", map[string]string{
		"work after the return":       "setTimeout(() => { for (;;) {} }, 0); return 1",
		"a promise nobody waits for":  "Promise.reject(new Error('floating')); await null; return 1",
		"a throw in a timer":          "setTimeout(() => { throw new Error('floating') }, 1); await new Promise((go) => setTimeout(go, 50)); return 1",
		"microtasks after the return": "const again = () => Promise.resolve().then(again); again(); return 1",
	})
	for i := range all {
		if strings.HasPrefix(all[i].name, "a promise nobody") || strings.HasPrefix(all[i].name, "a throw in") {
			all[i].says = "floating"
		}
	}
	return all
}

// definitions are tools that must not come to be, and some that look as if they must not.
func definitions() []hostile {
	var all []hostile
	with := func(name, want string, change map[string]any) {
		args := map[string]any{"name": "fill", "description": "d", "parameters": map[string]any{"type": "object"}, "body": "return 1", "if_exists": "replace"}
		for field, value := range change {
			args[field] = value
		}
		all = append(all, hostile{name: name, want: want, args: args})
	}
	schema := func(text string) map[string]any { return map[string]any{"parameters": json.RawMessage(text)} }
	deep := func(n int) string {
		return `{"type":"object","properties":{"a":` + strings.Repeat(`{"not":`, n) + `{}` + strings.Repeat(`}`, n) + `}}`
	}
	with("a deep schema", "invalid_schema", schema(deep(900)))
	with("a schema deeper than a message is read", "invalid_schema", schema(deep(1500)))
	with("a huge schema", "invalid_schema", schema(`{"type":"object","description":"`+strings.Repeat("x", 70_000)+`"}`))
	with("a remote reference", "invalid_schema", schema(`{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`))
	with("a reference to a file", "invalid_schema", schema(`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`))
	with("a reference to nothing", "invalid_schema", schema(`{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`))
	with("a reference to itself only", "invalid_schema", schema(`{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`))
	with("a tree, which is recursive and fine", "", schema(`{"type":"object","properties":{"t":{"$ref":"#/$defs/t"}},"$defs":{"t":{"type":"object","properties":{"l":{"$ref":"#/$defs/t"}}}}}`))
	with("a root that is no object", "invalid_schema", schema(`{"type":"array"}`))
	with("no schema at all", "invalid_schema", schema(`"object"`))
	with("a body over the limit", "body_too_large", map[string]any{"body": "return 1;" + strings.Repeat(" ", 64<<10)})
	for i, body := range []string{
		"return 1 } } globalThis.x = 1; { {",
		"} } globalThis.x = 1; async function other() { {",
		"}) ; globalThis.x = 1; (async () => {",
		"return 1 }; execute2 = async () => {",
		"return 1; // }\n} } {",
		"break L;",
		"*/ } } globalThis.x = 1; /*",
		"return `${1 } } globalThis.x = 1",
		"continue L",
		"export default 1; export const two = () => 2",
		"<!-- \n } } {",
		"'use strict'; } } with (globalThis) { {",
	} {
		with(fmt.Sprintf("a body that closes early, form %d", i+1), "syntax_error or invalid_definition", map[string]any{"body": body})
	}
	with("a module of two functions", "syntax_error or invalid_definition", map[string]any{"body": "export function a() {}\nexport function b() {}"})
	with("deep source", "syntax_error", map[string]any{"body": "return " + strings.Repeat("(", 30_000)})
	with("an import", "syntax_error or invalid_definition", map[string]any{"body": "import fs from 'fs'; export default () => 1"})
	with("a name in another case", "name_conflict", map[string]any{"name": "Fill", "if_exists": "error"})
	with("a name that looks alike", "name_conflict", map[string]any{"name": "fi1l", "if_exists": "error"})
	with("a built-in name", "name_conflict", map[string]any{"name": "run_code"})
	with("a built-in name in another case", "name_conflict", map[string]any{"name": "Run_Code"})
	with("a name that looks like a built-in's", "name_conflict", map[string]any{"name": "run-code"})
	for _, name := range []string{"", "9a", "a b", "a\r\nb", "<b>a</b>", "a\x1b[31m", "a\u202eb", "аdd", "javascript:a", strings.Repeat("a", 65), "__proto__"} {
		with(fmt.Sprintf("the name %.20q", name), "invalid_name", map[string]any{"name": name})
	}
	with("no description", "invalid_description", map[string]any{"description": ""})
	with("a long description", "invalid_description", map[string]any{"description": strings.Repeat("x", 4097)})
	with("a description of markup, kept as text", "", map[string]any{"description": "<script>alert(1)</script> [a](javascript:b) \x1b[2J\u202e\r\n"})
	with("an unknown language", "invalid_definition", map[string]any{"language": "python"})
	return all
}

// TestHostileInput tries them all on one running program, which answers an honest call after each.
func TestHostileInput(t *testing.T) {
	p := start(t, t.TempDir())
	defer func() { p.stop(t) }()
	p.greet(t)
	if code, said := p.ask(t, "create_tool", map[string]any{"name": "fill", "description": "d", "parameters": map[string]any{"type": "object"}, "body": "return 1"}); code != "" {
		t.Fatal(said)
	}
	lines := definitions()
	if testing.Short() {
		t.Log("bodies over their budgets are left out by -short: the race detector makes the engine forty times slower")
	} else {
		lines = append(lines, budgets()...)
	}
	for _, h := range lines {
		t.Run(h.name, func(t *testing.T) {
			with := "run_code"
			if h.args["name"] != nil {
				with = "create_tool"
			}
			began := time.Now()
			code, said := p.ask(t, with, h.args)
			if h.want != code && !(code != "" && strings.Contains(h.want, " or ") && strings.Contains(h.want, code)) {
				t.Errorf("got the code %q, want %q: %.300s", code, h.want, said)
			}
			if took := time.Since(began); took > 25*time.Second {
				t.Errorf("the answer took %v", took)
			}
			if !strings.Contains(said, h.says) {
				t.Errorf("the answer lacks %q: %.300s", h.says, said)
			}
			if code, said := p.ask(t, "call_tool", map[string]any{"name": "fill"}); code != "" || !strings.Contains(said, `"result":1`) {
				t.Errorf("an honest call afterwards got %s", said)
			}
		})
	}
}

func (p *program) greet(t *testing.T) {
	t.Helper()
	p.send(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"test","version":"1"},"capabilities":{}}}`)
	p.next(t, "")
	p.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// ask calls a tool and returns the code of its error, "" when there is none, and the whole answer.
func (p *program) ask(t *testing.T, name string, args map[string]any) (code, answer string) {
	t.Helper()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args}})
	if err != nil {
		t.Fatal(err)
	}
	p.send(t, string(line))
	got := p.next(t, "")
	var m struct {
		Result struct {
			IsError bool `json:"isError"`
			Content struct {
				Code string `json:"code"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(got, &m); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if m.Result.IsError != (m.Result.Content.Code != "") {
		t.Errorf("isError and the code do not agree: %.300s", got)
	}
	return m.Result.Content.Code, string(got)
}
