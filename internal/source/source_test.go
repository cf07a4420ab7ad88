package source

import (
	"encoding/json"
	"strings"
	"testing"

	"toolroom/internal/wire"
	"toolroom/tool"
)

func mustCompile(t *testing.T, body string, lang tool.Language) *Compiled {
	t.Helper()
	c, err := Compile(body, lang)
	if err != nil {
		t.Fatalf("Compile(%q): %v", clip(body, 200), err)
	}
	return c
}

func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct {
		name, body   string
		line, column int
		message      string
		hint         string
	}{
		{"closes early", "return 1; }\nglobalThis.owned = true;\nasync function x() { return 2;", 1, 11, "closes its function too early", `"}" too many`},
		{"closes the label's block only", "}\nevil();\n{", 1, 1, "closes", ""},
		{"closes twice", "}}\nevil();\n{{", 1, 1, "", ""},
		{"closes the call", "}}); evil(); (() => {{", 1, 1, "closes its function too early", ""},
		{"closes in a template", "return `${1}}`; }", 1, 17, "closes its function too early", ""},
		{"ends a comment", "*/ evil(); /*", 1, 1, "", ""},
		{"open comment", "return 1; /* todo", 1, 18, `"*/"`, "still open"},
		{"open string", "return 'abc", 1, 12, "Unterminated string", ""},
		{"open template", "return `abc", 1, 12, "Unterminated", "still open"},
		{"open regex", "return /abc", 1, 12, "Unterminated regular expression", ""},
		{"open bracket", "if (x) {\n  f(1,\n", 2, 7, "end of the body", "still open"},
		{"open block", "if (x) {", 1, 9, "end of the body", "still open"},
		{"half a statement", "const x =", 1, 10, "end of the body", ""},
		{"guesses the label", "break L;", 1, 7, "label", ""},
		{"a line comment at the end cannot swallow the wrapper", "return 1; }//", 1, 11, "closes", ""},
		{"hashbang", "#!/usr/bin/env node\nreturn 1", 1, 2, "", "#!"},
		{"arrow at the start", "--> x\n}", 2, 1, "closes", ""},
		{"await in a callback", "[1].forEach(n => { await n; });", 1, 20, `"await" can only be used`, "forEach does not wait"},
		{"static import", "import axios from 'axios';\nreturn 1;", 1, 1, `"import" is not available`, "fetchJson"},
		{"import for its effects", "const a = 1;\n  import 'node:fs'\nreturn a", 2, 3, `"import"`, "ctx.readText"},
		{"import in a module", "import { x } from './x.js';\nexport default () => x;", 1, 1, `"import"`, "Remove the import"},
		{"re-export", "export * from './x.js';\nexport default () => 1;", 1, 15, "cannot import", ""},
		{"two exports", "export const a = () => 1;\nexport const b = () => 2;", 1, 1, "2 exports", "exactly one function"},
		{"an object exported", "export default { run() {} };", 1, 1, "not a function", ""},
		{"a class exported", "export default class A {}", 1, 1, "not a function", ""},
		{"return in a module", "export default () => 1;\nreturn 2;", 2, 1, "a module cannot return", ""},
		{"parameter again", "let args = 1;", 1, 5, `"args" has already been declared`, "parameters of the function already"},
		{"code fence", "```js\nreturn 1;\n```", 1, 1, "code fence", "without the ```"},
		{"code fence of TypeScript", "\n  ```typescript\nconst n = 2;\nreturn `n=${n}`;\n```", 2, 3, "code fence", ""},
		{"prose and fence", "Here is the code:\n```js\nreturn 1\n```", 1, 6, "", "without prose"},
		{"TypeScript as JavaScript", "const a: string = 'x';\nreturn a;", 1, 8, `found ":"`, `"typescript"`},
		{"column after wide characters", "const s = '\u00e9\U0001F600'; return )", 1, 25, `Unexpected ")"`, ""},
		{"CRLF", "const a = 1;\r\n\r\nreturn );", 3, 8, `Unexpected ")"`, ""},
		{"bad UTF-8", "return 1;\nreturn '\xff'", 2, 9, "UTF-8", ""},
		{"JSX", "return <div/>;", 1, 8, "JSX", "templates"},
		{"dynamic function", "super.x()", 1, 1, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(c.body, tool.JavaScript)
			e, ok := err.(*tool.Error)
			if !ok || e.Code != tool.SyntaxError {
				t.Fatalf("got %v, want syntax_error", err)
			}
			report := e.Details.(Report)
			if report.Line != c.line || report.Column != c.column {
				t.Errorf("at %d:%d, want %d:%d: %s", report.Line, report.Column, c.line, c.column, e.Message)
			}
			if !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("got %q hint %q\nwant %q hint %q", e.Message, e.Hint, c.message, c.hint)
			}
			if strings.Contains(e.Message, "LA") && strings.Contains(e.Message, "label named") {
				t.Errorf("the wrapper shows: %s", e.Message)
			}
		})
	}
}

