package engine

import (
	"strings"
	"testing"

	"toolroom/tool"
)

func TestResultsAreJSON(t *testing.T) {
	e := newEngine(t)
	for body, want := range map[string]string{
		"return null": "null", "return 1": "1", "return -0": "0", "return 'é\\u2028\"\\\\\\n\\u0000'": `"é` + "\u2028" + `\"\\\n\u0000"`,
		"return [1e21, 0.1+0.2, 2**53-1, 5e-324, 123456789012345680000, 1e-7, 1e-6]": `[1e+21,0.30000000000000004,9007199254740991,5e-324,123456789012345680000,1e-7,0.000001]`,
		"return {a:1,b:undefined,c:[1,undefined,3]}":                                 `{"a":1,"c":[1,null,3]}`,
		"return new Date(0)": `"1970-01-01T00:00:00.000Z"`, "return {d:new Date(0)}": `{"d":"1970-01-01T00:00:00.000Z"}`,
		"return '😀!'.slice(0,1)": `"\ud83d"`, "return {'😀'.slice(1)]:1}": "",
		"class P{#x=1; y=2; get z(){return 3}} const o=Object.create(null); o.a=new P(); o[Symbol('s')]=1; Object.defineProperty(o,'hid',{value:9}); return o": `{"a":{"y":2}}`,
		"return [new Number(3), new String('s'), new Boolean(false)]":                                                                                          `[3,"s",false]`,
		"return {toJSON(){return {toJSON(){return 5}}}}":                                                                                                       `5`,
		"const x={a:1}; return [x,x]":        `[{"a":1},{"a":1}]`,
		"return new Proxy([1,2],{})":         `[1,2]`,
		"return {b:1,a:2,10:3,2:4}":          `{"2":4,"10":3,"b":1,"a":2}`,
		"return 'a' + 'b'.repeat(600) + 'c'": `"a` + strings.Repeat("b", 600) + `c"`,
		"return [Math.random() !== Math.random(), typeof process, typeof require, typeof Buffer, typeof std, typeof os]": `[true,"undefined","undefined","undefined","undefined","undefined"]`,
	} {
		if want == "" {
			continue
		}
		if out, meta := (&noHost{}).call(t, e, body, "{}"); out != want {
			t.Errorf("%s\n got %s %+v\nwant %s", body, out, meta.Error, want)
		}
	}
}

func TestWhatHasNoJSONFormIsNamed(t *testing.T) {
	e := newEngine(t)
	for body, want := range map[string]string{
		"return undefined":                       "result is undefined",
		"":                                       "result is undefined",
		"return {items:[0,1,2,{total:NaN}]}":     "result.items[3].total is NaN",
		"return {items:[1/0]}":                   "result.items[0] is +Inf",
		"return [10n]":                           "result[0] is a BigInt",
		"return () => 1":                         "result is a function",
		"return {f(){}}":                         "result.f is a function",
		"return [Symbol('x')]":                   "result[0] is a symbol",
		"const a={name:'a'}; a.self=a; return a": "result.self is circular",
		"const a=[]; a.push([a]); return a":      "result[0][0] is circular",
		"return {byId:new Map()}":                "result.byId is a Map",
		"return new Set()":                       "result is a Set",
		"return new Uint8Array(2)":               "result is binary data",
		"return new ArrayBuffer(2)":              "result is binary data",
		"return [1].map(async x => x)":           "result[0] is a Promise that was not awaited",
		"return {e:new Error('x')}":              "result.e is an Error",
		"return /x/":                             "result is a regular expression",
		"return [1].values()":                    "result is an iterator",
		"return (function*(){})()":               "result is an iterator",
		"return {when:new Date(NaN)}":            "result.when is an invalid Date",
		"return new WeakMap()":                   "result is a weak collection",
		"return {a:{toJSON(){return [1n]}}}":     "result.a[0] is a BigInt",
	} {
		_, meta := (&noHost{}).call(t, e, body, "{}")
		if meta.Error == nil || meta.Error.Code != tool.ResultNotJSON || !strings.HasPrefix(meta.Error.Message, want) || meta.Error.Hint == "" {
			t.Errorf("%s\n got %+v\nwant %s", body, meta.Error, want)
		}
	}
}

func TestResultLimitCountsEncodedBytes(t *testing.T) {
	e := newEngine(t)
	for body, fits := range map[string]bool{
		"return 'x'.repeat((1<<20)-2)": true, "return 'x'.repeat((1<<20)-1)": false,
		"return 'é'.repeat((1<<19)-1)": true, "return 'é'.repeat(1<<19)": false,
		"return '\\0'.repeat(174762)": true, "return '\\0'.repeat(174763)": false,
		"return Array(1<<19).fill(1).concat([1])": false,
	} {
		out, meta := (&noHost{}).call(t, e, body, "{}")
		if fits != (meta.Error == nil) || !fits && meta.Error.Code != tool.ResultTooLarge {
			t.Errorf("%s: %d bytes, %+v", body, len(out), meta.Error)
		}
	}
}

