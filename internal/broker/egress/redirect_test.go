package egress_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"toolroom/internal/broker/egress"
	"toolroom/tool"
)

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

func TestPathsArriveAsWritten(t *testing.T) {
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RequestURI) })
	c := client(t, egress.Options{AllowPrivate: []string{addr}}, tool.AnyName())
	for path, want := range map[string]string{"": "/", "/a%2Fb": "/a%2Fb", "/a|b": "/a|b", "/a b?q=a b'": "/a%20b?q=a%20b%27", "//x//y": "//x//y", "/?": "/", "/é?q=[1]": "/%C3%A9?q=[1]", "/a/../b": "/b", "/x?u=a\\b": "/x?u=a\\b"} {
		if _, data, err := whole(c, get("http://"+addr+path)); err != nil || string(data) != want {
			t.Errorf("%s arrives as %q %v", path, data, err)
		}
	}
}
