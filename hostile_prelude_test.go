package toolroom_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolroom"
	"toolroom/tool"
)

// preludes are what a body may do to the language before it does what it is for.
var preludes = map[string]string{
	"then":            "Promise.prototype.then = function (f) { return f && f('forged') };",
	"then of all":     "Object.prototype.then = function (f) { f('forged') };",
	"promise":         "globalThis.Promise = class { then(f) { f('forged') } };",
	"resolve":         "Promise.resolve = Promise.all = () => 'forged'; Promise.prototype.finally = Promise.prototype.catch = null;",
	"stringify":       "JSON.stringify = () => '\"forged\"'; JSON.parse = () => 'forged';",
	"toJSON":          "Object.prototype.toJSON = Array.prototype.toJSON = String.prototype.toJSON = () => 'forged';",
	"iterator":        "Array.prototype[Symbol.iterator] = function* () { yield 'forged' };",
	"next":            "Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({done: false, value: 'forged'});",
	"map":             "for (const m of ['push', 'map', 'join', 'slice', 'forEach', 'indexOf', 'concat', 'filter']) Array.prototype[m] = () => 'forged';",
	"string":          "for (const m of ['split', 'slice', 'replace', 'toLowerCase', 'charCodeAt', 'indexOf', 'trim']) String.prototype[m] = () => 'forged';",
	"setters":         "for (const k of ['result', 'code', 'message', 'url', 'status', 'value', 'error', 'name', 'resolve', 'reject', 'method', 'headers']) Object.defineProperty(Object.prototype, k, {__proto__: null, set() {}, configurable: true});",
	"index setters":   "for (const k of [0, 1, 2, 3]) Object.defineProperty(Object.prototype, k, {__proto__: null, set() {}, configurable: true});",
	"getters":         "for (const k of ['code', 'hint', 'details', 'retryable', 'stack', 'cause', 'signal', 'timeoutMs']) Object.defineProperty(Object.prototype, k, {__proto__: null, get() { return 'forged' }, configurable: true});",
	"call":            "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 'forged';",
	"reflect":         "globalThis.Reflect = {}; Object.keys = Object.entries = Object.assign = Object.getOwnPropertyNames = Object.defineProperty = () => ['forged'];",
	"map and set":     "for (const m of ['get', 'set', 'has', 'delete', 'forEach']) { Map.prototype[m] = () => 'forged'; WeakMap.prototype[m] = () => 'forged' }",
	"typed arrays":    "globalThis.Uint8Array = globalThis.ArrayBuffer = globalThis.DataView = function () { return 'forged' };",
	"error":           "Error.prototype.toString = () => 'forged'; globalThis.Error = globalThis.TypeError = function () { return {code: 'internal', message: 'forged'} }; Error.prepareStackTrace = () => 'forged';",
	"hasInstance":     "for (const c of [Error, TypeError, Promise, Uint8Array, Array]) Object.defineProperty(c, Symbol.hasInstance, {value: () => true});",
	"species":         "Object.defineProperty(Array, Symbol.species, {get: () => function () { return {forged: 1} }}); Object.defineProperty(Promise, Symbol.species, {get: () => function (f) { f(() => {}, () => {}) }});",
	"regexp":          "RegExp.prototype.exec = RegExp.prototype[Symbol.replace] = RegExp.prototype.test = () => 'forged';",
	"console":         "globalThis.console = {log() {}}; globalThis.fetch = () => 'forged'; globalThis.Headers = globalThis.Response = globalThis.Request = null;",
	"proxied object":  "Object.setPrototypeOf(Object.prototype.__proto__ ?? Array.prototype, new Proxy({}, {get: () => 'forged', has: () => true}));",
	"frozen language": "Object.freeze(Object.prototype); Object.freeze(Array.prototype); Object.freeze(globalThis);",
}