func TestThrownValuesAreDescribed(t *testing.T) {
	e := newEngine(t)
	for body, want := range map[string][2]string{
		"throw new TypeError('boo')": {"TypeError", "boo"},
		"throw 'text'":               {"", "text"},
		"throw {code: 5}":            {"", "{ code: 5 }"},
		"throw null":                 {"", "null"},
		"throw undefined":            {"", "undefined"},
		"class Mine extends Error { name = 'Mine' } throw new Mine('m')":                {"Mine", "m"},
		"throw new Error('a', {cause: new TypeError('b')})":                             {"Error", "a (cause: TypeError: b)"},
		"throw Object.assign(new Error('x'), {code: 'egress_denied', retryable: true})": {"Error", "x"},
		"throw {name:'TypeError', message:'m', code:'timeout'}":                         {"", `{ name: "TypeError", message: "m", code: "timeout" }`},
		"throw new DOMException('m', 'AbortError')":                                     {"AbortError", "m"},
		"return x": {"ReferenceError", "'x' is not defined"},
		"throw new Error({toString() { throw 1 }})": {"", "1"},
	} {
		_, meta := (&noHost{}).call(t, e, body, "{}")
		if meta.Error == nil || meta.Error.Code != tool.CallFailed || meta.Error.Capability != nil ||
			meta.Error.Name != want[0] || meta.Error.Message != want[1] {
			t.Errorf("%s\n got %+v\nwant %v", body, meta.Error, want)
		}
	}
}

func TestWorkLeftBehindIsDroppedAndLogged(t *testing.T) {
	e := newEngine(t)
	for body, want := range map[string]string{
		"setInterval(() => console.log('tick'), 5); return 'done'":                                                   "warn: 1 timer(s) were still set when the body returned; they were dropped",
		"Promise.reject(new Error('float')); await null; return 'done'":                                              "error: unhandled rejection: Error: float",
		"setTimeout(() => { throw new Error('late') }, 1); await new Promise(r => setTimeout(r, 30)); return 'done'": "error: uncaught in a timer: Error: late",
		"queueMicrotask(() => { throw 'micro' }); await null; return 'done'":                                         "error: uncaught in a microtask: micro",
	} {
		h := &noHost{}
		out, _ := h.call(t, e, body, "{}")
		if out != `"done"` || len(h.lines) != 1 || h.lines[0] != want {
			t.Errorf("%s: %s %q", body, out, h.lines)
		}
	}
	h := &noHost{}
	if out, _ := h.call(t, e, "function again() { Promise.resolve().then(again) } again(); return 'returned'", "{}"); out != `"returned"` {
		t.Error(out)
	}
	if out, _ := h.call(t, e, "const p = Promise.reject(1); await null; p.catch(() => {}); return 'handled'", "{}"); out != `"handled"` {
		t.Error(out)
	}
}

func TestTimersKeepTheWebsOrder(t *testing.T) {
	e := newEngine(t)
	out, _ := (&noHost{}).call(t, e, `const log = [];
		const id = setTimeout(() => log.push('never'), 1); clearTimeout(id);
		setTimeout((a, b) => log.push(a + b), 20, 'x', 'y'); setTimeout(() => log.push('first'), 5); setTimeout(() => log.push('now'));
		Promise.resolve().then(() => log.push('micro')); log.push('sync');
		let n = 0; const i = setInterval(() => { if (++n === 3) { clearInterval(i); log.push('three') } }, 1);
		await new Promise(r => setTimeout(r, 60)); return log`, "{}")
	if out != `["sync","micro","now","three","first","xy"]` && out != `["sync","micro","now","first","three","xy"]` {
		t.Fatal(out)
	}
}

func TestIsolatesShareNothing(t *testing.T) {
	e := newEngine(t)
	h := &noHost{}
	h.call(t, e, "globalThis.leak = 1; Array.prototype.map = null; Object.prototype.evil = 1; Promise.prototype.then = null; console.count(); throw 1", "{}")
	if out, _ := h.call(t, e, "console.count(); return [typeof leak, typeof [].map, ({}).evil === undefined]", "{}"); out != `["undefined","function",true]` {
		t.Fatal(out)
	}
	if last := h.lines[len(h.lines)-1]; last != "info: default: 1" {
		t.Fatal(last)
	}
}
