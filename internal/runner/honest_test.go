package runner

import (
	"context"
	"testing"
	"time"

	"toolroom/tool"
)

// What a body does must never make its worker look like one that was taken
// over: it would be ended, and its neighbours with it.
func TestNoBodyMakesAnHonestWorkerBreakTheProtocol(t *testing.T) {
	r := open(t, Options{})
	host := hostFunc(func(context.Context, Request) Response {
		return Response{Err: tool.Errorf(tool.EgressDenied, "nobody may go anywhere")}
	})
	for name, text := range map[string]string{
		"more requests than allowed":   `for (let i = 0; i < 1100; i++) try { await ctx.callTool('x', {}) } catch {}`,
		"many requests at once":        `await Promise.allSettled(Array.from({length: 1100}, () => ctx.callTool('x', {})))`,
		"a lone surrogate":             `try { await ctx.callTool('x', {s: '\ud800'}) } catch {}`,
		"a lone surrogate in a name":   `try { await ctx.callTool('\ud800', {}) } catch {}`,
		"a lone surrogate in a URL":    `try { await fetch('http://example.org/\ud800') } catch {}`,
		"a lone surrogate in a key":    `try { await ctx.callTool('x', {'\ud800': 1, '\udbff': 2}) } catch {}`,
		"deep arguments":               `let a = []; for (let i = 0; i < 10100; i++) a = [a]; try { await ctx.callTool('x', {a}) } catch {}`,
		"arguments that grow":          `try { await ctx.callTool('x', {a: '<\u2028'.repeat(100000)}) } catch {}`,
		"large arguments":              `try { await ctx.callTool('x', {a: 'x'.repeat(1 << 20)}) } catch {}`,
		"a long URL":                   `try { await fetch('http://example.org/' + 'x'.repeat(1 << 20)) } catch {}`,
		"a large body":                 `try { await fetch('http://example.org/', {method: 'POST', body: new Uint8Array(20 << 20)}) } catch {}`,
		"progress that is no number":   `ctx.progress(NaN, Infinity, '\ud800')`,
		"a long progress message":      `ctx.progress(1, 2, 'x'.repeat(1 << 20))`,
		"a long line":                  `console.log('x'.repeat(1 << 20))`,
		"a lone surrogate in the log":  `console.log('\ud800\u0000')`,
		"every level":                  `for (const k of ['log', 'info', 'warn', 'error', 'debug', 'trace', 'table', 'dir']) if (console[k]) console[k]('x')`,
		"a lone surrogate thrown":      `throw new Error('\ud800')`,
		"a long error":                 `throw new Error('x'.repeat(1 << 20))`,
		"a long name of an error":      `const e = new Error('x'); e.name = 'n'.repeat(1 << 20); e.stack = 's'.repeat(1 << 20); throw e`,
		"a lone surrogate returned":    `return '\ud800'`,
		"a deep result":                `let a = []; for (let i = 0; i < 20000; i++) a = [a]; return a`,
		"a large result":               `return 'x'.repeat(1 << 20)`,
		"a host error let through":     `await ctx.callTool('x', {})`,
		"a host error changed":         `try { await ctx.callTool('x', {}) } catch (e) { e.message = 'changed'; e.code = 'unauthorized'; throw e }`,
		"a request that is not wanted": `const c = new AbortController(); const p = fetch('http://example.org/', {signal: c.signal}); c.abort(); try { await p } catch {}`,
		"requests left open":           `fetch('http://example.org/'); ctx.callTool('x', {}); return 1`,
		"JSON replaced":                `JSON.stringify = () => '{"a":1,"a":2}'; try { await ctx.callTool('x', {}) } catch {}; try { await fetch('http://example.org/') } catch {}; return {}`,
		"numbers replaced":             `Object.prototype.toJSON = () => '\ud800'; try { await ctx.callTool('x', {}) } catch {}; return {}`,
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "deep arguments" {
				t.Skip("the engine is forty times slower under -race: left out with -short")
			}
			began := time.Now()
			_, failure, err := r.Call(context.Background(), body(text).servedBy(host).within(30_000))
			if tool.CodeOf(err) == tool.WorkerCrashed {
				t.Error("the worker was ended")
			}
			if failure != nil && failure.Code == tool.Timeout || tool.CodeOf(err) == tool.Timeout {
				t.Errorf("it hung: %v", time.Since(began))
			}
			if tool.CodeOf(err) == tool.Unhealthy {
				t.Fatal(err)
			}
		})
	}
}