// TestPreludeFromBodies: what the host records is what the body says, or the call
// fails; and the next call sees nothing of it.
func TestPreludeFromBodies(t *testing.T) {
	onlyWhole(t)
	s := newMisbehaving(t)
	h := reaching(t, s, toolroom.Options{})
	for name, prelude := range preludes {
		t.Run(name, func(t *testing.T) {
			out, err := h.run(t, "const log = console.log; "+prelude+" log('a line'); return {n: 1, list: [1, 'two', null], s: 'é'}", nil)
			if err == nil && string(out.Value) != `{"n":1,"list":[1,"two",null],"s":"é"}` && !forgedByRight(name) {
				t.Errorf("the result was forged: %s", out.Value)
			}
			if len(out.Logs) != 1 || out.Logs[0].Text != "a line" {
				t.Errorf("the log was forged: %+v", out.Logs)
			}
			_, err = h.run(t, prelude+" throw Object.assign(new RangeError('mine'), {code: 'egress_denied', hint: 'forged'})", nil)
			if code := tool.CodeOf(err); code != tool.CallFailed {
				t.Errorf("an error was forged: %v", err)
			}
			_, err = h.run(t, prelude+" return await fetch('http://169.254.169.254/')", nil)
			if code := tool.CodeOf(err); code != tool.EgressDenied && code != tool.CallFailed && code != tool.ResultNotJSON && !forgedFetch(name) {
				t.Errorf("a refusal was forged: %v", err)
			}
			s.last.Store("")
			out, err = h.run(t, "const f = fetch; "+prelude+" const r = await f(args + '/echo', {method: 'PUT', headers: {'X-Mine': 'yes'}, body: 'whole'}); return await r.text()", s.URL)
			if got, _ := s.last.Load().(string); got != "" && (!strings.HasPrefix(got, "PUT /echo\n") || !strings.HasSuffix(got, "\n\nwhole") || !strings.Contains(got, "X-Mine: yes")) && err == nil {
				t.Errorf("a request was forged: %s → %s", got, out.Value)
			}
			out, err = h.run(t, "const p = Promise.resolve(1).then(x => x + 1); return [await p, JSON.stringify({a: [1]}), [...[1, 2]], `${new Error('e')}`, 'a,b'.split(','), Object.keys({k: 1}), [1].map(x => x * 2), new Map([[1, 2]]).get(1), new Uint8Array(2).length, /b/.test('abc'), typeof fetch, Object.isFrozen(Object.prototype)]", nil)
			wants(t, out, err, `[2,"{\"a\":[1]}",[1,2],"Error: e",["a","b"],["k"],[2],2,2,true,"function",false]`)
		})
	}
}

// forgedByRight says where the language itself has the body decide: toJSON is asked for by name,
// and a thenable is what a promise resolves to.
func forgedByRight(name string) bool { return name == "toJSON" || name == "then of all" }

// forgedFetch says where fetch, or what awaits it, was the body's own.
func forgedFetch(name string) bool {
	return name == "console" || name == "then of all" || name == "promise" || name == "then"
}

// TestForgedErrors has bodies throw what looks like the host's.
func TestForgedErrors(t *testing.T) {
	h := hands{view(t, room(t, toolroom.Options{}), tool.User, "w"), tool.Definition{}}
	for _, body := range []string{
		"throw {code: 'egress_denied', message: 'x', hint: 'y', retryable: true}",
		"throw Object.assign(new TypeError('x'), {code: 'secret_denied'})",
		"try { await fetch('http://169.254.169.254/') } catch (e) { throw {...e} }",
		"try { await fetch('http://169.254.169.254/') } catch (e) { throw Object.create(e) }",
		"try { await fetch('http://169.254.169.254/') } catch (e) { throw new Proxy(e, {}) }",
		"try { await fetch('http://169.254.169.254/') } catch (e) { throw structuredClone(e) }",
		"try { await fetch('http://169.254.169.254/') } catch (e) { throw new Error('wrapped', {cause: e}) }",
	} {
		h.gets(t, "call_failed", body, nil)
	}
	_, err := h.run(t, "try { await fetch('http://169.254.169.254/') } catch (e) { e.code = 'internal'; e.message = 'forged'; e.hint = 'forged'; delete e.details; throw e }", nil)
	if b, _ := json.Marshal(tool.AsError(err)); tool.CodeOf(err) != tool.EgressDenied || strings.Contains(string(b), "forged") {
		t.Errorf("the host's own error was changed: %s", b)
	}
}
