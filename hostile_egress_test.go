package toolroom_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolroom"
	"toolroom/tool"
)

// misbehaving is a server on loopback for bodies to meet. seen counts its requests.
type misbehaving struct {
	*httptest.Server
	host  string // with the port
	seen  atomic.Int64
	last  atomic.Value  // what /echo answered last, a string
	ended chan struct{} // gets a value when the client of /trickle has gone
}

func newMisbehaving(t *testing.T) *misbehaving {
	t.Helper()
	m := &misbehaving{ended: make(chan struct{}, 8)}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", m.echo)
	mux.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"a":[1,2]}`) })
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"a":`) })
	mux.HandleFunc("/status/404", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "nothing "+strings.Repeat("here ", 400), 404)
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("url"))
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/circle", http.StatusFound) })
	mux.HandleFunc("/bomb", bomb)
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 9<<20)) })
	mux.HandleFunc("/trickle", m.trickle)
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "short")
		panic(http.ErrAbortHandler)
	})
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.seen.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(m.Close)
	m.host = m.Listener.Addr().String()
	return m
}

func (m *misbehaving) echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var said strings.Builder
	fmt.Fprintf(&said, "%s %s\n", r.Method, r.URL.RequestURI())
	_ = r.Header.Write(&said)
	fmt.Fprintf(&said, "\n%s", body)
	m.last.Store(said.String())
	_, _ = io.WriteString(w, said.String())
}

func bomb(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 64 {
		_, _ = z.Write(zeros)
	}
	_ = z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(b.Bytes())
}

