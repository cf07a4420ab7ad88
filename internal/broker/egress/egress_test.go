package egress_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"toolroom/internal/broker/egress"
	"toolroom/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a resolver of the test's own; it counts what it was asked.
type names struct {
	of    map[string][]string
	asked atomic.Int64
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.asked.Add(1)
	var out []netip.Addr
	for _, a := range n.of[host] {
		out = append(out, netip.MustParseAddr(a))
	}
	if out == nil {
		return nil, &net.DNSError{Name: host, IsNotFound: true}
	}
	return out, nil
}

func client(t *testing.T, o egress.Options, allow *tool.Names) *egress.Client {
	t.Helper()
	if o.Resolver == nil {
		o.Resolver = &names{}
	}
	guard, err := egress.NewGuard(o)
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := egress.ParseHosts(allow)
	if err != nil {
		t.Fatal(err)
	}
	pool := guard.NewPool()
	t.Cleanup(pool.Close)
	c := pool.NewClient(context.Background(), hosts, nil)
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) (*httptest.Server, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s, strings.TrimPrefix(s.URL, "http://")
}

func get(url string) *egress.Request { return &egress.Request{URL: url, Method: "GET"} }

// whole fetches and reads to the end.
func whole(c *egress.Client, r *egress.Request) (*egress.Response, []byte, error) {
	ctx := context.Background()
	head, data, err := c.Fetch(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	for done := head.Done; !done; {
		var more []byte
		if more, done, err = c.Read(ctx, head.Stream); err != nil {
			return head, data, err
		}
		data = append(data, more...)
	}
	return head, data, nil
}

func wantCode(t *testing.T, err error, code tool.Code) {
	t.Helper()
	if tool.CodeOf(err) != code {
		t.Fatalf("got %v, want %s", err, code)
	}
}

// TestHostileAddresses holds every spelling of a private place to one answer,
// without a question to a name server.
func TestHostileAddresses(t *testing.T) {
	for _, url := range []string{
		"http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0177.0.0.1/", "http://0x7f000001/", "http://0x7f.0.0.0x1:80/",
		"http://127.0.0.1./", "http://１２７.0.0.1/", "http://0.0.0.0/", "http://0/", "http://[::]:8080/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/",
		"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:a9fe:a9fe]/", "http://[::7f00:1]/", "http://[::ffff:0:7f00:1]/",
		"http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::a9fe:a9fe]/", "http://[2002:7f00:1::]/", "http://[2001:0:7f00:1::]/", "http://[fe80::1]/", "http://[fec0::1]/",
		"http://[fc00::1]/", "http://[fd00:ec2::254]/latest/", "http://[ff02::1]/", "http://[100::1]/", "http://[2001:db8::1]/",
		"http://localhost/", "http://LOCALHOST:81/", "http://localhost./", "http://db.localhost:5432/", "http://10.0.0.5/", "http://172.16.0.1/",
		"http://172.31.255.255/", "http://192.168.1.1/", "http://169.254.169.254/latest/meta-data/", "http://169.254.169.254./", "http://2852039166/",
		"http://100.100.100.200/", "http://100.64.0.1/", "http://168.63.129.16/", "http://192.0.0.192/", "http://198.18.0.1/", "http://224.0.0.1/", "http://240.0.0.1/",
		"http://255.255.255.255/", "http://metadata.google.internal/", "http://METADATA.google.internal./", "http://metadata.goog/", "http://router/",
		"http://kubernetes.default.svc.local/", "http://printer.local/", "http://vault.internal/", "http://example.com:25/", "http://example.com:6379/",
		"file:///etc/passwd", "gopher://127.0.0.1:6379/_INFO", "data:text/plain,hello", "ftp://example.com/", "ws://example.com/", "blob:null/1", "javascript:1",
	} {
		t.Run(url, func(t *testing.T) {
			dns := &names{}
			_, _, err := client(t, egress.Options{Resolver: dns}, tool.AnyName()).Fetch(t.Context(), get(url))
			wantCode(t, err, tool.EgressDenied)
			if n := dns.asked.Load(); n != 0 {
				t.Errorf("%d questions to the name server", n)
			}
		})
	}
}

func TestUnreadableURLs(t *testing.T) {
	for _, url := range []string{
		"", "/path", "example.com", "http://", "http://[fe80::1%25eth0]/", "http://user@example.com/", "http://user:pw@example.com/", "http://:pw@example.com/",
		`http://127.0.0.1:80\@example.com/`, `http:\\127.0.0.1\`, "http://127.0.0\t.1/", "http://exa\nmple.com/", "http://example.com/\x00", "http://example.com/a\r\nHost: x",
		"http://a b/", "http://example.com:99999/", "http://%00/", "http://1.2.3.4.5/", "http://" + strings.Repeat("a", 70_000) + "/",
	} {
		_, _, err := client(t, egress.Options{}, tool.AnyName()).Fetch(t.Context(), get(url))
		if code := tool.CodeOf(err); code != tool.InvalidURL {
			t.Errorf("%.60q: %v", url, err)
		}
	}
}

// TestPublicStaysReachable asks names and numbers that look private and are not:
// the guard lets them through to the dialler, where this machine may have no route.
func TestPublicStaysReachable(t *testing.T) {
	guard, err := egress.NewGuard(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://172.32.0.1/", "http://100.128.0.1/", "http://192.169.1.1/", "http://[2606:4700:4700::1111]/", "http://[::ffff:8.8.8.8]/",
		"http://11.0.0.1/", "https://example.com/", "http://127.0.0.1.example.com/", "http://localhost.example.com/", "http://example.com:8080/"} {
		target, err := egress.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if err := guard.Check(target); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestNamesOfPrivateAddresses covers rebinding, mixed records and names made for it.
func TestNamesOfPrivateAddresses(t *testing.T) {
	var hits atomic.Int64
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) { hits.Add(1) })
	_, port, _ := net.SplitHostPort(addr)
	dns := &names{of: map[string][]string{
		"127.0.0.1.nip.io": {"127.0.0.1"}, "mixed.test": {"192.0.2.7", "10.1.2.3", "127.0.0.1"}, "meta.test": {"169.254.169.254"}, "six.test": {"::1", "::ffff:127.0.0.1"},
	}}
	for name := range dns.of {
		_, _, err := client(t, egress.Options{Resolver: dns}, tool.AnyName()).Fetch(t.Context(), get("http://"+name+":"+port+"/"))
		wantCode(t, err, tool.EgressDenied)
		if strings.Contains(err.Error(), "10.1.2.3") {
			t.Errorf("the error shows an inner address: %v", err)
		}
	}
	if hits.Load() != 0 {
		t.Error("a private server was reached")
	}
}

func TestOnlyCheckedAddressIsDialled(t *testing.T) {
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })
	_, port, _ := net.SplitHostPort(addr)
	dns := &names{of: map[string][]string{"mixed.test": {"10.1.2.3", "127.0.0.1"}}}
	c := client(t, egress.Options{Resolver: dns, AllowPrivate: []string{addr}}, tool.AnyName())
	_, data, err := whole(c, get("http://mixed.test.:"+port+"/"))
	if err != nil || string(data) != "mixed.test:"+port {
		t.Fatalf("%q %v", data, err)
	}
	if n := dns.asked.Load(); n != 1 {
		t.Errorf("resolved %d times", n)
	}
}

func TestAllowPrivate(t *testing.T) {
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	_, port, _ := net.SplitHostPort(addr)
	for _, c := range []struct {
		allow, url string
		ok         bool
	}{
		{addr, "http://127.0.0.1:" + port, true}, {addr, "http://localhost:" + port, true}, {addr, "http://[::ffff:127.0.0.1]:" + port, true},
		{"localhost:" + port, "http://localhost:" + port, true}, {"localhost:" + port, "http://127.0.0.1:" + port, false},
		{"127.0.0.0/8", "http://127.0.0.1:" + port, true}, {"10.0.0.0/8", "http://127.0.0.1:" + port, false}, {"127.0.0.1:1", "http://127.0.0.1:" + port, false},
	} {
		_, _, err := client(t, egress.Options{AllowPrivate: []string{c.allow}}, tool.AnyName()).Fetch(t.Context(), get(c.url))
		if c.ok && err != nil || !c.ok && tool.CodeOf(err) != tool.EgressDenied {
			t.Errorf("%s with %s allowed: %v", c.url, c.allow, err)
		}
	}
	for _, bad := range []string{"", "localhost", "127.0.0.1", "*.example.com:80", "http://127.0.0.1:80", "1.2.3.4/99", "127.0.0.1:0", "127.0.0.1:99999"} {
		if _, err := egress.NewGuard(egress.Options{AllowPrivate: []string{bad}}); tool.CodeOf(err) != tool.InvalidArguments {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestOperatorSaysNone(t *testing.T) {
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	c := client(t, egress.Options{None: true, AllowPrivate: []string{addr}}, tool.AnyName())
	_, _, err := c.Fetch(t.Context(), get("http://"+addr))
	wantCode(t, err, tool.EgressDenied)
}

func TestNAT64OfTheOperator(t *testing.T) {
	guard, err := egress.NewGuard(egress.Options{NAT64: []netip.Prefix{netip.MustParsePrefix("2001:67c:2b0:db32:0:1::/96")}})
	if err != nil {
		t.Fatal(err)
	}
	for url, ok := range map[string]bool{"http://[2001:67c:2b0:db32:0:1:7f00:1]/": false, "http://[2001:67c:2b0:db32:0:1:808:808]/": true} {
		target, err := egress.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if err := guard.Check(target); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestGrantHosts(t *testing.T) {
	for _, c := range []struct {
		entry, host string
		port        uint16
		ok          bool
	}{
		{"api.example.com", "api.example.com", 443, true}, {"api.example.com", "evil-api.example.com", 443, false}, {"api.example.com", "api.example.com.evil.test", 443, false},
		{"example.com", "api.example.com", 443, false}, {"*.example.com", "api.example.com", 443, true}, {"*.example.com", "a.b.example.com", 443, true},
		{"*.example.com", "example.com", 443, false}, {"*.example.com", "evilexample.com", 443, false}, {"API.Example.COM.", "api.example.com", 443, true},
		{"bücher.example", "xn--bcher-kva.example", 443, true}, {"api.example.com:8443", "api.example.com", 8443, true}, {"api.example.com:8443", "api.example.com", 443, false},
		{"127.1", "127.0.0.1", 80, true}, {"[::1]:80", "::1", 80, true}, {"::1", "::1", 80, true}, {"*.0.example", "1.0.example", 80, true},
	} {
		hosts, err := egress.ParseHosts(tool.NameList(c.entry))
		if err != nil || hosts.Allow(c.host, c.port) != c.ok {
			t.Errorf("%s for %s:%d: %v %v", c.entry, c.host, c.port, !c.ok, err)
		}
	}
	for _, bad := range []string{"", "*", "*.", "**.com", "a*.example.com", "*.0.0.1", "https://example.com", "example.com/", "a@b", "a b", "a:0", "a:x", "%41.com"} {
		if _, err := egress.ParseHosts(tool.NameList(bad)); tool.CodeOf(err) != tool.InvalidDefinition {
			t.Errorf("%q is taken for a host: %v", bad, err)
		}
	}
	for _, nothing := range []*tool.Names{nil, tool.NameList()} {
		if hosts, _ := egress.ParseHosts(nothing); hosts.Allow("example.com", 443) {
			t.Errorf("an empty list allows something")
		}
	}
}

func TestRedirects(t *testing.T) {
	_, other := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header) })
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/to":
			w.Header().Set("Location", r.URL.Query().Get("l"))
			w.WriteHeader(302)
		case "/see":
			w.Header().Set("Location", "/echo#f")
			w.WriteHeader(303)
		case "/same":
			w.Header().Set("Location", "/echo")
			w.WriteHeader(307)
		case "/bare":
			w.WriteHeader(302)
		case "/echo":
			b, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s", r.Method, b, r.Header.Get("Content-Type"))
		}
	})
	c := client(t, egress.Options{AllowPrivate: []string{addr, other}}, tool.AnyName())
	base := "http://" + addr
	for location, code := range map[string]tool.Code{
		"http://169.254.169.254/": tool.EgressDenied, "http://2852039166/": tool.EgressDenied, "file:///etc/passwd": tool.EgressDenied, "//127.0.0.1:1/x": tool.EgressDenied,
		"http://[::ffff:169.254.169.254]/": tool.EgressDenied, "gopher://x/": tool.EgressDenied, "http://a:b@" + other: tool.InvalidURL, `/\x`: tool.InvalidURL, "http://[": tool.InvalidURL,
	} {
		_, _, err := c.Fetch(t.Context(), get(base+"/to?l="+strings.NewReplacer("/", "%2F", `\`, "%5C", "[", "%5B", "]", "%5D", "@", "%40").Replace(location)))
		if tool.CodeOf(err) != code {
			t.Errorf("to %s: %v", location, err)
		}
	}
	_, _, err := c.Fetch(t.Context(), get(base+"/to?l=/to%3Fl=/to"))
	if err != nil {
		t.Errorf("a redirect without Location is an answer: %v", err)
	}
	post := &egress.Request{URL: base + "/see", Method: "POST", Body: []byte("x"), Headers: []egress.Header{{"Content-Type", "text/x"}}}
	head, data, err := whole(c, post)
	if err != nil || string(data) != "GET  " || !head.Redirected || head.URL != base+"/echo" {
		t.Errorf("303: %+v %q %v", head, data, err)
	}
	post.URL = base + "/same"
	if _, data, err = whole(c, post); err != nil || string(data) != "POST x text/x" {
		t.Errorf("307: %q %v", data, err)
	}
	if head, _, err = c.Fetch(t.Context(), &egress.Request{URL: base + "/see", Method: "GET", Redirect: "manual"}); err != nil || head.Status != 303 {
		t.Errorf("manual: %+v %v", head, err)
	}
	_, _, err = c.Fetch(t.Context(), &egress.Request{URL: base + "/see", Method: "GET", Redirect: "error"})
	wantCode(t, err, tool.FetchFailed)
}

func TestRedirectsInCircles(t *testing.T) {
	var hits atomic.Int64
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		http.Redirect(w, r, "/", http.StatusFound)
	})
	_, _, err := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName()).Fetch(t.Context(), get("http://"+addr))
	wantCode(t, err, tool.EgressDenied)
	if hits.Load() != 21 {
		t.Errorf("%d requests, want 21", hits.Load())
	}
}

func TestCredentialsStayWithTheirOrigin(t *testing.T) {
	_, other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "Accept"} {
			fmt.Fprintf(w, "%s=%s;", name, r.Header.Get(name))
		}
	})
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
	})
	c := client(t, egress.Options{AllowPrivate: []string{addr, other}}, tool.AnyName())
	r := get("http://" + addr + "/?to=http://" + other)
	r.Headers = []egress.Header{{"Authorization", "a"}, {"cookie", "b"}, {"X-API-key", "c"}, {"accept", "text/x"}}
	_, data, err := whole(c, r)
	if err != nil || string(data) != "Authorization=;Cookie=;X-Api-Key=;Proxy-Authorization=;Accept=text/x;" {
		t.Errorf("%q %v", data, err)
	}
}

func TestHostileRequests(t *testing.T) {
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s %v", r.Host, r.Header) })
	c := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName())
	for _, h := range []egress.Header{{"X-A", "a\r\nX-Evil: 1"}, {"X-A", "a\x00b"}, {"X-A", "\u0100"}, {"Bad Name", "x"}, {"", "x"}, {"X:", "x"}, {"X\n", "y"},
		{"Host", "internal.svc"}, {"transfer-encoding", "chunked"}, {"Proxy-Authorization", "x"}, {"Upgrade", "websocket"}, {"Expect", "100-continue"}, {"TE", "trailers"}, {"X-Big", strings.Repeat("x", 70_000)}} {
		r := get("http://" + addr)
		r.Headers = []egress.Header{h}
		_, _, err := c.Fetch(t.Context(), r)
		if tool.CodeOf(err) != tool.FetchFailed {
			t.Errorf("%.40q: %v", h, err)
		}
	}
	for _, method := range []string{"", "GET / HTTP/1.1\r\nHost: evil", "CONNECT", "trace", "TRACK", "A B"} {
		_, _, err := c.Fetch(t.Context(), &egress.Request{URL: "http://" + addr, Method: method})
		if tool.CodeOf(err) != tool.FetchFailed {
			t.Errorf("method %q: %v", method, err)
		}
	}
	r := get("http://" + addr)
	r.Headers = []egress.Header{{"Connection", "upgrade"}, {"Content-Length", "99"}, {"Accept-Encoding", "br"}, {"host", addr}, {"X-Latin", "\u00e9"}}
	_, data, err := whole(c, r)
	if err != nil || !strings.HasPrefix(string(data), addr) || !strings.Contains(string(data), "X-Latin:[\xe9]") || strings.Contains(string(data), "upgrade") {
		t.Errorf("%q %v", data, err)
	}
	_, _, err = c.Fetch(t.Context(), &egress.Request{URL: "http://" + addr, Method: "GET", Body: []byte("x")})
	wantCode(t, err, tool.FetchFailed)
}

func compress(t *testing.T, coding string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if coding == "deflate" {
		w = zlib.NewWriter(&b)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestContentCodings(t *testing.T) {
	plain := bytes.Repeat([]byte("0123456789"), 30_000)
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		coding := r.URL.Path[1:]
		w.Header().Set("Content-Encoding", coding)
		switch coding {
		case "broken":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(plain)
		case "gzip", "deflate":
			_, _ = w.Write(compress(t, coding, plain))
		case "br":
			_, _ = w.Write(plain)
		}
	})
	c := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName())
	for _, coding := range []string{"gzip", "deflate", "br"} {
		if _, data, err := whole(c, get("http://"+addr+"/"+coding)); err != nil || !bytes.Equal(data, plain) {
			t.Errorf("%s: %d bytes, %v", coding, len(data), err)
		}
	}
	_, _, err := whole(c, get("http://"+addr+"/broken"))
	wantCode(t, err, tool.FetchFailed)
	head, data, err := whole(c, &egress.Request{URL: "http://" + addr + "/gzip", Method: "HEAD"})
	if err != nil || len(data) != 0 || !head.Done {
		t.Errorf("HEAD: %d bytes, %v", len(data), err)
	}
}

func TestBombsAndEndlessBodies(t *testing.T) {
	bomb := compress(t, "gzip", make([]byte, 64<<20))
	gone := make(chan struct{}, 1)
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		case "/endless":
			for err := error(nil); err == nil; {
				_, err = w.Write(make([]byte, 64<<10))
			}
			gone <- struct{}{}
		case "/claims":
			w.Header().Set("Content-Length", "99999999999")
			w.WriteHeader(200)
		case "/headers":
			w.Header().Set("X-Big", strings.Repeat("x", 100<<10))
		}
	})
	c := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName())
	for _, path := range []string{"/bomb", "/endless", "/claims"} {
		_, data, err := whole(c, get("http://"+addr+path))
		if tool.CodeOf(err) != tool.ResponseTooLarge || len(data) > 8<<20 {
			t.Errorf("%s: %d bytes, %v", path, len(data), err)
		}
	}
	<-gone // the server saw its socket close
	_, _, err := whole(c, get("http://"+addr+"/headers"))
	wantCode(t, err, tool.FetchFailed)
	r := get("http://" + addr + "/bomb")
	r.MaxBytes = 1000
	if _, data, err := whole(c, r); tool.CodeOf(err) != tool.ResponseTooLarge || len(data) > 1000 {
		t.Errorf("maxBytes: %d bytes, %v", len(data), err)
	}
}

func TestTricklingServerIsEnded(t *testing.T) {
	gone := make(chan struct{})
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		for r.Context().Err() == nil {
			fmt.Fprint(w, "x")
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	})
	c := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName())
	r := get("http://" + addr)
	r.TimeoutMS = 200
	_, _, err := whole(c, r)
	if tool.CodeOf(err) != tool.FetchFailed || !strings.Contains(err.Error(), "200 ms") {
		t.Errorf("%v", err)
	}
	<-gone
}

func TestCallerGivesUp(t *testing.T) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
		close(gone)
	})
	c := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName())
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, _, err := c.Fetch(ctx, get("http://"+addr))
	wantCode(t, err, tool.Cancelled)
	<-gone
}

// TestEventsArriveAsTheyCome reads a stream that the server keeps open.
func TestEventsArriveAsTheyCome(t *testing.T) {
	next := make(chan string)
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for s := range next {
			fmt.Fprint(w, s)
			w.(http.Flusher).Flush()
		}
	})
	c := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName())
	go func() { next <- "one" }()
	head, data, err := c.Fetch(t.Context(), get("http://"+addr))
	if err != nil || head.Done {
		t.Fatalf("%+v %v", head, err)
	}
	if len(data) == 0 { // slower than the grace
		data, _, err = c.Read(t.Context(), head.Stream)
	}
	if err != nil || string(data) != "one" {
		t.Fatalf("%q %v", data, err)
	}
	next <- "two"
	if data, done, err := c.Read(t.Context(), head.Stream); err != nil || done || string(data) != "two" {
		t.Fatalf("%q %v %v", data, done, err)
	}
	close(next)
	if data, done, err := c.Read(t.Context(), head.Stream); err != nil || !done || len(data) != 0 {
		t.Fatalf("%q %v %v", data, done, err)
	}
	_, _, err = c.Read(t.Context(), head.Stream)
	wantCode(t, err, tool.FetchFailed)
}

func TestClosingEndsStreams(t *testing.T) {
	gone := make(chan struct{})
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "x")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	c := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName())
	if _, _, err := c.Fetch(t.Context(), get("http://"+addr)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	<-gone
	_, _, err := c.Fetch(t.Context(), get("http://"+addr))
	wantCode(t, err, tool.Cancelled)
}

func TestManyAtOnceWaitTheirTurn(t *testing.T) {
	var now, peak atomic.Int64
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for n, p := now.Add(1), peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
		}
		time.Sleep(2 * time.Millisecond)
		fmt.Fprint(w, r.URL.RawQuery)
		now.Add(-1)
	})
	c := client(t, egress.Options{AllowPrivate: []string{addr}, MaxOpen: 16}, tool.AnyName())
	results := make(chan error, 300)
	for i := range cap(results) {
		go func() {
			_, data, err := whole(c, get(fmt.Sprintf("http://%s/?%d", addr, i)))
			if err == nil && string(data) != fmt.Sprint(i) {
				err = fmt.Errorf("request %d got the answer of %s", i, data)
			}
			results <- err
		}()
	}
	for range cap(results) {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if peak.Load() > 16 {
		t.Errorf("%d at once", peak.Load())
	}
}

func TestHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s", r.Proto, r.RequestURI, r.Host, b)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	addr := s.Listener.Addr().String()
	c := client(t, egress.Options{AllowPrivate: []string{addr}, RootCAs: roots}, tool.AnyName())
	for path, want := range map[string]string{"/a%2Fb?q=|": "/a%2Fb?q=|", "//x": "//x"} {
		_, data, err := whole(c, &egress.Request{URL: s.URL + path, Method: "POST", Body: []byte("body")})
		if err != nil || string(data) != "HTTP/2.0 "+want+" "+addr+" body" {
			t.Errorf("%q %v", data, err)
		}
	}
}

// TestTheEndOfABodyIsNoCancellation: finishing an exchange ends its context,
// which must not be taken for a caller who gave up.
func TestTheEndOfABodyIsNoCancellation(t *testing.T) {
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(make([]byte, 10<<10)) })
	c := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName())
	for range 3000 {
		if _, data, err := whole(c, get("http://"+addr)); err != nil || len(data) != 10<<10 {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
	}
}

func TestFailuresSayHostAndCause(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	raw := rawServer(t)
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tls.Close)
	tls.Config.ErrorLog = nil
	c := client(t, egress.Options{AllowPrivate: []string{"127.0.0.0/8"}}, tool.AnyName())
	for url, cause := range map[string]string{
		"http://" + closed: "refused", "http://nowhere.test/": "no such host", tls.URL: "not trusted", "https://" + raw + "/": "TLS",
		"http://" + raw + "/garbage": "not HTTP", "http://" + raw + "/cut": "ended the connection", "http://" + raw + "/short": "ended the connection", "http://" + raw + "/switch": "not HTTP",
	} {
		_, _, err := whole(c, get(url))
		if tool.CodeOf(err) != tool.FetchFailed || !strings.Contains(err.Error(), cause) || !strings.Contains(err.Error(), strings.Split(url, "/")[2]) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// rawServer answers with what no HTTP library would send.
func rawServer(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			b := make([]byte, 4096)
			n, _ := conn.Read(b)
			switch path, _, _ := strings.Cut(strings.TrimPrefix(string(b[:n]), "GET /"), " "); path {
			case "short":
				fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")
			case "switch":
				fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
			case "cut":
			default:
				fmt.Fprint(conn, "SSH-2.0-x\r\n\r\n")
			}
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

func TestProxyVariablesAreIgnored(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	t.Setenv("http_proxy", "http://127.0.0.1:9")
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "direct") })
	dns := &names{of: map[string][]string{"site.test": {"127.0.0.1"}}}
	_, port, _ := net.SplitHostPort(addr)
	c := client(t, egress.Options{AllowPrivate: []string{addr}, Resolver: dns}, tool.AnyName())
	if _, data, err := whole(c, get("http://site.test:"+port)); err != nil || string(data) != "direct" {
		t.Errorf("%q %v", data, err)
	}
}

func TestPathsArriveAsWritten(t *testing.T) {
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RequestURI) })
	c := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName())
	for path, want := range map[string]string{"": "/", "/a%2Fb": "/a%2Fb", "/a|b": "/a|b", "/a b?q=a b'": "/a%20b?q=a%20b%27", "//x//y": "//x//y", "/?": "/", "/é?q=[1]": "/%C3%A9?q=[1]", "/a/../b": "/b", "/x?u=a\\b": "/x?u=a\\b"} {
		if _, data, err := whole(c, get("http://"+addr+path)); err != nil || string(data) != want {
			t.Errorf("%s arrives as %q %v", path, data, err)
		}
	}
}

func TestConnectionsAreReusedWithinAPoolOnly(t *testing.T) {
	var conns atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "ok") }))
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			conns.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	addr := strings.TrimPrefix(s.URL, "http://")
	guard, err := egress.NewGuard(egress.Options{AllowPrivate: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	any, _ := egress.ParseHosts(tool.AnyName())
	for range 2 {
		pool := guard.NewPool()
		t.Cleanup(pool.Close)
		for range 5 {
			c := pool.NewClient(t.Context(), any, nil)
			if _, _, err := whole(c, get(s.URL)); err != nil {
				t.Fatal(err)
			}
			c.Close()
		}
	}
	if n := conns.Load(); n != 2 {
		t.Errorf("%d connections, want one a pool", n)
	}
}
