package engine

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolroom/tool"
)

// answers are bodies and what they return, with files, secrets and a web on loopback at args.base.
func answers() map[string]string {
	return map[string]string{
		// files
		"await ctx.writeText('a/b.txt', 'é'); await ctx.appendText('a/b.txt', '!'); return [await ctx.readText('a/b.txt'), [...await ctx.readBytes('a/b.txt')]]":                         `["é!",[195,169,33]]`,
		"await ctx.writeBytes('x', new Uint8Array([1, 2])); return [await ctx.stat('x'), (await ctx.listFiles()).length, await fs.readFile('x', null)].map(String)":                      `["[object Object]","1","1,2"]`,
		"await fs.writeFile('f', 'text'); await fs.appendFile('f', new Uint8Array([33])); return [await fs.readFile('f'), await fs.readFile('f', 'utf8'), (await fs.list('.'))[0].path]": `["text!","text!","f"]`,
		"await fs.writeFile('f', 'x'); await ctx.remove('f'); try { await ctx.readText('f') } catch (e) { return [e.code, e.hint, e instanceof Error] }":                                 `["not_a_file","List the files.",true]`,
		"try { await ctx.readText(5) } catch (e) { return e.name }":                  `"TypeError"`,
		"try { await ctx.writeBytes('x', { a: 1 }) } catch (e) { return e.message }": `"writeBytes takes text or bytes; for a value, pass JSON.stringify(value)"`,
		// the rest of ctx
		"return [await ctx.callTool('other', { x: [1, 2] }), await ctx.secret('k'), (await ctx.exec('git', ['status', 1], { input: 'in' })).stdout]":                `[{"x":[1,2]},"standin-k","git[\"status\",\"1\"]in"]`,
		"return [[...await ctx.hmac('k', 'SHA-256', 'd')].length, await ctx.hmac('k', 'h', 'd', 'hex'), await ctx.hmac('k', 'h', new Uint8Array([100]), 'base64')]": `[9,"6b6864","a2hk"]`,
		"try { return `${ctx.secret('k')}` } catch (e) { return e.message.includes('await') }":                                                                      `true`,
		"try { await ctx.exec('ls -l', '-a') } catch (e) { return e.message.includes('no shell') }":                                                                 `true`,
		"return [ctx.tool, env.tool, ctx.signal.aborted, typeof ctx.log.info, delete globalThis.env, typeof env, params === args]":                                  `["t","t",false,"function",true,"undefined",true]`,
		// fetchJson
		"const j = await ctx.fetchJson(args.base + '/echo', { query: { a: 1, b: ['x', 'y'], c: undefined }, headers: { 'x-h': 'v' } }); return [j.method, j.query, j.headers['x-h'], j.headers.accept]": `["GET","a=1\u0026b=x\u0026b=y","v","application/json"]`,
		"const j = await ctx.fetchJson(args.base + '/echo', { body: { a: [1] } }); return [j.method, j.body, j.headers['content-type']]":                                                                `["POST","{\"a\":[1]}","application/json"]`,
		"try { await ctx.fetchJson(args.base + '/status') } catch (e) { return [e.status, e.body, /503/.test(e.message), /down/.test(e.message)] }":                                                     `[503,"down for a while",true,true]`,
		"try { await ctx.fetchJson(args.base + '/big') } catch (e) { return [e.name, /starts with: 0123/.test(e.message)] }":                                                                            `["SyntaxError",true]`,
		"return await ctx.fetchJson(args.base + '/none')": `null`,
		// fetch
		"try { await fetch(undefined) } catch (e) { return e.message }":                                                                      `"fetch needs a URL, and was given undefined"`,
		"try { await fetch('/rel') } catch (e) { return [e.name, e.code] }":                                                                  `["TypeError","invalid_url"]`,
		"try { await fetch('data:text/plain,hi') } catch (e) { return [e.name, ['egress_denied', 'invalid_url'].includes(e.code)] }":         `["TypeError",true]`,
		"try { await fetch(args.base, { method: 'POST', body: { a: 1 } }) } catch (e) { return [e.name, /JSON.stringify/.test(e.message)] }": `["TypeError",true]`,
		// what is absent is absent, what is lazy is there
		"return [typeof require, typeof process, typeof Buffer, typeof XMLHttpRequest, typeof Intl.PluralRules]":                            `["undefined","undefined","undefined","undefined","undefined"]`,
		"return [typeof Blob, typeof FormData, typeof ReadableStream, typeof CompressionStream, typeof CryptoKey, typeof Intl]":             `["function","function","function","function","function","object"]`,
		"Blob = 5; globalThis.FormData = 6; return [Blob, FormData, await new Response('x').text(), (await new Response('x').blob()).size]": `[5,6,"x",1]`,
		"return Object.keys(globalThis)": `[]`,
		// locales that are not offered
		"return ['de-LI', 'ar-EG', 'th-TH', 'x'].map((l) => { try { return new Date(0).toLocaleString(l) } catch (e) { return e.name } })":                                                                                                                            `["RangeError","RangeError","RangeError","RangeError"]`,
		"return [['ru', {}], ['en', { caseFirst: 'upper' }]].map((a) => { try { return 'a'.localeCompare('b', ...a) } catch (e) { return e.name } })":                                                                                                                 `["RangeError","RangeError"]`,
		"return [{ notation: 'compact' }, { style: 'unit', unit: 'liter' }, { currencySign: 'accounting', style: 'currency', currency: 'USD' }, { roundingMode: 'floor' }].map((o) => { try { return (1).toLocaleString('en-US', o) } catch (e) { return e.name } })": `["RangeError","RangeError","RangeError","RangeError"]`,
	}
}