func TestCompileOtherCodes(t *testing.T) {
	for _, c := range []struct {
		body string
		lang tool.Language
		code tool.Code
	}{
		{strings.Repeat("x", MaxBody+1), "", tool.BodyTooLarge},
		{"", "", tool.InvalidDefinition},
		{" \n", "", tool.InvalidDefinition},
		{"return 1", "python", tool.InvalidDefinition},
	} {
		if _, err := Compile(c.body, c.lang); tool.CodeOf(err) != c.code {
			t.Errorf("Compile(%.20q, %q): %v, want %s", c.body, c.lang, err, c.code)
		}
	}
}

// TestDeepSource: each of these costs the parser seconds, gigabytes or the
// process if it is let through.
func TestDeepSource(t *testing.T) {
	repeat := func(s string) string { return strings.Repeat(s, 60000/len(s)) }
	for _, unit := range []string{
		"[", "(", "{", "[{", "a=>", "(a=1)=>", "((a=1)=>", "!", "- ", "~", "a=", "a?b:", "a?(b):", "a**", "new ", "await ", "typeof ",
		"if(a)", "for(;;)", "a.b", "a()", "a[0]", "a?.b", "`${", "function(){x=", "class{a=", "{a:", "async(", "a<b>(", "<T>(", "a<", "@(",
		"else if(a)", "l:", "[/*]*/", "[']'+", "[/]/,", "[`]`,", "}/[/", "x={}/[/1\n", "of/[/\n", "<!--'\n[", "a\n!", "if(a)\n", "a=>\n", "throw[",
	} {
		for _, lang := range []tool.Language{tool.JavaScript, tool.TypeScript} {
			for _, body := range []string{repeat(unit), "x=" + repeat(unit) + "1", "return " + repeat(unit)} {
				if _, err := Compile(body, lang); err != nil && tool.CodeOf(err) != tool.SyntaxError {
					t.Errorf("%s %q: %v", lang, unit, err)
				}
			}
		}
	}
	if _, err := Compile("return "+strings.Repeat("[", 30000)+strings.Repeat("]", 30000), ""); err == nil || !strings.Contains(err.Error(), "nested too deeply") {
		t.Errorf("got %v", err)
	}
}

// TestHiddenDepth: ways to make the scan take code for text, one for each place
// where the language leaves a slash, a quote or a line end in doubt.
func TestHiddenDepth(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for _, c := range []struct{ before, after string }{
		{"", ""}, {"await(x)/", "/1"}, {"async/", "/1"}, {"x=[...await /'/,", ",/'/]"}, {"a\n!/'/,", ",/'/"}, {"a\n++/'/,", ",/'/"},
		{"// x\r", ""}, {"// x\u2028", ""}, {"'\\\r\n';", ""}, {"a\u00a0/", "/1"}, {"\u2118/", "/1"}, {"while(1){break\n/'/,", ",/'/}"},
		{"debugger\n/'/,", ",/'/"}, {"x={}/'/,", ",/'/"}, {"{}/'/,", ",/'/"}, {"if(a)/'/,", ",/'/"}, {"f(a)/", "/1"}, {"a.if(a)/", "/1"},
		{"`${", "}`"}, {"`${`${", "}`}`"}, {"/[/]/,", ""}, {"<!-- '\n", ""}, {"x\n--> '\n", ""}, {"a/* */\n/", "/1"}, {"as/", "/1"},
		{"function f(){await/", "/1}"}, {"a.return/", "/1"}, {"a?.typeof/", "/1"}, {"#!'\n", ""}, {"a\\u0061/", "/1"},
	} {
		for _, lang := range []tool.Language{tool.JavaScript, tool.TypeScript} {
			if tooDeep(c.before+deep+c.after, lang) == nil {
				t.Errorf("%s: %q hides depth", lang, c.before)
			}
		}
	}
}

