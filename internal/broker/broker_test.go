package broker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"toolroom/internal/broker"
	"toolroom/internal/broker/command"
	"toolroom/internal/broker/egress"
	"toolroom/internal/broker/files"
	"toolroom/tool"
)

func TestMain(m *testing.M) {
	command.Main()
	goleak.VerifyTestMain(m)
}

var place = tool.Place{Tenant: "t", Workspace: "w"}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, o broker.Options) *broker.Broker {
	t.Helper()
	b, err := broker.Open(o)
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	return b
}

// all is a call that was granted everything.
func all(t *testing.T) broker.Call {
	return broker.Call{Place: place, Root: t.TempDir(), Scope: tool.ScopeWorkspace, Grant: tool.Grant{Net: tool.AnyName(), Call: tool.AnyName(), Files: tool.WriteFiles, Secrets: []string{"key"}, Exec: []string{"sh"}}}
}

func session(t *testing.T, b *broker.Broker, c broker.Call) *broker.Session {
	t.Helper()
	s, err := b.Session(context.Background(), c)
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

// ask makes a request with arguments as JSON text.
func ask(s *broker.Session, op, args string, data ...string) (string, string, *tool.Error) {
	value, out, err := s.Serve(context.Background(), op, json.RawMessage(args), []byte(strings.Join(data, "")))
	return string(value), string(out), err
}

func code(err *tool.Error) tool.Code {
	if err == nil {
		return ""
	}
	return err.Code
}

func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// samples is a well-formed request of every operation.
func samples() map[string]string {
	return map[string]string{
		"net.fetch": `{"url":"http://example.com/","method":"GET","headers":[],"redirect":"follow"}`, "net.read": `{"stream":1}`, "net.close": `{"stream":1}`,
		"files.read": `{"path":"a"}`, "files.write": `{"path":"a","append":false}`, "files.list": `{"path":".","recursive":true}`, "files.stat": `{"path":"a"}`,
		"files.remove": `{"path":"a","recursive":false}`, "files.mkdir": `{"path":"d"}`, "exec.run": `{"command":"sh","args":["-c","true"]}`,
		"secrets.standin": `{"name":"key"}`, "secrets.hmac": `{"name":"key","algorithm":"sha256"}`,
	}
}

func TestNothingWithoutAGrant(t *testing.T) {
	want := map[string]tool.Code{"net.fetch": tool.EgressDenied, "net.read": tool.FetchFailed, "net.close": "", "exec.run": tool.ExecDenied,
		"secrets.standin": tool.SecretDenied, "secrets.hmac": tool.SecretDenied}
	for name, change := range map[string]func(*broker.Call){
		"nothing said": func(c *broker.Call) { c.Grant = tool.Grant{} },
		"said nothing": func(c *broker.Call) {
			c.Grant = tool.Grant{Net: tool.NameList(), Call: tool.NameList(), Files: tool.NoFiles}
		},
		"scope global": func(c *broker.Call) { c.Grant = tool.Grant{Files: tool.WriteFiles}; c.Scope = tool.ScopeGlobal },
	} {
		call := all(t)
		change(&call)
		s := session(t, open(t, broker.Options{Exec: []string{"sh"}}), call)
		for op, args := range samples() {
			expect, ok := want[op]
			if !ok {
				expect = tool.CapabilityDenied
			}
			if _, _, err := ask(s, op, args); code(err) != expect {
				t.Errorf("%s: %s: %v, want %s", name, op, err, expect)
			}
		}
	}
}

func TestReadOnlyFiles(t *testing.T) {
	call := all(t)
	call.Grant.Files = tool.ReadFiles
	must(t, os.WriteFile(filepath.Join(call.Root, "a"), []byte("x"), 0o644))
	s := session(t, open(t, broker.Options{}), call)
	for op, expect := range map[string]tool.Code{"files.read": "", "files.list": "", "files.stat": "", "files.write": tool.CapabilityDenied, "files.remove": tool.CapabilityDenied, "files.mkdir": tool.CapabilityDenied} {
		if _, _, err := ask(s, op, samples()[op]); code(err) != expect {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// TestMalformedRequests bends every operation's arguments in every way at once.
func TestMalformedRequests(t *testing.T) {
	s := session(t, open(t, broker.Options{}), all(t))
	deep := strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	for op, args := range samples() {
		field, _, _ := strings.Cut(strings.TrimPrefix(args, `{"`), `"`)
		rest := strings.TrimSuffix(args, "}")
		for name, bad := range map[string]string{
			"empty": "", "not JSON": "{", "a list": "[]", "two": args + args, "unknown name": rest + `,"extra":1}`, "twice": rest + `,"` + field + `":null}`,
			"other case": strings.Replace(args, field, strings.ToUpper(field), 1), "wrong type": fmt.Sprintf(`{%q:{}}`, field), "deep": rest + `,"x":` + deep + "}", "bad UTF-8": rest + `,"x":"` + "\xff" + `"}`,
			"large": rest + `,"x":"` + strings.Repeat("a", 300<<10) + `"}`, "go name": rest + `,"Body":"x"}`,
		} {
			if _, _, err := ask(s, op, bad); code(err) != tool.CapabilityDenied {
				t.Errorf("%s, %s: %v", op, name, err)
			}
		}
	}
	for _, op := range []string{"", "net", "NET.FETCH", "net.fetch ", "files.readFile", "constructor", strings.Repeat("x", 1000)} {
		if _, _, err := ask(s, op, "{}"); code(err) != tool.CapabilityDenied || len(err.Message) > 200 {
			t.Errorf("%.20q: %v", op, err)
		}
	}
	if _, _, err := ask(s, "files.read", `{"path":"a"}`, "data"); code(err) != tool.CapabilityDenied {
		t.Errorf("data that nobody asked for: %v", err)
	}
}

func TestFetch(t *testing.T) {
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Sent", r.Header.Get("X-Send"))
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, b)
		if r.URL.Path == "/large" {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	})
	s := session(t, open(t, broker.Options{Net: egress.Options{AllowPrivate: []string{addr}}}), all(t))
	value, data, err := ask(s, "net.fetch", `{"url":"http://`+addr+`/a","method":"POST","headers":[["X-Send","1"]],"redirect":"follow"}`, "body")
	var head egress.Response
	if err != nil || json.Unmarshal([]byte(value), &head) != nil || head.Status != 200 || !head.Done || data != "POST /a body" || !strings.Contains(value, `["x-sent","1"]`) {
		t.Fatalf("%s %q %v", value, data, err)
	}
	value, data, err = ask(s, "net.fetch", `{"url":"http://`+addr+`/large","method":"GET"}`)
	if err != nil || json.Unmarshal([]byte(value), &head) != nil || head.Done {
		t.Fatalf("%s %v", value, err)
	}
	size := len(data)
	for done := false; !done; size += len(data) {
		if value, data, err = ask(s, "net.read", fmt.Sprintf(`{"stream":%d}`, head.Stream)); err != nil || len(data) > 256<<10 {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		done = strings.Contains(value, "true")
	}
	if size != 1<<20+len("GET /large ") {
		t.Errorf("%d bytes", size)
	}
	if r := s.Report(); r.Requests != 2 || len(r.Egress) != 2 || r.Egress[0].Host != addr || r.BytesIn != int64(size+len("POST /a body")) || r.BytesOut != 4 {
		t.Errorf("%+v", r)
	}
}

func TestFiles(t *testing.T) {
	s := session(t, open(t, broker.Options{}), all(t))
	for _, step := range []struct{ op, args, data, value, out string }{
		{"files.write", `{"path":"d/a.txt"}`, "one", `{"size":3}`, ""}, {"files.write", `{"path":"d/a.txt","append":true}`, "two", `{"size":6}`, ""},
		{"files.read", `{"path":"d/a.txt"}`, "", "", "onetwo"}, {"files.mkdir", `{"path":"e"}`, "", "", ""}, {"files.remove", `{"path":"e"}`, "", "", ""},
	} {
		value, out, err := ask(s, step.op, step.args, step.data)
		if err != nil || value != step.value || out != step.out {
			t.Errorf("%s %s: %s %q %v", step.op, step.args, value, out, err)
		}
	}
	value, _, err := ask(s, "files.stat", `{"path":"d/a.txt"}`)
	if err != nil || !strings.HasPrefix(value, `{"name":"a.txt","path":"d/a.txt","type":"file","size":6,"modified":"20`) {
		t.Errorf("%s %v", value, err)
	}
	_, out, err := ask(s, "files.list", `{"path":".","recursive":true}`)
	var list []files.Entry
	if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list) != 2 || list[1].Path != "d/a.txt" {
		t.Errorf("%s %v", out, err)
	}
}

func TestAWorkspaceMayShowItsSecretLikeFiles(t *testing.T) {
	call := all(t)
	call.Show = []string{".env"}
	must(t, os.WriteFile(filepath.Join(call.Root, ".env"), []byte("A=1"), 0o600))
	must(t, os.WriteFile(filepath.Join(call.Root, ".npmrc"), []byte("A=1"), 0o600))
	s := session(t, open(t, broker.Options{}), call)
	if _, out, err := ask(s, "files.read", `{"path":".env"}`); err != nil || out != "A=1" {
		t.Errorf("%q %v", out, err)
	}
	if _, _, err := ask(s, "files.read", `{"path":".npmrc"}`); code(err) != tool.PathDenied {
		t.Errorf("%v", err)
	}
}

func TestCommands(t *testing.T) {
	call := all(t)
	b, err := broker.Open(broker.Options{Exec: []string{"sh", "true"}})
	if err != nil {
		t.Skip(err) // this machine cannot confine
	}
	defer b.Close()
	s := session(t, b, call)
	value, out, fail := ask(s, "exec.run", `{"command":"sh","args":["-c","cat > f; cat f; echo no >&2; exit 2"],"cwd":""}`, "input")
	if fail != nil || value != `{"exitCode":2,"stdoutBytes":5,"stderrBytes":3,"truncated":false}` || out != "inputno\n" {
		t.Errorf("%s %q %v", value, out, fail)
	}
	for args, expect := range map[string]tool.Code{
		`{"command":"true"}`: tool.ExecDenied, `{"command":"cat"}`: tool.ExecDenied, `{"command":""}`: tool.ExecDenied, `{"command":"/bin/sh"}`: tool.ExecDenied,
		`{"command":"sh","cwd":".."}`: tool.PathDenied, `{"command":"sh","cwd":"/"}`: tool.PathDenied, `{"command":"sh","cwd":"f"}`: tool.NotAFile, `{"command":"sh","cwd":"missing"}`: tool.NotAFile,
		`{"command":"sh","args":["-c","sleep 60"],"timeoutMs":100}`: tool.ExecFailed,
	} {
		if _, _, err := ask(s, "exec.run", args); code(err) != expect {
			t.Errorf("%s: %v, want %s", args, err, expect)
		}
	}
	hidden, err := broker.Open(broker.Options{Exec: []string{"sh"}, Files: files.Options{Hidden: []string{filepath.Join(call.Root, "data")}}})
	must(t, err)
	defer hidden.Close()
	if _, _, err := ask(session(t, hidden, call), "exec.run", `{"command":"sh","args":["-c","true"]}`); code(err) != tool.ExecDenied {
		t.Errorf("with the room's data in the workspace: %v", err)
	}
}

func TestRequestsAreLimited(t *testing.T) {
	s := session(t, open(t, broker.Options{}), all(t))
	for i := range 1000 {
		if _, _, err := ask(s, "files.mkdir", `{"path":"d"}`); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	if _, _, err := ask(s, "files.mkdir", `{"path":"d"}`); code(err) != tool.RateLimited || err.Retryable {
		t.Errorf("%v", err)
	}
	if _, _, err := ask(s, "net.close", `{"stream":1}`); err != nil {
		t.Errorf("%v", err)
	}
}

func TestClosingEndsEverything(t *testing.T) {
	arrived := make(chan struct{}, 10)
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			fmt.Fprint(w, "x")
			w.(http.Flusher).Flush()
		}
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	s := session(t, open(t, broker.Options{Net: egress.Options{AllowPrivate: []string{addr}}}), all(t))
	ended := make(chan *tool.Error, 10)
	go func() {
		_, _, err := ask(s, "net.fetch", `{"url":"http://`+addr+`/hang","method":"GET"}`)
		ended <- err
	}()
	<-arrived
	head, _, err := ask(s, "net.fetch", `{"url":"http://`+addr+`/stream","method":"GET"}`)
	if err != nil || !strings.Contains(head, `"done":false`) {
		t.Fatalf("%s %v", head, err)
	}
	go func() {
		for err == nil {
			_, _, err = ask(s, "net.read", `{"stream":1}`)
		}
		ended <- err
	}()
	<-arrived
	s.Close()
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("a request went on")
		}
	}
	if _, _, err := ask(s, "files.list", `{"path":"."}`); code(err) != tool.Cancelled {
		t.Errorf("%v", err)
	}
}

