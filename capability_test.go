package toolroom_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolroom"
	"toolroom/tool"
)

// TestFanOut starts far more calls of tools at once than a workspace has places.
func TestFanOut(t *testing.T) {
	onlyWhole(t)
	w := view(t, room(t, toolroom.Options{}), tool.User, "w")
	define(t, w, "leaf", "await new Promise(r => setTimeout(r, 5)); return args.n", func(d *tool.Definition) {
		d.Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	})
	define(t, w, "fan", "const all = await Promise.all(Array.from({length: args.width}, (_, n) => ctx.callTool('leaf', {n}))); return all.reduce((a, b) => a + b, 0)", func(d *tool.Definition) {
		d.Parameters = json.RawMessage(`{"type":"object","properties":{"width":{"type":"integer"}}}`)
	})
	out, err := w.Call(t.Context(), "fan", json.RawMessage(`{"width":100}`))
	wants(t, out, err, "4950")
	var calls sync.WaitGroup
	for range 100 { // every place is taken by a call that waits for others
		calls.Go(func() {
			out, err := w.Call(t.Context(), "fan", json.RawMessage(`{"width":4}`))
			wants(t, out, err, "6")
		})
	}
	calls.Wait()
}

// TestDepthAndFanOut has calls wait for calls as deep as is allowed, in every place.
func TestDepthAndFanOut(t *testing.T) {
	onlyWhole(t)
	w := view(t, room(t, toolroom.Options{}), tool.User, "w")
	define(t, w, "t0", "return 1")
	for n := 1; n <= 9; n++ {
		define(t, w, fmt.Sprintf("t%d", n), fmt.Sprintf("return 1 + await ctx.callTool('t%d')", n-1))
	}
	out, err := w.Call(t.Context(), "t8", nil)
	wants(t, out, err, "9")
	out, err = w.Call(t.Context(), "t9", nil)
	wants(t, out, err, "call_cycle")
	define(t, w, "wide", "const all = await Promise.all(Array.from({length: 3}, () => ctx.callTool('t6'))); return all.length")
	var calls sync.WaitGroup
	for range 70 {
		calls.Go(func() {
			out, err := w.Call(t.Context(), "wide", nil)
			wants(t, out, err, "3")
		})
	}
	calls.Wait()
}

// TestFanOutInProcesses needs a process for each call, and says so when there are not enough.
func TestFanOutInProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of processes: not with -short")
	}
	w := view(t, room(t, toolroom.Options{Isolation: toolroom.PerProcess}), tool.User, "w")
	define(t, w, "leaf", "return 1")
	define(t, w, "fan", "return (await Promise.all(Array.from({length: 20}, () => ctx.callTool('leaf')))).length")
	out, err := w.Call(t.Context(), "fan", nil)
	wants(t, out, err, "20")
}

func TestCallToolGrantsAndErrors(t *testing.T) {
	w := view(t, room(t, toolroom.Options{}), tool.User, "w")
	define(t, w, "writes", "await ctx.writeText('f', 'x'); return await ctx.readText('f')", func(d *tool.Definition) { d.Scope = tool.ScopeWorkspace })
	define(t, w, "calls", "return await ctx.callTool('writes')")
	define(t, w, "strict", "return args.n", func(d *tool.Definition) {
		d.Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	})
	define(t, w, "fails", "throw new TypeError('mine')")
	define(t, w, "off", "return 1")
	if _, err := w.SetEnabled(t.Context(), "off", false, toolroom.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	out, err := w.Call(t.Context(), "calls", nil)
	wants(t, out, err, `"x"`) // the callee's own grant, not its caller's
	h := hands{w, tool.Definition{}}
	for expression, code := range map[string]tool.Code{
		"ctx.callTool('strict', {n: 'x'})":        tool.InvalidArguments,
		"ctx.callTool('strict')":                  tool.InvalidArguments,
		"ctx.callTool('absent', {})":              tool.NotFound,
		"ctx.callTool('off', {})":                 tool.Disabled,
		"ctx.callTool('fails', {})":               tool.CallFailed,
		"ctx.callTool('run_code', {body: '1'})":   tool.NotFound,
		"ctx.callTool('', {})":                    tool.NotFound,
		"ctx.callTool('strict', {n: 1, m: 1n})":   "",
		"ctx.callTool('strict', {n: undefined})":  tool.InvalidArguments,
		"ctx.callTool('strict', [1])":             tool.InvalidArguments,
		"ctx.callTool('strict', 'x'.repeat(2e6))": tool.InvalidArguments,
	} {
		_, err := h.run(t, "try { return await "+expression+" } catch (e) { return e.code ?? e.name }", nil)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
		}
		if code != "" {
			h.gets(t, fmt.Sprintf("%q", code), "try { return await "+expression+" } catch (e) { return e.code ?? e.name }", nil)
		}
	}
	h.def.Grant.Call = tool.NameList()
	h.refused(t, tool.CapabilityDenied, "ctx.callTool('fails', {})", nil)
}

