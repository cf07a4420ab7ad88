package egress_test

import (
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
