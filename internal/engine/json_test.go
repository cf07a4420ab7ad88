package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// jsonTwice says "same" where response.json() of bytes gives what JSON.parse gives of their text, and what both gave otherwise.
const jsonTwice = `const show = (f) => { try { const v = f(); return JSON.stringify([v, typeof v, Object.is(v, -0), v && Object.getOwnPropertyNames(v)]) } catch (e) { return 'thrown' } };
	const own = (v) => Object.is(v, -0) ? '-0' : v === null || typeof v !== 'object' ? v : Array.isArray(v) ? v.map(own) : Object.keys(v).map(k => [k, own(v[k])]);
	let fast; try { const v = await new Response(new Uint8Array(args.bytes)).json(); fast = show(() => own(v)) } catch { fast = 'thrown' }
	const slow = show(() => own(JSON.parse(new TextDecoder().decode(new Uint8Array(args.bytes)))));
	return fast === slow ? 'same' : fast + ' instead of ' + slow`

// bytesOf is args of jsonTwice.
func bytesOf(text string) string {
	list := make([]string, len(text))
	for n := range len(text) {
		list[n] = strconv.Itoa(int(text[n]))
	}
	return `{"bytes":[` + strings.Join(list, ",") + `]}`
}

func jsonTexts() []string {
	texts := []string{
		`1`, ` -0 `, `-0.0`, `1e400`, `-1e400`, `1e-400`, `0.1`, `123456789012345678901234567890`, `2147483648`, `-2147483648`, `01`, `1.`, `.5`, `+1`, `1e`, `1e+`, `-`, `--1`, `1 2`,
		`true`, `false`, `null`, `tru`, `nullx`, `undefined`, `NaN`, `""`, `"a"`, `"é𝄞"`, `"\n\t\"\\\/\u0041"`, `"\ud834\udd1e"`, `"\ud800"`, `"\uD800x"`, `"\x"`, `"\u12"`, `"`, `"\`, "\"a\nb\"", "\"\x00\"",
		"\"\xff\"", "\"\u2028\"", "\ufeff1", `[]`, `[ ]`, `[1,2 , 3]`, `[1,]`, `[,1]`, `[1 2]`, `[`, `]`, `[[[]]]`, `{}`, `{ }`, `{"a":1}`, `{"a":1,"a":2}`, `{"b":1,"a":2,"1":3,"0":4}`, `{"__proto__":{"x":1}}`,
		`{"__proto__":1,"constructor":2,"toString":3}`, `{"":1}`, `{"\u0061":1,"a":2}`, `{a:1}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1`, `{"é":[{"é":1},{"é":2}]}`, `[{"x":[1,{"y":null}]},"z"]`, ``, ` `,
		strings.Repeat("[", 150) + strings.Repeat("]", 150), strings.Repeat("[", 300) + strings.Repeat("]", 300), strings.Repeat("[", 3000),
		`{"4294967295":1,"4294967294":2,"2147483648":3}`,
		// numbers that are short, and that nearly are
		`[0,7,42,0.5,1.25,0.1,0.7,123456.789,99999999999999,999999999999999,9999999999999999,0.00000000000001,1.0000000000001,12345678901234.5,4.35,1.005,2.675,1e5,1.5e3,1E2,0e0,0.0,0]`,
		`00`, `0.`, `0..1`, `1.2.3`, `0x1`, `1a`, `1.a`, `9.e1`, `[1.]`, `[00]`, `[0.1.]`, `[1`, `[1.5`, `[12345678901234567.25]`,
		// rows of one shape, and rows that leave it
		`[{"a":1,"b":2},{"a":3,"b":4},{"a":5,"b":6},{"a":7,"b":8},{"a":9,"b":0},{"a":1,"b":2}]`,
		`[{"a":1,"b":2},{"a":3},{"a":5,"b":6,"c":7},{"b":8,"a":7},{},{"a":1,"b":2},{"c":1},[],1,{"a":{"a":1}},{"a":{"a":2}},{"a":{"a":3}}]`,
		`[{"a":1},{"a":1,"a":2},{"a":1,"a":2},{"a":1,"a":2},{"a":1,"a":2},{"a":1,"a":2,"b":3}]`,
		`[{"1":1,"a":2},{"1":3,"a":4},{"1":5,"a":6},{"1":7,"a":8},{"1":9,"a":0}]`,
		`[{"__proto__":1,"x":2},{"__proto__":3,"x":4},{"__proto__":5,"x":6},{"__proto__":7,"x":8},{"__proto__":9,"x":0}]`,
		`[[{"a":1},{"a":2},{"a":3},{"a":4}],[{"b":1},{"b":2},{"b":3},{"b":4}],[{"a":[{"a":1},{"a":2},{"a":3},{"a":4}]}],[],[{"a":1,"b":1}]]`,
		`[{"a":1,"b":2},{"a":3,"b":4},{"a":5,"b":6},{"a":7,"b":8},{"a":9,"b":`,
		`[{"\u0061":1,"b":1},{"\u0061":1,"b":1},{"\u0061":1,"b":1},{"\u0061":1,"b":1},{"\u0061":1,"b":1}]`,
	}
	wide := make([]string, 40)
	for n := range wide {
		wide[n] = fmt.Sprintf(`"name %d":%d`, n, n)
	}
	return append(texts, "["+strings.Repeat("{"+strings.Join(wide, ",")+"},", 6)+"null]")
}

// TestJSONOfBytesIsThatOfText holds what response.json() gives against JSON.parse.
func TestJSONOfBytesIsThatOfText(t *testing.T) {
	e := newEngine(t)
	h := &noHost{}
	code := compiled(t, e, jsonTwice)
	for _, text := range jsonTexts() {
		out, meta := ran(e.Start(h.job(code, bytesOf(text), 5*time.Second)))
		if string(out) != `"same"` {
			t.Errorf("%.60q: %s %+v", text, out, meta.Error)
		}
	}
}

// FuzzJSONOfBytes looks for bytes that response.json() takes for something else than JSON.parse does.
func FuzzJSONOfBytes(f *testing.F) {
	for _, text := range jsonTexts() {
		f.Add(text)
	}
	e := newEngine(f)
	h := &noHost{}
	code := compiled(f, e, jsonTwice)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		out, meta := ran(e.Start(h.job(code, bytesOf(text), 5*time.Second)))
		if string(out) != `"same"` {
			t.Errorf("%s %+v", out, meta.Error)
		}
	})
}

// TestJSONRunsNoCodeAndEndsWithMemory has a body in wait for what a parser could run, and one with no room.
func TestJSONRunsNoCodeAndEndsWithMemory(t *testing.T) {
	e := newEngine(t)
	h := &noHost{}
	for body, want := range map[string]string{
		`let ran = 0; for (const k of ['7', 'a']) Object.defineProperty(Object.prototype, k, {set() { ran++ }, configurable: true});
		 const v = await new Response('{"a":[1,2,3,4,5,6,7,{"a":1}]}').json(); return [ran, Object.keys(v), v.a.length]`: `[0,["a"],8]`,
		`const big = new Response('[' + '{"a":[1,2,3]},'.repeat(400000) + '1]'); await big.json(); return 1`: "memory_exceeded",
	} {
		job := h.job(compiled(t, e, body), `{}`, 20*time.Second)
		job.Memory = 64 << 20
		out, meta := ran(e.Start(job))
		if string(out) != want && (meta.Error == nil || string(meta.Error.Code) != want) {
			t.Errorf("%s: %s %+v", body, out, meta.Error)
		}
	}
	if out, f := h.call(t, e, "return (await new Response('[1]').json())[0]", `{}`); out != "1" {
		t.Errorf("the next call: %s %+v", out, f.Error)
	}
}
