package source

import (
	"crypto/rand"
	"strings"
	"testing"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// FuzzCompile: whatever is accepted is one expression that loads without
// running anything: its code, put in parentheses inside a labelled block of a
// function, leaves parentheses, block and function whole.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"return 1", "return 1; }\nevil();\nfunction x() {", "}}); evil(); (() => {{", "return `${`${a}`}`", "/* ", "*/", "<!--", "-->", "#!x",
		"export default async () => 1", "export const f = x => x", "import x from 'y'", "export {a as b}; var a = 1", "const s = `\nexport {\n  x\n};\n`\nexport default s",
		"using a = b; await using c = d", "L: { break L }", "'use strict'; with (a) b", "class A { @d static #p = /[/]/v }", "a\r\nb\u2028c", "await 1; export default 1",
		"```js\nreturn 1\n```", "let args, ctx", "return {a:1}/1/g", "x = a ? (b) : c => d", "enum E { A }", "interface I { a: string }", "$city", "import('x')", "require('x')",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, body string, typescript bool) {
		lang := tool.JavaScript
		if typescript {
			lang = tool.TypeScript
		}
		c, err := Compile(body, lang)
		if err != nil {
			checkRefusal(t, body, err)
			return
		}
		label := "L" + rand.Text()
		// An expression may stand in parentheses, and only an expression.
		r := transform("async function f() { "+label+": { (\n"+strings.TrimSpace(string(c.Code))+"\n); break "+label+"; } }", tool.JavaScript)
		if len(r.Errors) > 0 {
			t.Errorf("not one expression: %s\n%v", c.Code, r.Errors[0].Text)
		}
		c.Explain(&wire.Failure{Code: tool.CallFailed, Name: "E", Message: body, Stack: "    at f (t.js:2:3)\n" + body, Line: 2, Column: 5})
		c.Explain(&wire.Failure{Code: tool.SyntaxError, Message: "m", Line: 3, Column: 1})
	})
}

func checkRefusal(t *testing.T, body string, err error) {
	e, ok := err.(*tool.Error)
	if !ok {
		t.Fatalf("not an Error: %v", err)
	}
	report, ok := e.Details.(Report)
	if e.Code == tool.SyntaxError && (!ok || report.Line < 1 || report.Column < 1 || report.Line > strings.Count(body, "\n")+1) {
		t.Errorf("%q: place %d:%d of %s", body, report.Line, report.Column, e.Message)
	}
}
