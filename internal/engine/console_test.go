package engine

import (
	"strings"
	"testing"
)

func TestConsoleShowsValuesAsPeopleReadThem(t *testing.T) {
	e := newEngine(t)
	for body, want := range map[string]string{
		`console.log('a', 1, true, null, undefined)`:                                          "info: a 1 true null undefined",
		`console.log('%s is %d, %i, %f, %j, %%, %x', 'x', 5, 5.9, '1.5', {a:1})`:              `info: x is 5, 5, 1.5, {"a":1}, %, %x`,
		`console.log('100%', 1)`:                                                              "info: 100% 1",
		`console.log({a:[1,{b:{c:{d:{e:1}}}}]})`:                                              "info: { a: [ 1, { b: { c: { d: [Object] } } } ] }",
		`const c={}; c.c=c; console.log(c)`:                                                   "info: { c: [Circular] }",
		`console.log(10n, Symbol('s'), -0, [,1], () => 1, class A {})`:                        "info: 10n Symbol(s) -0 [ <empty>, 1 ] [Function: (anonymous)] [class A]",
		`console.log(new Map([[1,{a:2}]]), new Set(['x']))`:                                   `info: Map(1) { 1 => { a: 2 } } Set(1) { "x" }`,
		`console.log({get x(){throw 1}, toString(){throw 2}})`:                                "info: { x: [Getter], toString: [Function: toString] }",
		`console.log(new Date(0), /a/g, new Uint8Array(2), new Date(NaN))`:                    "info: 1970-01-01T00:00:00.000Z /a/g Uint8Array(2) [ 0, 0 ] Invalid Date",
		`console.log(new Proxy({}, {ownKeys(){throw 1}}))`:                                    "info: [an object that cannot be shown]",
		`class P {x=1}; console.log(new P(), Object.create(null))`:                            "info: P { x: 1 } [Object: null prototype] {}",
		`console.group('g'); console.warn('in'); console.groupEnd(); console.error('out')`:    "info: g|warn:   in|error: out",
		`console.count(); console.count(); console.assert(false, 'no'); console.assert(true)`: "info: default: 1|info: default: 2|error: Assertion failed: no",
		`console.table([{a:1,b:'x'},{a:22}])`:                                                 "info: (index) │ a  │ b\n────────┼────┼────\n0       │ 1  │ \"x\"\n1       │ 22 │ ",
		`ctx.log.warn('from ctx')`:                                                            "warn: from ctx",
		`console.log()`:                                                                       "info: ",
	} {
		h := &noHost{}
		if _, meta := h.call(t, e, body+"; return null", "{}"); meta.Error != nil {
			t.Errorf("%s: %+v", body, meta.Error)
		}
		if got := strings.Join(h.lines, "|"); normalise(got) != normalise(want) {
			t.Errorf("%s\n got %q\nwant %q", body, got, want)
		}
	}
}

// normalise drops the spaces that a table pads its lines with at their ends.
func normalise(s string) string {
	lines := strings.Split(s, "\n")
	for n := range lines {
		lines[n] = strings.TrimRight(lines[n], " ")
	}
	return strings.Join(lines, "\n")
}

func TestLogIsCutAndCounted(t *testing.T) {
	e := newEngine(t)
	h := &noHost{}
	_, meta := h.call(t, e, "for (let i = 0; i < 100; i++) console.log('é'.repeat(5000)); return 1", "{}")
	total := 0
	for _, l := range h.lines {
		total += len(l)
		if !strings.HasPrefix(l, "info: é") || strings.ContainsRune(l, '\uFFFD') {
			t.Fatalf("%q", l[:20])
		}
	}
	if total > 64<<10 || int64(total)+meta.Dropped < 990_000 {
		t.Fatalf("%d bytes kept, %d dropped", total, meta.Dropped)
	}
}

// What a body does to the built-ins changes nothing of what the host sees, and
// nothing of the next call.
func TestPatchedBuiltinsChangeNothing(t *testing.T) {
	e := newEngine(t)
	for _, patch := range []string{
		"JSON.stringify = () => '\"patched\"'", "Promise.prototype.then = () => { throw 1 }", "Promise.prototype.then = null",
		"Object.defineProperty(Object.prototype, '0', {set() { throw 1 }, configurable: true})",
		"Object.defineProperty(Object.prototype, 'name', {set() { throw 1 }, get() { return 'evil' }, configurable: true})",
		"Array.prototype[Symbol.iterator] = () => { throw 1 }", "Array.prototype.join = () => 'patched'; Array.prototype.push = () => 'patched'",
		"Map.prototype.get = Map.prototype.set = () => { throw 1 }", "String.prototype.slice = String.prototype.indexOf = () => 'patched'",
		"Function.prototype.call = Function.prototype.apply = () => 'patched'", "Reflect.ownKeys = Object.keys = () => ['patched']",
		"globalThis.JSON = globalThis.Promise = globalThis.Map = globalThis.Error = undefined", "Error.prototype.toString = () => 'patched'",
		"Symbol.prototype[Symbol.toPrimitive] = () => 'patched'", "RegExp.prototype.test = RegExp.prototype.exec = () => false",
	} {
		h := &noHost{}
		out, meta := h.call(t, e, patch+"; console.log({a: [1, 'x']}, 'end'); return {a: [1, 'x']}", "{}")
		if out != `{"a":[1,"x"]}` {
			t.Errorf("%s: result %s %+v", patch, out, meta.Error)
		}
		if len(h.lines) != 1 || h.lines[0] != `info: { a: [ 1, "x" ] } end` {
			t.Errorf("%s: log %q", patch, h.lines)
		}
		_, meta = h.call(t, e, patch+"; throw new TypeError('real')", "{}")
		if meta.Error == nil || meta.Error.Message != "real" && !strings.Contains(patch, "globalThis") {
			t.Errorf("%s: error %+v", patch, meta.Error)
		}
	}
}
