package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"toolroom"
)

// A response of 7 MB, read piece by piece and as a whole.
func BenchmarkStream(b *testing.B) {
	chunk := make([]byte, 1<<20)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 7 {
			_, _ = w.Write(chunk)
		}
	}))
	defer s.Close()
	w := reaching(b, s.Listener.Addr().String(), toolroom.Options{Timeout: time.Minute})
	create(b, w, "stream", `let n = 0; for await (const c of (await fetch(args.url)).body) n += c.length; return n`)
	create(b, w, "whole", `return (await (await fetch(args.url)).bytes()).length`)
	for _, name := range []string{"stream", "whole"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(7 << 20)
			for b.Loop() {
				call(b, w, name, fmt.Sprintf(`{"url":%q}`, s.URL))
			}
		})
	}
}
