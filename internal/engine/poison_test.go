package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// captured is what a body keeps before it poisons the language, so that what it asks for afterwards is clear.
const captured = `
	const call = Function.prototype.call.bind(Function.prototype.call), { defineProperty, getOwnPropertyDescriptor, getOwnPropertyNames, setPrototypeOf, getPrototypeOf } = Object, { ownKeys } = Reflect;
	const f = fetch, base = args.base, Blob_ = Blob, FormData_ = FormData, Params = URLSearchParams, Request_ = Request, Response_ = Response, Headers_ = Headers, Stream = ReadableStream, Bytes = Uint8Array;
	const { text, json, clone, arrayBuffer, blob } = Response.prototype, { append } = FormData.prototype, blobText = Blob.prototype.text, headerAppend = Headers.prototype.append, headerGet = Headers.prototype.get;
	const boom = () => { throw new RangeErrorHere('poisoned') }, RangeErrorHere = RangeError;
	const spoil = (o, leave = []) => { const names = ownKeys(o); for (let n = 0; n < names.length; n++) { const d = getOwnPropertyDescriptor(o, names[n]); let kept = false; for (let m = 0; m < leave.length; m++) kept ||= leave[m] === names[n];
		if (kept || names[n] === 'constructor' || !d.configurable) continue; if (d.get) defineProperty(o, names[n], { __proto__: null, get: boom, configurable: true }); else if (typeof d.value === 'function') defineProperty(o, names[n], { __proto__: null, value: boom, configurable: true, writable: true }); } };
	let leaked = '';
	const inside = (o) => { if (typeof o === 'object' && o !== null) for (const k in { primordials: 1, parseJSON: 1, content: 1, source: 1, reject: 1, pull: 1 }) if (getOwnPropertyDescriptor(o, k)) leaked += k + ' '; };
	const wait = (o, k) => defineProperty(o, k, { __proto__: null, configurable: true, get() { inside(this) }, set(v) { inside(this); inside(v); defineProperty(this, k, { __proto__: null, value: v, writable: true, configurable: true, enumerable: true }) } });
	const names = ['value', 'data', 'done', 'status', 'then', 'content', 'stream', 'headers', 'list', 'type', 'source', 'url', 'method', 'signal', 'redirect', 'body', 'statusText', 'redirected', 'timeoutMs', 'maxBytes', 'query', 'start', 'pull', 'cancel', 'size',
		'highWaterMark', 'blobContent', 'formContent', 'isStream', 'blobBytes', 'makeBlob', 'streamOf', 'isDisturbed', 'deferred', 'readForm', 'tee', 'puller', 'lockStream', 'code', 'hint', 'details', 'retryable', 'resolve', 'reject', 'promise', 'get', 'set', 'mode', 'input', 'cwd'];
`