func (m *misbehaving) trickle(w http.ResponseWriter, r *http.Request) {
	for {
		select {
		case <-r.Context().Done():
			m.ended <- struct{}{}
			return
		case <-time.After(20 * time.Millisecond):
			fmt.Fprint(w, "x")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// reaching is a workspace that reaches server although it is on loopback.
func reaching(t *testing.T, server *misbehaving, opts toolroom.Options) hands {
	t.Helper()
	opts.AllowPrivate = append(opts.AllowPrivate, server.host)
	return hands{view(t, room(t, opts), tool.User, "w"), tool.Definition{}}
}

// TestPrivateAddressesFromBodies tries every spelling of an address that is not
// public, with a server waiting behind those of loopback.
func TestPrivateAddressesFromBodies(t *testing.T) {
	onlyWhole(t)
	s := newMisbehaving(t)
	_, port, _ := net.SplitHostPort(s.host)
	h := hands{view(t, room(t, toolroom.Options{}), tool.User, "w"), tool.Definition{}}
	hosts := []string{"127.0.0.1", "127.1", "2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "[::1]", "[::]", "localhost", "localhost.", "LOCALHOST", "a.localhost", "0.0.0.0", "0",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "169.254.169.254", "168.63.129.16", "[fd00:ec2::254]", "[fe80::1]", "10.0.0.1", "192.168.0.1", "172.16.0.1",
		"100.64.0.1", "224.0.0.1", "255.255.255.255", "%31%32%37.0.0.1", "１２７.0.0.1"}
	for _, host := range hosts {
		h.refused(t, tool.EgressDenied, "fetch(p)", "http://"+host+":"+port+"/echo")
	}
	h.refused(t, tool.EgressDenied, "ctx.fetchJson(p)", s.URL+"/json")
	h.refused(t, tool.EgressDenied, "fetch(new Request(p, {method: 'POST', body: 'x'}))", s.URL+"/echo")
	if n := s.seen.Load(); n != 0 {
		t.Errorf("the server got %d requests, want none", n)
	}
}

func TestRedirectsFromBodies(t *testing.T) {
	s, other := newMisbehaving(t), newMisbehaving(t)
	h := reaching(t, s, toolroom.Options{})
	for _, url := range []string{other.URL + "/echo", "http://169.254.169.254/", "file:///etc/passwd", "ftp://example.com/", "data:text/plain,x", "javascript:1", "gopher://x/"} {
		h.refused(t, tool.EgressDenied, "fetch(p)", s.URL+"/to?url="+url)
	}
	h.refused(t, tool.EgressDenied, "fetch(p)", s.URL+"/circle")
	h.gets(t, `[302,true]`, "const r = await fetch(args + '/to?url=http://169.254.169.254/', {redirect: 'manual'}); return [r.status, r.headers.has('location')]", s.URL)
	h.gets(t, `true`, "return (await fetch(args + '/to?url=/echo')).redirected", s.URL)
	if n := other.seen.Load(); n != 0 {
		t.Errorf("a redirect reached %d times where it must not", n)
	}
	h = reaching(t, s, toolroom.Options{AllowPrivate: []string{other.host}})
	h.gets(t, "false", `const r = await fetch(args[0] + '/to?url=' + args[1] + '/echo', {headers: {Authorization: 'Bearer x', Cookie: 'c=1', Accept: 'text/x-mine'}});
		const t = await r.text(); if (!t.includes('text/x-mine')) throw new Error(t); return /Bearer|c=1/.test(t)`, []string{s.URL, other.URL})
}

func TestHostileRequestsFromBodies(t *testing.T) {
	s := newMisbehaving(t)
	h := reaching(t, s, toolroom.Options{})
	for _, url := range []string{"http://user:pass@" + s.host + "/echo", "http://user@" + s.host + "/echo"} {
		h.refused(t, tool.InvalidURL, "fetch(p)", url)
	}
	for _, url := range []string{"", "nowhere", "/relative", "http://", "http://a b/", "http://[::1", "http://x:99999/", "http://a\x00b/"} {
		h.refused(t, tool.InvalidURL, "fetch(p)", url)
	}
	for _, url := range []string{"file:///etc/passwd", "ftp://" + s.host, "data:text/plain,x", "blob:x", "ws://" + s.host} {
		h.refused(t, tool.EgressDenied, "fetch(p)", url)
	}
	before := s.seen.Load()
	for _, headers := range []string{`{Host: 'other'}`, `{'Transfer-Encoding': 'chunked'}`, `{'X-A': 'a\r\nX-B: b'}`, `{'X-A\r\n': 'a'}`, `{'Proxy-Authorization': 'x'}`, `{Upgrade: 'h2c'}`, `{'X-A': 'a\x00'}`} {
		h.refusedAnyhow(t, "fetch(p + '/echo', {headers: "+headers+"})", s.URL)
	}
	if n := s.seen.Load(); n != before {
		t.Errorf("the server got %d requests with headers that must not be sent", n-before)
	}
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	h.gets(t, "200", "return (await fetch(args + '/echo', {headers: {'Content-Length': '5', Connection: 'close'}})).status", s.URL)
}

// refusedAnyhow is refused with one of the codes that fit what fetch cannot send.
func (h hands) refusedAnyhow(t *testing.T, expression string, args any) {
	t.Helper()
	out, err := h.run(t, "const p = args; return await ("+expression+")", args)
	switch tool.CodeOf(err) {
	case tool.InvalidURL, tool.EgressDenied, tool.FetchFailed, tool.CallFailed:
	default:
		t.Errorf("%s of %q: %s %v", expression, args, out.Value, err)
	}
}

func TestResponsesThatHurtFromBodies(t *testing.T) {
	onlyWhole(t)
	s := newMisbehaving(t)
	h := reaching(t, s, toolroom.Options{})
	for _, read := range []string{"(await fetch(p)).text()", "(await fetch(p)).arrayBuffer()", "ctx.fetchJson(p)", "(async () => { for await (const c of (await fetch(p)).body); })()"} {
		h.refused(t, tool.ResponseTooLarge, read, s.URL+"/bomb")
		h.refused(t, tool.ResponseTooLarge, read, s.URL+"/large")
	}
	h.refused(t, tool.ResponseTooLarge, "ctx.fetchJson(p, {maxBytes: 5})", s.URL+"/json")
	h.refused(t, tool.FetchFailed, "(await fetch(p)).text()", s.URL+"/cut")
	h.def.Limits.TimeoutMS = 500
	_, err := h.run(t, "return await (await fetch(args)).text()", s.URL+"/trickle")
	if tool.CodeOf(err) != tool.Timeout {
		t.Errorf("a server that trickles: %v, want timeout", err)
	}
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		t.Error("the socket to the server that trickles was not closed")
	}
	h.def.Limits.TimeoutMS = 0
	h.refused(t, tool.Timeout, "ctx.fetchJson(p, {timeoutMs: 200})", s.URL+"/trickle")
	h.gets(t, `["TimeoutError",true]`, "try { await (await fetch(args, {signal: AbortSignal.timeout(200)})).text() } catch (e) { return [e.name, e instanceof DOMException] }", s.URL+"/trickle")
	h.gets(t, `"AbortError"`, "const c = new AbortController(); setTimeout(() => c.abort(), 100); try { await (await fetch(args, {signal: c.signal})).text() } catch (e) { return e.name }", s.URL+"/trickle")
}

func TestAllowListFromBodies(t *testing.T) {
	s := newMisbehaving(t)
	h := reaching(t, s, toolroom.Options{})
	for name, c := range map[string]struct {
		net  *tool.Names
		want string
	}{
		"empty":           {tool.NameList(), "egress_denied"},
		"another":         {tool.NameList("example.com"), "egress_denied"},
		"whole":           {tool.NameList("127.0.0.1"), "200"},
		"part":            {tool.NameList("127.0.0"), "egress_denied"},
		"another port":    {tool.NameList("127.0.0.1:1"), "egress_denied"},
		"host with port":  {tool.NameList(s.host), "200"},
		"wildcard inside": {tool.NameList("*.0.0.1"), ""},
		"any":             {tool.AnyName(), "200"},
	} {
		h.def.Grant.Net = c.net
		out, err := h.run(t, "return (await fetch(args)).status", s.URL+"/echo")
		if c.want == "" && err == nil {
			t.Errorf("%s: reached", name)
		} else if c.want != "" {
			wants(t, out, err, c.want)
		}
	}
	for _, bad := range []string{"", "exa mple.com", "*", "a*.com", "x.*", "http://x.com", "x.com/path", "x.com:99999", "[::1", "127.0.0.0/8", "user@x.com", "a..b"} {
		_, err := h.w.Create(t.Context(), tool.Definition{Name: "t", Description: "T.", Body: "return 1", Grant: tool.Grant{Net: tool.NameList(bad)}}, toolroom.CreateOptions{})
		if tool.CodeOf(err) != tool.InvalidDefinition {
			t.Errorf("grant.net %q was not refused when saved: %v", bad, err)
		}
	}
	none := hands{view(t, room(t, toolroom.Options{NoNet: true}), tool.User, "w"), tool.Definition{Grant: tool.Grant{Net: tool.AnyName()}}}
	none.refused(t, tool.EgressDenied, "fetch(p)", "https://example.com/")
}

func TestFetchJSON(t *testing.T) {
	s := newMisbehaving(t)
	h := reaching(t, s, toolroom.Options{})
	for body, want := range map[string]string{
		"return await ctx.fetchJson(args + '/json')": `{"a":[1,2]}`,
		"try { await ctx.fetchJson(args + '/status/404') } catch (e) { return [e.status, e.body.startsWith('nothing here'), e.body.length < 600, e.message.includes('404')] }": `[404,true,true,true]`,
		"return await ctx.fetchJson(args + '/status/404')":  "call_failed",
		"return await ctx.fetchJson(args + '/broken')":      "call_failed",
		"return await (await fetch(args + '/json')).json()": `{"a":[1,2]}`,
	} {
		h.gets(t, want, body, s.URL)
	}
	out, err := h.run(t, `try { await ctx.fetchJson(args + '/echo', {method: 'PUT', headers: {'X-Mine': 'yes'}, query: {a: 1, b: ['x y', '&'], c: undefined}, body: {n: 1}}) } catch (e) { return String(e.message) }
		return 'parsed'`, s.URL)
	if err != nil || !strings.Contains(string(out.Value), "JSON") {
		t.Errorf("text that is no JSON: %s %v", out.Value, err)
	}
	out, err = h.run(t, `const u = new URL(args + '/echo'); return await (await fetch(u, {method: 'PUT', headers: new Headers({'X-Mine': 'yes'}), body: JSON.stringify({n: 1})})).text()`, s.URL)
	for _, part := range []string{"PUT /echo", "X-Mine: yes", `{\"n\":1}`} {
		if err != nil || !strings.Contains(string(out.Value), part) {
			t.Errorf("the request lacks %s: %s %v", part, out.Value, err)
		}
	}
}

func TestRequestsOfACallAreLimited(t *testing.T) {
	onlyWhole(t)
	s := newMisbehaving(t)
	h := reaching(t, s, toolroom.Options{})
	h.gets(t, `[1000,"rate_limited"]`, "let n = 0; try { for (;;) { await (await fetch(args)).text(); n++ } } catch (e) { return [n, e.code] }", s.URL+"/json")
	h.gets(t, "rate_limited", "for (;;) await ctx.callTool('absent').catch(e => { if (e.code !== 'not_found') throw e })", nil)
	h.gets(t, "1000", "const all = await Promise.allSettled(Array.from({length: 1200}, () => fetch(args).then(r => r.text()))); return all.filter(r => r.status === 'fulfilled').length", s.URL+"/json")
}