func TestExecFromBodies(t *testing.T) {
	for _, name := range []string{"sh", "cat", "sleep", "env", "pwd"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s here", name)
		}
	}
	h, root := filesAt(t, toolroom.Options{Exec: []string{"sh", "cat", "sleep", "env", "pwd"}})
	h.refused(t, tool.ExecDenied, "ctx.exec('cat', [])", nil)
	h.def.Grant.Exec = []string{"sh", "cat", "sleep", "env", "pwd", "ls"}
	put(t, root, "sub", "file")
	for body, want := range map[string]string{
		"const r = await ctx.exec('cat', [], {input: 'through stdin'}); return [r.exitCode, r.stdout, r.stderr]":                      `[0,"through stdin",""]`,
		"const r = await ctx.exec('cat', ['absent']); return [r.exitCode, r.stdout, r.stderr.includes('absent')]":                     `[1,"",true]`,
		"return (await ctx.exec('cat', ['sub/file'])).stdout":                                                                         `"content of file"`,
		"return (await ctx.exec('cat', ['file'], {cwd: 'sub'})).stdout":                                                               `"content of file"`,
		"return (await ctx.exec('cat', ['$HOME; echo x | cat'])).exitCode":                                                            "1",
		"return (await ctx.exec('sh', ['-c', 'echo out; echo err >&2; exit 3'])).exitCode":                                            "3",
		"const r = await ctx.exec('env'); return /TOOLROOM|HOME=\\/root|SSH|SECRET/.test(r.stdout)":                                   "false",
		"const r = await ctx.exec('sh', ['-c', 'head -c 20000000 /dev/zero']); return [r.truncated, r.stdout.length < 17000000]":      "[true,true]",
		"const r = await ctx.exec('sh', ['-c', 'cat /etc/shadow; cat ../theirs; echo x > /tmp/escaped || echo no']); return r.stdout": `"no\n"`,
		"await ctx.exec('sh', ['-c', 'echo made > made']); return await ctx.readText('made')":                                         `"made\n"`,
	} {
		h.gets(t, want, body, nil)
	}
	put(t, filepath.Dir(root), "theirs")
	h.refused(t, tool.ExecDenied, "ctx.exec('ls', [])", nil)
	h.refused(t, tool.ExecDenied, "ctx.exec('/bin/cat', [])", nil)
	h.refused(t, tool.ExecDenied, "ctx.exec('cat file', [])", nil)
	h.refused(t, tool.PathDenied, "ctx.exec('cat', [], {cwd: p})", "..")
	h.refused(t, tool.PathDenied, "ctx.exec('cat', [], {cwd: p})", "/")
	h.refused(t, tool.NotAFile, "ctx.exec('cat', [], {cwd: p})", "absent")
	h.refused(t, tool.ExecFailed, "ctx.exec('sleep', ['30'], {timeoutMs: 200})", nil)
	h.refused2(t, "call_failed", "ctx.exec('cat', 'file')")
	h.def.Limits.TimeoutMS = 700
	h.gets(t, "timeout", "await ctx.exec('sh', ['-c', 'sleep 3; echo late > late'])", nil)
	time.Sleep(3500 * time.Millisecond)
	if _, err := os.Stat(filepath.Join(root, "late")); err == nil {
		t.Error("a command outlived its call")
	}
}