func poisons() map[string]string {
	return map[string]string{
		"then":             "Promise.prototype.then = Promise.prototype.catch = Promise.prototype.finally = boom",
		"promise":          "class Other extends Promise {}; defineProperty(Promise.prototype, 'constructor', { get() { inside(this); return Other }, configurable: true }); Promise.resolve = Promise.all = boom",
		"iterators":        "Array.prototype[Symbol.iterator] = boom; spoil(getPrototypeOf([][Symbol.iterator] ? new Map().entries() : 0)); spoil(getPrototypeOf(getPrototypeOf(async function* () {}.prototype)))",
		"accessors":        "for (let n = 0; n < names.length; n++) wait(Object.prototype, names[n])",
		"array accessors":  "for (let n = 0; n < 6; n++) { wait(Array.prototype, n); wait(Object.prototype, n) }",
		"toJSON":           "Object.prototype.toJSON = Array.prototype.toJSON = String.prototype.toJSON = Number.prototype.toJSON = () => 'forged'",
		"JSON":             "spoil(JSON)",
		"arrays":           "spoil(Array.prototype); spoil(Array)",
		"array class":      "defineProperty(Array.prototype, 'constructor', { get() { inside(this[0]); leaked += 'array '; return { [Symbol.species]: boom } }, configurable: true })",
		"strings":          "spoil(String.prototype); spoil(String)",
		"collections":      "spoil(Map.prototype); spoil(Set.prototype); spoil(WeakMap.prototype); spoil(WeakSet.prototype); spoil(FinalizationRegistry.prototype)",
		"views":            "spoil(Uint8Array.prototype); spoil(getPrototypeOf(Uint8Array.prototype)); spoil(ArrayBuffer.prototype); spoil(DataView.prototype)",
		"view class":       "for (const C of [Uint8Array, ArrayBuffer, getPrototypeOf(Uint8Array)]) { defineProperty(C.prototype, 'constructor', { get: boom, configurable: true }); defineProperty(C, Symbol.species, { get: boom, configurable: true }) }",
		"instances":        "for (const C of [Uint8Array, Promise, Array, ArrayBuffer, Response, Request, Headers, Blob, ReadableStream]) defineProperty(C, Symbol.hasInstance, { value: () => true })",
		"no instances":     "for (const C of [Uint8Array, Promise, Array, ArrayBuffer, Response, Request, Headers, Blob, ReadableStream]) defineProperty(C, Symbol.hasInstance, { value: () => false })",
		"functions":        "spoil(Function.prototype, [Symbol.hasInstance])",
		"regexps":          "spoil(RegExp.prototype)",
		"numbers":          "spoil(Number.prototype); spoil(Boolean.prototype); spoil(BigInt.prototype); spoil(Symbol.prototype, [Symbol.toPrimitive]); spoil(Date.prototype); spoil(Math)",
		"statics":          "spoil(Object); spoil(Reflect); spoil(Promise); spoil(Symbol); spoil(Date)",
		"web":              "for (const C of [Headers, Request, Response, FormData, Blob, File, URL, URLSearchParams, AbortSignal, AbortController, EventTarget, TextEncoder, TextDecoder, ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController]) { spoil(C.prototype); spoil(C) }",
		"web before loads": "for (const C of [Headers, Request, Response, URL, URLSearchParams, AbortSignal, AbortController, EventTarget, TextEncoder, TextDecoder]) { spoil(C.prototype); spoil(C) }",
		"parents":          "for (const C of [Headers, Request, Response, FormData, Blob, URL, URLSearchParams, ReadableStream, AbortController]) { setPrototypeOf(C, boom); setPrototypeOf(C.prototype, null) }",
		"globals":          "const g = globalThis, all = ownKeys(g); for (let n = 0; n < all.length; n++) { const d = getOwnPropertyDescriptor(g, all[n]); if (d.configurable) defineProperty(g, all[n], { value: undefined, writable: true, configurable: true }) }",
		"errors":           "Error.prepareStackTrace = boom; defineProperty(Error.prototype, 'name', { get: boom, configurable: true }); Error.captureStackTrace = boom; Error.prototype.toString = boom",
		"frozen":           "for (const o of [Object.prototype, Array.prototype, Promise.prototype, Function.prototype, Response.prototype, Headers.prototype, globalThis]) Object.freeze(o)",
		"proxy":            "setPrototypeOf(Array.prototype, new Proxy(Object.prototype, { get(t, k, o) { inside(o); return t[k] }, set(t, k, v, o) { inside(o); inside(v); defineProperty(o, k, { value: v, writable: true, configurable: true, enumerable: true }); return true }, has(t, k) { return false } }))",
	}
}