// TestPlainSourceIsNotDeep: long but ordinary code passes the measure.
func TestPlainSourceIsNotDeep(t *testing.T) {
	for _, body := range []string{
		"return [" + strings.Repeat("1,", 30000) + "]",
		"return {" + strings.Repeat("a: 'x', ", 8000) + "}",
		strings.Repeat("if (a) { f(1) } else { g(2) }\n", 2000) + "return 1",
		strings.Repeat("let x = f(a.b.c, 1)\nx()\n", 2500)[:60000],
		"let s = ''\n" + strings.Repeat("s += `line ${a} and ${b.c(1)}` + '\\n'\n", 1500) + "return s",
		"switch (a) {\n" + strings.Repeat("case 1: case 2:\n", 3000) + "}",
		"return x" + strings.Repeat(".replace(/[(]/g, '')", 200),
		"return " + strings.Repeat("'a' + ", 9000) + "''",
		"const a = 1\n" + strings.Repeat("if (a) return 1\n", 3000),
		strings.Repeat("[", 200) + strings.Repeat("]", 200),
	} {
		text := body
		if p := tooDeep(text, tool.JavaScript); p != nil {
			p.place(text)
			t.Errorf("%.60q: %d:%d %s", body, p.Line, p.Column, p.Message)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ body, says string }{
		{"return 1", ""},
		{"if (a) { return 1 }", ""},
		{"with (args) { return a }", ""},
		{"const f = () => { return 1 }; f()", "never returns"},
		{"async (args) => args.a * 2", "only an arrow function"},
		{"async function execute(args, ctx) {\n  return 1;\n}", "declares a function that nothing calls"},
		{"async function run() { return 1 }\nrun()", "End with return"},
		{"module.exports = async (args) => 1;", "Do not export"},
		{"const x = require('crypto'); return x", "require is not available. Remove it: crypto.subtle"},
		{"return process.env.KEY", "env.vars"},
		{"return Buffer.from('x').toString('base64')", "btoa"},
		{"const f = await import('x'); return f", "import() is not available"},
		{"return typeof process === 'undefined'", ""},
		{"const require = (x) => x; return require('y')", ""},
		{"return 'require(process) module.exports' // Buffer", ""},
		{"return args.process", ""},
		{"export default () => { return 1 }", ""},
	} {
		var said []string
		for _, w := range mustCompile(t, c.body, "").Warnings {
			said = append(said, w.Message)
		}
		all := strings.Join(said, "\n")
		if c.says == "" && all != "" || !strings.Contains(all, c.says) {
			t.Errorf("%q: got %q, want %q", c.body, all, c.says)
		}
	}
}

func TestSameBodySameCode(t *testing.T) {
	for _, body := range []string{"return 1", "export default () => 1"} {
		a, b := mustCompile(t, body, ""), mustCompile(t, body, "")
		if string(a.Code) != string(b.Code) || string(a.Map) != string(b.Map) {
			t.Errorf("%q gives different code", body)
		}
	}
	if Key("a", "") != Key("a", tool.JavaScript) || Key("a", "") == Key("a", tool.TypeScript) || Key("a", "") == Key("b", "") {
		t.Error("keys")
	}
}

func TestExplainCapability(t *testing.T) {
	c := mustCompile(t, "return 1", "")
	denied, _ := json.Marshal(tool.Errorf(tool.EgressDenied, "no").WithHint("ask"))
	if e := c.Explain(&wire.Failure{Code: tool.CallFailed, Message: "x", Capability: denied}); e.Code != tool.EgressDenied || e.Message != "no" || e.Hint != "ask" {
		t.Errorf("got %+v", e)
	}
	for _, forged := range []string{`{"code":"forbidden","message":"x"}`, `{"code":"nonsense"}`, `[`, `{}`} {
		if e := c.Explain(&wire.Failure{Code: tool.CallFailed, Message: "x", Capability: []byte(forged)}); e.Code != tool.CallFailed {
			t.Errorf("%s: got %+v", forged, e)
		}
	}
	for _, code := range []tool.Code{"", "nonsense", tool.Forbidden, tool.Internal} {
		if e := c.Explain(&wire.Failure{Code: code, Message: "x", Stack: "    at f (t.js:99999999999999999999:1)", Line: -1, Column: 1 << 40}); e.Code != tool.CallFailed {
			t.Errorf("%q: got %+v", code, e)
		}
	}
}

func TestExplainKeepsWhatIsNotThrown(t *testing.T) {
	c := mustCompile(t, "(args) => 1", "")
	e := c.Explain(&wire.Failure{Code: tool.ResultNotJSON, Message: "the result is undefined"})
	if e.Code != tool.ResultNotJSON || !strings.Contains(e.Hint, "return") {
		t.Errorf("got %+v", e)
	}
	e = c.Explain(&wire.Failure{Code: tool.MemoryExceeded, Message: "m", Hint: "h"})
	if e.Code != tool.MemoryExceeded || e.Hint != "h" {
		t.Errorf("got %+v", e)
	}
}

func BenchmarkCompile(b *testing.B) {
	body := strings.Repeat("const x = args.a.map(n => n * 2).filter(n => n > 3);\n", 1) + "return { x, at: new Date() };"
	for b.Loop() {
		if _, err := Compile(body, ""); err != nil {
			b.Fatal(err)
		}
	}
}