func TestSessionsOfAClosedRoom(t *testing.T) {
	b, err := broker.Open(broker.Options{})
	must(t, err)
	must(t, b.Forget(place))
	must(t, b.Close())
	must(t, b.Close())
	if _, err := b.Session(t.Context(), all(t)); tool.CodeOf(err) != tool.Stopped {
		t.Errorf("%v", err)
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	for name, o := range map[string]broker.Options{"private": {Net: egress.Options{AllowPrivate: []string{"x"}}}, "exec": {Exec: []string{"no-such-command-here"}}} {
		if _, err := broker.Open(o); tool.CodeOf(err) != tool.InvalidArguments {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := broker.CheckGrant(tool.Grant{Net: tool.NameList("https://x")}); tool.CodeOf(err) != tool.InvalidDefinition {
		t.Errorf("%v", err)
	}
	if err := broker.CheckGrant(tool.Grant{Net: tool.NameList("*.example.com", "10.0.0.1:80")}); err != nil {
		t.Error(err)
	}
}

// FuzzServe sends anything at all and wants an answer that a body may get.
func FuzzServe(f *testing.F) {
	for op, args := range samples() {
		f.Add(op, args, "data")
	}
	f.Add("net.fetch", `{"url":"http://127.0.0.1:1","method":"GET"}`, "")
	f.Add("files.read", `{"path":"../x"}`, "")
	b, err := broker.Open(broker.Options{Net: egress.Options{None: true}})
	if err != nil {
		f.Fatal(err)
	}
	defer b.Close()
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, op, args, data string) {
		s, err := b.Session(t.Context(), broker.Call{Place: place, Root: root, Scope: tool.ScopeWorkspace, Grant: tool.Grant{Net: tool.AnyName(), Files: tool.WriteFiles, Secrets: []string{"key"}, Exec: []string{"sh"}}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, _, err := ask(s, op, args, data); err != nil && !err.Code.Capability() {
			t.Fatalf("%q %q: %v", op, args, err)
		}
	})
}