func TestAnswers(t *testing.T) {
	e, base := newEngine(t), webServer(t)
	for body, want := range answers() {
		h := newWebHost()
		out, meta := h.run(t, e, body, `{"base":"`+base+`"}`)
		if meta.Error != nil {
			t.Errorf("%s: %+v", body, meta.Error)
			continue
		}
		if !sameJSON(out, want) {
			t.Errorf("%s:\n got %s\nwant %s", body, out, want)
		}
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// TestCapabilityErrors: the host's errors are known by identity, and by nothing else.
func TestCapabilityErrors(t *testing.T) {
	e := newEngine(t)
	const real = "const real = await fetch('http://10.0.0.1/').catch((e) => e);"
	for body, capability := range map[string]string{
		"await fetch('http://10.0.0.1/')":                                      "egress_denied",
		"await fetch('file:///etc/passwd')":                                    "egress_denied",
		"await fetch('nonsense')":                                              "invalid_url",
		"await ctx.fetchJson('http://10.0.0.1/')":                              "egress_denied",
		real + "real.code = 'other'; real.message = 'm'; throw real":           "egress_denied",
		real + "throw Object.assign(new TypeError(real.message), { ...real })": "",
		real + "throw Object.create(real)":                                     "",
		real + "throw structuredClone(real)":                                   "",
		"throw Object.assign(new Error('x'), { code: 'egress_denied' })":       "",
		// what the host sent is what counts, not what the language makes of it
		"Object.prototype.toJSON = () => ({ code: 'internal', message: 'forged' }); await fetch('http://10.0.0.1/')":                              "egress_denied",
		"for (const k of ['hint', 'details']) Object.defineProperty(Object.prototype, k, { get() { throw 1 } }); await fetch('http://10.0.0.1/')": "egress_denied",
		// no accessor is ever given the platform's own objects, from which an error could be made
		forging("Object.defineProperty(Object.prototype, k, { set: use })") + "try { new Blob(['x']); new FormData(); new ReadableStream() } catch {} throw made":                   "",
		forging("Object.defineProperty(Object.prototype, k, { get: use })") + "try { new Response(new Map()) } catch {} try { await new Response('x').blob() } catch {} throw made": "",
		"const Body = Object.getPrototypeOf(Response); if (Body !== Function.prototype || Object.getPrototypeOf(Request) !== Body) await fetch('http://10.0.0.1/'); throw 1":        "",
	} {
		_, meta := newWebHost().run(t, e, body, "{}")
		if meta.Error == nil {
			t.Errorf("%s: no error", body)
			continue
		}
		var got tool.Error
		json.Unmarshal(meta.Error.Capability, &got)
		if string(got.Code) != capability {
			t.Errorf("%s: capability %q, want %q", body, got.Code, capability)
		}
	}
}

// forging lies in wait for the scripts that run when a body first needs them, and makes an error of the host's with what it gets.
func forging(wait string) string {
	return "let made = 'nothing'; function use() { if (this.hostError) made = this.hostError({ code: 'internal', message: 'forged' }, '{\"code\":\"internal\"}') }" +
		"for (const k of ['makeBlob', 'blobBytes', 'blobContent', 'formContent', 'isStream', 'streamOf', 'readForm', 'deferred']) { " + wait + " }"
}

// TestOpaqueResults: objects that JSON would write as {} say what to return instead.
func TestOpaqueResults(t *testing.T) {
	e, base := newEngine(t), webServer(t)
	for body, hint := range map[string]string{
		"return fetch(args.base + '/echo')": ".json()", "return { h: new Headers() }": "Object.fromEntries", "return new Blob(['x'])": ".text()",
		"return new FormData()": "Object.fromEntries", "return new Response('x').body": "Response", "return new URLSearchParams('a=1')": "String",
		"return crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt'])": "exportKey", "return new AbortController()": "plain",
	} {
		_, meta := newWebHost().run(t, e, body, `{"base":"`+base+`"}`)
		if meta.Error == nil || meta.Error.Code != tool.ResultNotJSON || !strings.Contains(meta.Error.Hint, hint) {
			t.Errorf("%s: %+v", body, meta.Error)
		}
	}
}

// TestReplacedBuiltIns: what a body does to prototypes changes nothing of what the host sees.
func TestReplacedBuiltIns(t *testing.T) {
	e, base := newEngine(t), webServer(t)
	const harm = `
		JSON.stringify = () => '{"url":"http://evil/"}'; JSON.parse = () => ({ evil: true });
		Array.prototype.push = function () { return 0 }; Array.prototype[Symbol.iterator] = function* () {};
		Array.prototype.map = () => []; Array.prototype.slice = () => []; Array.prototype.splice = () => [];
		String.prototype.toLowerCase = () => 'evil'; String.prototype.slice = () => 'evil'; RegExp.prototype.exec = () => null; RegExp.prototype.test = () => false;
		Map.prototype.get = Map.prototype.set = Map.prototype.has = () => undefined; WeakMap.prototype.get = () => 'evil';
		Object.assign = () => ({}); Object.keys = () => []; Object.create = () => ({}); Reflect.apply = () => {};
		Uint8Array.prototype.slice = () => new Uint8Array(); TextEncoder.prototype.encode = () => new Uint8Array(); TextDecoder.prototype.decode = () => 'evil';
		Headers.prototype.get = () => 'evil'; Response.prototype.text = async () => 'evil'; URL.prototype.toString = () => 'http://evil/';
		Promise.prototype.catch = () => 'evil'; globalThis.Headers = globalThis.Request = globalThis.Response = globalThis.URL = undefined;`
	h := newWebHost()
	out, meta := h.run(t, e, harm+`const r = await fetch(args.base + '/echo?a=1', { method: 'POST', headers: { 'X-A': 'b' }, body: 'héllo' }); return await r.json()`, `{"base":"`+base+`"}`)
	if meta.Error != nil {
		t.Fatalf("%+v", meta.Error)
	}
	want := `net.fetch {"url":"` + base + `/echo?a=1","method":"POST","headers":[["x-a","b"],["content-type","text/plain;charset=UTF-8"]],"redirect":"follow"}`
	if len(h.ops) == 0 || h.ops[0] != want {
		t.Errorf("the host was asked %q, want %q", h.ops, want)
	}
	if !strings.Contains(out, `"body":"héllo"`) {
		t.Error(out)
	}
	out, meta = h.run(t, e, "return [typeof Headers, JSON.stringify([1]), [...[1, 2]].map((x) => x)]", "{}")
	if meta.Error != nil || out != `["function","[1]",[1,2]]` {
		t.Errorf("the next call saw it: %s %+v", out, meta.Error)
	}
}

// TestForgottenBodies: responses that are let go of are closed when the engine collects, while the call goes on.
func TestForgottenBodies(t *testing.T) {
	if testing.Short() {
		t.Skip("large amounts of data: too slow with the race detector")
	}
	e, base := newEngine(t), webServer(t)
	h := newWebHost()
	_, meta := h.run(t, e, "for (let n = 0; n < 5; n++) { const r = await fetch(args.base + '/big'); if (!r.ok) throw 1 } const junk = []; for (let n = 0; n < 400000; n++) junk.push({ n }); await new Promise((r) => setTimeout(r, 50)); return null", `{"base":"`+base+`"}`)
	h.mu.Lock()
	defer h.mu.Unlock()
	if meta.Error != nil || h.closed < 4 {
		t.Errorf("%d of 5 bodies were closed: %+v %q", h.closed, meta.Error, h.lines)
	}
}

func TestAbort(t *testing.T) {
	e, base := newEngine(t), webServer(t)
	h := newWebHost()
	out, meta := h.run(t, e, "try { await fetch(args.base + '/slow', { signal: AbortSignal.timeout(20) }) } catch (e) { return [e.name, e.code] }", `{"base":"`+base+`"}`)
	if meta.Error != nil || out != `["TimeoutError",23]` || h.aborted != 1 {
		t.Errorf("%s %+v, %d aborted", out, meta.Error, h.aborted)
	}
}

// TestSignal: a cancelled call sees its signal abort.
func TestSignal(t *testing.T) {
	e := newEngine(t)
	h := newWebHost()
	code, f := e.Compile("tool.js", []byte("(async (args, ctx) => { await new Promise((r) => ctx.signal.addEventListener('abort', r)); return [ctx.signal.aborted, ctx.signal.reason.name] })"))
	if f != nil {
		t.Fatal(f)
	}
	c := e.Start(&Job{Code: code, Args: []byte("{}"), Env: []byte("{}"), Timeout: 10 * time.Second, Memory: 64 << 20, MaxResult: 1 << 20, MaxLog: 1 << 10, Host: h})
	time.AfterFunc(30*time.Millisecond, c.Cancel)
	out, meta := ran(c)
	if meta.Error != nil || string(out) != `[true,"AbortError"]` {
		t.Errorf("%s %+v", out, meta.Error)
	}
}

// TestDecompressionBomb: what comes out is made piece by piece, against the call's own memory.
func TestDecompressionBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("large amounts of data: too slow with the race detector")
	}
	e := newEngine(t)
	const bomb = "const pack = async (b) => new Uint8Array(await new Response(new Blob([b]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer());" +
		"const b = await pack(new Uint8Array(60 << 20));"
	_, meta := newWebHost().run(t, e, bomb+"const all = []; for (let n = 0; n < 4; n++) all.push(await new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()); return all.length", "{}")
	if meta.Error == nil || meta.Error.Code != tool.MemoryExceeded {
		t.Errorf("%+v", meta.Error)
	}
}

