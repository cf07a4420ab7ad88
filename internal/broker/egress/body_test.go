package egress_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolroom/internal/broker/egress"
	"toolroom/tool"
)

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
	bomb := compress(t, "gzip", make([]byte, 24<<20))
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
	if tool.CodeOf(err) != tool.Timeout || !strings.Contains(err.Error(), "200 ms") {
		t.Errorf("%v", err)
	}
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
