package broker_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"toolroom/internal/broker"
	"toolroom/internal/broker/egress"
	"toolroom/tool"
)

// BenchmarkFetch10K is one fetch of 10 KB from loopback, through a session of
// its own as every call has, and by a bare client.
func BenchmarkFetch10K(b *testing.B) {
	body := []byte(strings.Repeat("0123456789", 1024))
	addr := serve(b, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(body) })
	room, err := broker.Open(broker.Options{Net: egress.Options{AllowPrivate: []string{addr}}})
	if err != nil {
		b.Fatal(err)
	}
	defer room.Close()
	b.Run("session", func(b *testing.B) {
		call := broker.Call{Place: place, Grant: tool.Grant{Net: tool.AnyName()}}
		args := json.RawMessage(`{"url":"http://` + addr + `/","method":"GET","headers":[],"redirect":"follow"}`)
		later := 0
		for b.Loop() {
			s, err := room.Session(context.Background(), call)
			if err != nil {
				b.Fatal(err)
			}
			value, data, fail := s.Serve(context.Background(), "net.fetch", args, nil)
			if fail == nil && strings.Contains(string(value), `"done":false`) { // this machine was busy for longer than the grace
				later++
			} else if fail != nil || len(data) != len(body) {
				b.Fatal(string(value), len(data), fail)
			}
			s.Close()
		}
		b.ReportMetric(float64(later)/float64(b.N), "second_trips/op")
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			resp, err := http.Get("http://" + addr + "/")
			if err != nil {
				b.Fatal(err)
			}
			data, err := io.ReadAll(resp.Body)
			if err != nil || len(data) != len(body) {
				b.Fatal(err)
			}
			resp.Body.Close()
		}
	})
}