// deeds are what a body asks for once the language is poisoned; each gives text.
func deeds() map[string]string {
	return map[string]string{
		"fetch":      "return await call(text, await f(base + '/echo?a=1', { __proto__: null, method: 'POST', headers: { __proto__: null, 'X-A': ' b ' }, body: 'héllo' }))",
		"plain":      "return await call(text, await f(base + '/echo'))",
		"json":       "return (await call(json, await f(base + '/echo?j'))).query",
		"made":       `return (await call(json, new Response_('{"a":{"b":"c"}}'))).a.b`,
		"streamed":   "return (await call(text, await f(base + '/big'))).length + ''",
		"cloned":     "const r = await f(base + '/big'), c = call(clone, r); return (await call(text, c)).length + ' ' + (await call(text, r)).length",
		"buffer":     "return (await call(arrayBuffer, await f(base + '/big'))) ? 'some' : 'none'",
		"blob":       "return await call(blobText, await call(blob, new Response_('abc')))",
		"form":       "const form = new FormData_(); call(append, form, 'a', 'x\\ny'); call(append, form, 'b', new Blob_({ __proto__: null, length: 0, [Symbol_.iterator]: () => ({ __proto__: null, next: () => ({ __proto__: null, done: true, value: undefined }) }) })); return await call(text, await f(base + '/form', { __proto__: null, method: 'POST', body: form }))",
		"params":     "return await call(text, await f(base + '/echo', { __proto__: null, method: 'POST', body: params }))",
		"request":    "const q = new Request_(base + '/echo?q', { __proto__: null, method: 'POST', body: bytes }); return await call(text, await f(q))",
		"signal":     "return await call(text, await f(new Request_(base + '/echo?s', { __proto__: null, signal })))",
		"late":       "try { await f(base + '/slow', { __proto__: null, signal: timeout(5) }) } catch (e) { return call(nameOf, e) }",
		"listed":     "await ctx.writeText('a', 'text'); return (await ctx.listFiles())[0].path",
		"headers":    "const h = new Headers_(); call(headerAppend, h, 'x-a', ' 1 '); call(headerAppend, h, 'X-A', '2'); return call(headerGet, h, 'x-a') + await call(text, await f(base + '/echo', { __proto__: null, headers: h }))",
		"fetchJson":  "return (await ctx.fetchJson(base + '/echo?x')).query",
		"options":    "const j = await ctx.fetchJson(base + '/echo', { __proto__: null, query, headers: { __proto__: null, 'x-h': 'v' }, body: '{}' }); return j.query + j.method + j.body + j.headers['x-h']",
		"refused":    "try { await ctx.fetchJson(base + '/status'); return 'no' } catch (e) { return e.status + e.message }",
		"files":      "await ctx.writeText('a', 'text'); await ctx.appendText('a', '!'); return await ctx.readText('a')",
		"exec":       "return (await ctx.exec('git', list, { __proto__: null, input: 'in' })).stdout",
		"callTool":   "return (await ctx.callTool('other', { __proto__: null, x: 'y' })).x",
		"secret":     "return await ctx.secret('k') + await ctx.hmac('k', 'SHA-256', 'd', 'hex')",
		"error":      "try { await f('http://10.0.0.1/') } catch (e) { return e.message + e.code }",
		"not a file": "try { await ctx.readText('none') } catch (e) { return e.message + e.code }",
	}
}

// byRight says where the language itself, or the deed's own words, let the body decide.
func byRight(poison, deed string) bool {
	switch poison {
	case "toJSON":
		return deed == "callTool" // what it passes is written as JSON
	}
	return false
}

// TestPoisonedLanguage: whatever a body does to the language, the host is asked for what the body asked for, it gets what it would
// have got, and it never sees the platform's own objects.
func TestPoisonedLanguage(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of bodies: not with -short")
	}
	e, base := newEngine(t), webServer(t)
	boundary := regexp.MustCompile("----formdata-[0-9a-f]+")
	for _, deed := range slices.Sorted(func(yield func(string) bool) {
		for name := range deeds() {
			if !yield(name) {
				return
			}
		}
	}) {
		did := func(poison string) string {
			h := newWebHost()
			body := captured + "const Symbol_ = Symbol, signal = new AbortController().signal, timeout = AbortSignal.timeout, nameOf = getOwnPropertyDescriptor(DOMException.prototype, 'name').get, params = new Params('a=b c'), bytes = new Bytes([1, 2]), query = { a: 1, b: ['x', 'y'] }, list = ['status', 1];\n" + poison +
				";\nconst deed = async () => {" + deeds()[deed] + "}; const got = await deed(); if (leaked !== '') throw 'leaked ' + leaked; return got"
			out, meta := h.run(t, e, body, `{"base":"`+base+`"}`)
			ops := slices.DeleteFunc(h.ops, func(op string) bool { return strings.HasPrefix(op, "net.close") || strings.HasPrefix(op, "net.read") })
			return boundary.ReplaceAllString(fmt.Sprintf("%s %+v %q", out, meta.Error, ops), "boundary")
		}
		want := did("")
		if strings.Contains(want, "call_failed") {
			t.Fatalf("%s: %s", deed, want)
		}
		for name, poison := range poisons() {
			if got := did(poison); got != want && !byRight(name, deed) {
				t.Errorf("%s, %s:\n got %.700s\nwant %.400s", deed, name, got, want)
			}
		}
	}
}