// TestSecretsFromBodies sends a secret everywhere a body can, to a server that
// repeats what it is told, and looks for it in all that the room lets out.
func TestSecretsFromBodies(t *testing.T) {
	const value = "hunter2/+ secret"
	var told []string
	s := newMisbehaving(t)
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		told = append(told, fmt.Sprint(r.URL, r.Header, string(b)))
	}))
	defer stranger.Close()
	data := t.TempDir()
	r := room(t, toolroom.Options{Data: data, AllowPrivate: []string{s.host, stranger.Listener.Addr().String()}})
	w := view(t, r, tool.User, "w")
	if err := w.SetSecret(t.Context(), "KEY", []byte(value), []string{s.host}); err != nil {
		t.Fatal(err)
	}
	if err := w.SetSecret(t.Context(), "SIGN", []byte("signing"), nil); err != nil {
		t.Fatal(err)
	}
	var lines []string
	h := hands{w.View(toolroom.Hooks{Log: func(l tool.LogLine) { lines = append(lines, l.Text) }, Progress: func(p tool.Progress) { lines = append(lines, p.Message) }}),
		tool.Definition{Grant: tool.Grant{Secrets: []string{"KEY", "SIGN"}}}}
	basic := base64.StdEncoding.EncodeToString([]byte("u:" + value))
	for body, arrives := range map[string]string{
		"await fetch(args + '/echo?k=' + encodeURIComponent(k))":                               "k=hunter2%2F%2B%20secret",
		"await ctx.fetchJson(args + '/echo', {query: {k}})":                                    "k=hunter2%2F%2B",
		"await fetch(args + '/echo', {headers: {Authorization: 'Bearer ' + k}})":               "Bearer " + value,
		"await fetch(args + '/echo', {headers: {Authorization: 'Basic ' + btoa('u:' + k)}})":   basic,
		"await fetch(args + '/echo', {method: 'POST', body: JSON.stringify({k})})":             `{"k":"` + value + `"}`,
		"await fetch(args + '/echo', {method: 'POST', body: new URLSearchParams({k})})":        "k=hunter2%2F%2B",
		"await fetch(new Request(args + '/echo', {method: 'POST', body: new Blob(['<', k])}))": "<" + value,
	} {
		lines = nil
		full := "const k = await ctx.secret('KEY'); let r; try { r = " + body +
			"; r = await r.text() } catch (e) { r = e.message + JSON.stringify(e) + e.body } console.log(r); ctx.log.error(r, k); ctx.progress(1, 2, String(r)); return [r, k]"
		out, err := h.run(t, full, s.URL)
		whole := fmt.Sprint(string(out.Value), out.Logs, lines, err)
		if strings.Contains(whole, "hunter2") || strings.Contains(whole, basic) {
			t.Errorf("%s: the secret came back: %s", body, whole)
		}
		_, err = h.run(t, strings.Replace(full, "return [r, k]", "throw new Error(r)", 1), s.URL)
		if e := tool.AsError(err); strings.Contains(fmt.Sprintf("%s %s %v", e.Message, e.Hint, e.Details), "hunter2") {
			t.Errorf("%s: the secret came out in an error: %v", body, err)
		}
		if !strings.Contains(whole, "/echo") {
			t.Errorf("%s: nothing came back: %s", body, whole)
		}
		if got, _ := s.last.Load().(string); !strings.Contains(got, arrives) {
			t.Errorf("%s: the server was told %s, want %s in it", body, got, arrives)
		}
	}
	for _, expression := range []string{"fetch(p + '/?k=' + await ctx.secret('KEY'))", "fetch(p, {headers: {'X-Key': await ctx.secret('KEY')}})", "fetch(p, {method: 'POST', body: await ctx.secret('KEY')})"} {
		h.refused(t, tool.SecretDenied, expression, stranger.URL)
	}
	h.refused(t, tool.SecretDenied, "fetch(p + await ctx.secret('KEY'))", s.URL+"/to?url="+stranger.URL+"/")
	h.refused(t, tool.SecretDenied, "fetch(p, {headers: {'X-Key': await ctx.secret('SIGN')}})", s.URL+"/echo")
	if len(told) > 0 {
		t.Errorf("a host that the secret is not bound to was told %v", told)
	}
	mac := hmac.New(sha256.New, []byte("signing"))
	mac.Write([]byte("data"))
	h.gets(t, fmt.Sprintf("%q", hex.EncodeToString(mac.Sum(nil))), "return await ctx.hmac('SIGN', 'SHA-256', 'data', 'hex')", nil)
	h.gets(t, "32", "return (await ctx.hmac('SIGN', 'sha256', new Uint8Array(3))).length", nil)
	h.refused(t, tool.SecretDenied, "ctx.secret('ABSENT')", nil)
	h.refused(t, tool.SecretDenied, "ctx.hmac('ABSENT', 'SHA-256', 'x')", nil)
	h.def.Grant.Secrets = nil
	h.refused(t, tool.SecretDenied, "ctx.secret('KEY')", nil)
	if err := view(t, r, tool.Model, "w").SetSecret(t.Context(), "X", []byte("x"), nil); tool.CodeOf(err) != tool.Forbidden {
		t.Errorf("a model set a secret: %v", err)
	}
	filepath.WalkDir(data, func(p string, d os.DirEntry, err error) error {
		if b, _ := os.ReadFile(p); strings.Contains(string(b), "hunter2") {
			t.Errorf("%s holds the secret", p)
		}
		return nil
	})
}

