package source_test

import (
	"strings"
	"testing"
	"time"

	"toolroom/internal/engine"
	"toolroom/internal/source"
	"toolroom/internal/wire"
	"toolroom/tool"
)

// host answers nothing.
type host struct{}

func (host) Request(uint32, string, []byte, []byte) {}
func (host) Abort(uint32)                           {}
func (host) Log(string, time.Duration, string)      {}
func (host) Progress(tool.Progress)                 {}

// runner compiles and runs bodies in the real engine.
type runner struct{ engine *engine.Engine }

func newRunner(t *testing.T) runner {
	t.Helper()
	e, err := engine.New(engine.Options{Isolates: 1, Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return runner{e}
}

func (r runner) run(t *testing.T, body string, lang tool.Language) (string, *tool.Error) {
	t.Helper()
	c, err := source.Compile(body, lang)
	if err != nil {
		t.Fatalf("Compile(%q): %v", body, err)
	}
	code, failure := r.engine.Compile("tool.js", c.Code)
	if failure != nil {
		t.Fatalf("the engine refuses %s: %+v", c.Code, failure)
	}
	call := r.engine.Start(&engine.Job{Code: code, Args: []byte(`{"a":2,"city":"Rome"}`), Env: []byte(`{"tool":"t"}`),
		Timeout: 5 * time.Second, Memory: 64 << 20, MaxResult: 1 << 20, MaxLog: 1 << 16, Host: host{}})
	var value string
	var failed *tool.Error
	call.Run(func(result []byte, meta wire.ResultMeta) {
		value = string(result)
		if meta.Error != nil {
			value, failed = "", c.Explain(meta.Error)
		}
	})
	return value, failed
}

func TestBodiesRun(t *testing.T) {
	r := newRunner(t)
	for _, c := range []struct {
		name, body string
		lang       tool.Language
		want       string
	}{
		{"body", "return args.a + 1", "", `3`},
		{"byte order mark", "\ufeffreturn 3;", "", `3`},
		{"CRLF in a template", "const a = 1;\r\nconst b = `x\r\ny`;\r\nreturn b.length + a;", "", `4`},
		{"HTML comment", "const x = 1;\nreturn x; <!-- done", "", `1`},
		{"line comment at the end", "return 1 // done", "", `1`},
		{"sloppy", "total = 0; for (item of [1,2,3]) total += item; return total;", "", `6`},
		{"with", "with (args) { return a }", "", `2`},
		{"strict on request", "'use strict'; try { undeclared = 1 } catch (e) { return e.name }", "", `"ReferenceError"`},
		{"a directive in words", "return (function () { return this === undefined })()", "", `false`},
		{"label of one's own", "L: { break L } return 1", "", `1`},
		{"mustache", "return 'Bearer {{API_KEY}}';", "", `"Bearer {{API_KEY}}"`},
		{"non-ASCII", "const größe = '\u00e9\U0001F600'; return größe", "", "\"\u00e9\U0001F600\""},
		{"comparison chain stays JavaScript", "const b = 1, c = 0; return args.a < b > c", "", `false`},
		{"using", "const log = []; { using x = { [Symbol.for('Symbol.dispose')]() { log.push('gone') } }; log.push('in') } return log", "", `["in","gone"]`},
		{"shadowing a global", "const fetch = 1; return fetch", "", `1`},
		{"default export", "export default async function (args) { return args.a; }", "", `2`},
		{"default arrow", "export default (args, ctx) => typeof ctx", "", `"object"`},
		{"named export", "const k = 2;\nexport async function run({ a }) { return a * k; }", "", `4`},
		{"const arrow export", "export const run = async (args) => args.city", "", `"Rome"`},
		{"renamed export", "function f() { return 7 }\nexport { f as run }", "", `7`},
		{"module is strict", "export default () => { try { undeclared = 1 } catch (e) { return e.name } }", "", `"ReferenceError"`},
		{"top-level await", "const k = await Promise.resolve(5);\nexport default () => k", "", `5`},
		{"module state is new each call", "let n = 0;\nexport default () => ++n", "", `1`},
		{"names of the wrapper", "const args = 1, ctx = 2, execute = 3;\nexport default (a) => [a.a, args, ctx, execute]", "", `[2,1,2,3]`},
		{"export in a string", "return 'export default 1\\nexport {'", "", `"export default 1\nexport {"`},
		{"clause in a template", "const s = `\nexport {\n  x\n};\n`;\nexport default () => s.length", "", `17`},
		{"TypeScript", "interface Row { id: string; n?: number }\nconst rows = [{ id: 'a', n: 2 }] satisfies Row[];\nfunction pick<T, K extends keyof T>(o: T, k: K): T[K] { return o[k]; }\nenum E { A = 1 }\nreturn [pick(rows[0], 'id'), rows[0].n!, E.A as number];", tool.TypeScript, `["a",2,1]`},
		{"TypeScript arrow and regex", "const id = <T,>(x: T): T => x;\nreturn [id('q'), (args.a < 3) as boolean, /<\\/?b>/.test('<b>')];", tool.TypeScript, `["q",true,true]`},
		{"TypeScript module", "type A = { a: number };\nexport default async ({ a }: A): Promise<number> => a", tool.TypeScript, `2`},
		{"type import", "import type { X } from './x';\nexport default () => 1", tool.TypeScript, `1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := r.run(t, c.body, c.lang)
			if err != nil || got != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestThrownInTheAuthorsLines(t *testing.T) {
	r := newRunner(t)
	for _, c := range []struct {
		name, body   string
		lang         tool.Language
		line, column int
		message      string
		hint         string
	}{
		{"first line", "  null.x", "", 1, 3, "TypeError", "undefined or null"},
		{"third line", "const a = 1;\n\n  throw new Error('boo')", "", 3, 13, "Error: boo (line 3, column 13)", ""},
		{"CRLF", "const a = 1;\r\n\r\n  throw new Error('boo')", "", 3, 13, "Error: boo", ""},
		{"nested", "function inner(x) {\n  return x.y.z\n}\nreturn inner({})", "", 2, 0, "TypeError", ""},
		{"TypeScript", "interface A {\n  b: string\n}\nconst x: A | null = null;\nreturn (x as any).b", tool.TypeScript, 5, 0, "TypeError", ""},
		{"module", "const k = 1;\nexport default async (args) => {\n  throw new RangeError('far')\n}", "", 3, 0, "RangeError: far", ""},
		{"module's top level", "const k = 1;\nnull.f();\nexport default () => 1", "", 2, 0, "TypeError", ""},
		{"after await", "await null;\nawait undefined;\nthrow new Error('late')", "", 3, 0, "late", ""},
		{"require", "const fetch = require('node-fetch');\nreturn 1", "", 1, 0, "require", "already global"},
		{"require crypto", "const c = require(\"crypto\");\nreturn 1", "", 1, 0, "require", "crypto.subtle"},
		{"dollar", "return 'sunny in ' + $city;", "", 1, 0, "$city", "args.city"},
		{"module.exports", "module.exports.run = { h() {} };", "", 1, 0, "module", "Do not export"},
		{"process", "return process.env.X", "", 1, 0, "process", "env.vars"},
		{"lodash", "return _.map([], 1)", "", 1, 0, "_", "Array and Object"},
		{"JSON of HTML", "return JSON.parse('<html>')", "", 1, 0, "SyntaxError", "HTML"},
		{"a string", "throw 'plain'", "", 0, 0, "plain", ""},
		{"not a function export", "const x = Math.max(1);\nexport default x", "", 0, 0, "the export of the module is not a function", ""},
		{"no return", "(args) => 1", "", 0, 0, "", "return"},
	} {
		t.Run(c.name, func(t *testing.T) {
			value, e := r.run(t, c.body, c.lang)
			if e == nil {
				t.Fatalf("got %s, want an error", value)
			}
			thrown, _ := e.Details.(tool.Thrown)
			if c.line > 0 && thrown.Line != c.line || c.column > 0 && thrown.Column != c.column {
				t.Errorf("at %d:%d, want %d:%d\n%s", thrown.Line, thrown.Column, c.line, c.column, thrown.Stack)
			}
			if !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("got %q hint %q\nwant %q hint %q", e.Message, e.Hint, c.message, c.hint)
			}
		})
	}
}

// TestNothingRunsOutside: code evaluates to a function, and loading it runs
// nothing of the author's, whichever form it has.
func TestNothingRunsOutside(t *testing.T) {
	r := newRunner(t)
	for _, body := range []string{"owned = true; return 1", "globalThis.owned = true;\nexport default () => 1"} {
		c, err := source.Compile(body, "")
		if err != nil {
			t.Fatal(err)
		}
		probe := "const f = " + strings.TrimSpace(string(c.Code)) + ";\nreturn [typeof f, typeof globalThis.owned]"
		if got, e := r.run(t, probe, ""); e != nil || got != `["function","undefined"]` {
			t.Errorf("%q: got %s, %v", body, got, e)
		}
	}
}
