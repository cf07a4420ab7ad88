package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// server answers every fetch at once.
type server struct {
	noHost
	call   *Call
	answer []byte
}

func (s *server) Request(id uint32, _ string, _, _ []byte) {
	value := []byte(`{"url":"http://127.0.0.1:1/","status":200,"statusText":"OK","headers":[["Content-Type","application/json"],["Date","Mon, 30 Nov 2026 19:00:00 GMT"],["Content-Length","10000"]],"redirected":false,"stream":0,"done":true}`)
	s.call.Reply(Reply{ID: id, Value: value, Data: s.answer})
}

// What a fetch costs an isolate, without the room and the network: nothing, an
// empty list, 10 KB of JSON, and 10 KB that are picked from.
func BenchmarkFetch(b *testing.B) {
	var list []map[string]any
	for n := range 80 {
		list = append(list, map[string]any{"id": n, "name": fmt.Sprintf("item %d", n), "active": n%2 == 0, "price": float64(n) / 4, "note": strings.Repeat("n", 60)})
	}
	large, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name, body string
		answer     []byte
	}{
		{"none", "return 1", nil},
		{"text", "return (await (await fetch(args.url)).text()).length", large},
		{"empty", "return (await ctx.fetchJson(args.url)).length", []byte("[]")},
		{"parsed", "return (await ctx.fetchJson(args.url)).length", large},
		{"reshaped", "const list = await ctx.fetchJson(args.url); return { count: list.length, names: list.filter(x => x.active).map(x => x.name), total: list.reduce((n, x) => n + x.price, 0) }", large},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := newEngine(b)
			code := compiled(b, e, c.body)
			h := &server{answer: c.answer}
			for b.Loop() {
				job := h.job(code, `{"url":"http://127.0.0.1:1/"}`, 2*time.Second)
				job.Host = h
				h.call = e.Start(job)
				if _, meta := ran(h.call); meta.Error != nil {
					b.Fatal(meta.Error)
				}
			}
		})
	}
}