// TestEveryNameOnCtx uses what is neither file nor network once.
func TestEveryNameOnCtx(t *testing.T) {
	var steps []tool.Progress
	w := view(t, room(t, toolroom.Options{Env: map[string]string{"A": "1"}}), tool.User, "w")
	h := hands{w.View(toolroom.Hooks{Progress: func(p tool.Progress) { steps = append(steps, p) }}), tool.Definition{}}
	out, err := h.run(t, "ctx.progress(1); ctx.progress(2, 4, 'half'); ctx.log('plain'); ctx.log.warn('w', {a: 1}); console.debug('d'); return [ctx.vars.A, env.vars.A, params === args, ctx.signal.aborted, ctx.signal instanceof AbortSignal]", map[string]int{})
	wants(t, out, err, `["1","1",true,false,true]`)
	if len(steps) != 2 || steps[1] != (tool.Progress{Done: 2, Total: 4, Message: "half"}) {
		t.Errorf("the steps are %+v", steps)
	}
	var levels []string
	for _, l := range out.Logs {
		levels = append(levels, l.Level)
	}
	if got := strings.Join(levels, " "); got != "info warn debug" && got != "log warn debug" {
		t.Errorf("the levels are %s", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	d := tool.Definition{Body: "await new Promise(r => ctx.signal.addEventListener('abort', r)); console.log('aborted', ctx.signal.reason.name)"}
	out, _ = w.Run(ctx, d, nil)
	if len(out.Logs) != 1 || !strings.HasPrefix(out.Logs[0].Text, "aborted") {
		t.Errorf("the signal did not abort before the deadline: %+v", out.Logs)
	}
	out, err = h.run(t, "for (let i = 0; i < 3000; i++) console.log('x'.repeat(100)); return 1", nil)
	wants(t, out, err, "1")
	if out.Dropped == 0 || len(out.Logs) < 100 {
		t.Errorf("%d lines were kept and %d bytes dropped", len(out.Logs), out.Dropped)
	}
}

func TestWaitingCountsNoCPU(t *testing.T) {
	w := view(t, room(t, toolroom.Options{}), tool.User, "w")
	out, err := w.Run(t.Context(), tool.Definition{Body: "await new Promise(r => setTimeout(r, 700)); return 1"}, nil)
	wants(t, out, err, "1")
	if out.Usage.CPU > 300*time.Millisecond || out.Usage.Wall < 700*time.Millisecond {
		t.Errorf("a call that waited 700 ms used %v of CPU in %v", out.Usage.CPU, out.Usage.Wall)
	}
}

// TestMissingGlobalsNameTheirReplacement asks for what other runtimes have.
func TestMissingGlobalsNameTheirReplacement(t *testing.T) {
	h := hands{view(t, room(t, toolroom.Options{}), tool.User, "w"), tool.Definition{}}
	for body, hint := range map[string]string{
		"return Buffer.from('x').toString('base64')": "btoa",
		"return Buffer.from('x', 'base64')":          "atob",
		"return require('fs')":                       "ctx.readText",
		"return require('crypto').randomUUID()":      "crypto",
		"return process.env.HOME":                    "env.vars",
		"module.exports = 1":                         "return",
		"return (await import('node:fs'))":           "ctx.readText",
		"return await import('https://esm.sh/x')":    "Inline",
	} {
		_, err := h.run(t, body, nil)
		e := tool.AsError(err)
		if err == nil || !strings.Contains(e.Hint, hint) {
			t.Errorf("%s: %v (hint %q), want a hint with %q", body, err, e.Hint, hint)
		}
	}
	h.gets(t, `["undefined","undefined","undefined","undefined"]`, "return [typeof process, typeof require, typeof Buffer, typeof module]", nil)
}

// TestSecretsInPiecesComeOutNowhere has a server give a secret back in pieces, which
// a body puts together: the last things that look are those which let it out.
func TestSecretsInPiecesComeOutNowhere(t *testing.T) {
	const value = "hunter2-in-pieces"
	s := newMisbehaving(t)
	w := view(t, room(t, toolroom.Options{AllowPrivate: []string{s.host}}), tool.User, "w")
	if err := w.SetSecret(t.Context(), "KEY", []byte(value), []string{s.host}); err != nil {
		t.Fatal(err)
	}
	var told []string
	h := hands{w.View(toolroom.Hooks{Log: func(l tool.LogLine) { told = append(told, l.Text) }, Progress: func(p tool.Progress) { told = append(told, p.Message) }}),
		tool.Definition{Grant: tool.Grant{Secrets: []string{"KEY"}}}}
	body := "await ctx.secret('KEY'); const k = ['hunter2', 'in', 'pieces'].join('-'); console.log('it is ' + k); ctx.progress(1, 1, k); const e = new Error(k); e.name = k; "
	for _, end := range []string{"throw e", "throw k", "return k", "return {[k]: [k]}"} {
		told = nil
		out, err := h.run(t, body+end, nil)
		said, _ := json.Marshal([]any{out, tool.AsError(err), told})
		if strings.Contains(string(said), value) {
			t.Errorf("%s: %s", end, said)
		}
		if len(told) != 2 {
			t.Errorf("%s: %d texts were told, want a line and a step", end, len(told))
		}
	}
}
