package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// instantHost answers every fetch at once with the same body.
type instantHost struct {
	noHost
	call *Call
	body []byte
}

func (h *instantHost) Request(id uint32, _ string, _, _ []byte) {
	h.call.Reply(Reply{ID: id, Data: h.body, Value: []byte(`{"url":"http://a/x","status":200,"statusText":"OK","headers":[["content-type","application/json"],["content-length","10000"],["date","Mon, 30 Nov 2026 00:00:00 GMT"]],"redirected":false,"stream":0,"done":true}`)})
}

// What a fetch costs inside the isolate: no network, no other process.
func BenchmarkFetchInIsolate(b *testing.B) {
	type item struct {
		ID     int     `json:"id"`
		Name   string  `json:"name"`
		Active bool    `json:"active"`
		Price  float64 `json:"price"`
		Note   string  `json:"note"`
	}
	var list []item
	for n := range 80 {
		list = append(list, item{n, fmt.Sprintf("item %d", n), n%2 == 0, float64(n) / 4, strings.Repeat("n", 60)})
	}
	body, _ := json.Marshal(list)
	e := newEngine(b)
	const reshape = "return { count: list.length, names: list.filter(x => x.active).map(x => x.name), total: list.reduce((n, x) => n + x.price, 0) }"
	for name, code := range map[string]string{
		"fetch":     "const list = await (await fetch(args.url)).json(); " + reshape,
		"fetchJson": "const list = await ctx.fetchJson(args.url); " + reshape,
		"parse":     "const list = JSON.parse(args.text); " + reshape,
	} {
		args, _ := json.Marshal(map[string]string{"url": "http://a/x", "text": string(body)})
		if name != "parse" {
			args = []byte(`{"url":"http://a/x"}`)
		}
		compiled := compiled(b, e, code)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				h := &instantHost{body: body}
				h.call = e.Start(h.job(compiled, string(args), 10*time.Second))
				h.call.run.job.Host = h
				if out, meta := h.call.Run(); meta.Error != nil {
					b.Fatal(string(out), meta.Error)
				}
			}
		})
	}
}