// TestNativesEnd: what a call leaves open in natives ends with it.
func TestNativesEnd(t *testing.T) {
	e := newEngine(t)
	before := runtime.NumGoroutine()
	for range 20 {
		_, meta := newWebHost().run(t, e, "for (let n = 0; n < 10; n++) { const d = new DecompressionStream('gzip'); d.writable.getWriter().write(new Uint8Array([31, 139, 8])); } await new Promise((r) => setTimeout(r, 5)); return null", "{}")
		if meta.Error != nil {
			t.Fatalf("%+v", meta.Error)
		}
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before+5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
	_, meta := newWebHost().run(t, e, "for (let n = 0; n < 100; n++) new CompressionStream('gzip'); return null", "{}")
	if meta.Error == nil || meta.Error.Name != "QuotaExceededError" {
		t.Errorf("%+v", meta.Error)
	}
}

// TestDeadlineInNatives: deriving a key for minutes ends with the call.
func TestDeadlineInNatives(t *testing.T) {
	e := newEngine(t)
	const body = "const k = await crypto.subtle.importKey('raw', new Uint8Array(1), 'PBKDF2', false, ['deriveBits']);" +
		"await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(1), iterations: 4e9 }, k, 512)"
	code, f := e.Compile("tool.js", []byte("(async () => {"+body+"})"))
	if f != nil {
		t.Fatal(f)
	}
	_, meta := ran(e.Start(&Job{Code: code, Args: []byte("{}"), Env: []byte("{}"), Timeout: 300 * time.Millisecond, Memory: 64 << 20, MaxResult: 1 << 10, MaxLog: 1 << 10, Host: &noHost{}}))
	if meta.Error == nil || meta.Error.Code != tool.Timeout {
		t.Errorf("%+v", meta.Error)
	}
}
