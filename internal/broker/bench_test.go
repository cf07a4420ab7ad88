package broker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"toolroom/internal/broker"
	"toolroom/internal/broker/egress"
	"toolroom/tool"
)

// What the broker adds to a request, in turn with a bare client: overhead-µs is between the two medians.
func BenchmarkFetch(b *testing.B) {
	answer := bytes.Repeat([]byte("x"), 10<<10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) }))
	defer s.Close()
	b1, err := broker.Open(broker.Options{Net: egress.Options{AllowPrivate: []string{s.Listener.Addr().String()}}})
	if err != nil {
		b.Fatal(err)
	}
	defer b1.Close()
	args := json.RawMessage(fmt.Sprintf(`{"url":%q,"method":"GET","headers":[["accept","*/*"]],"redirect":"follow"}`, s.URL))
	ours := func() error {
		session, err := b1.Session(context.Background(), broker.Call{Scope: tool.ScopeWorkspace, Grant: tool.Grant{Net: tool.AnyName()}})
		if err != nil {
			return err
		}
		defer session.Close()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if _, data, fail := session.Serve(ctx, "net.fetch", args, nil); fail != nil || len(data) != len(answer) {
			return fmt.Errorf("%d bytes: %v", len(data), fail)
		}
		return nil
	}
	client := &http.Client{}
	theirs := func() error {
		res, err := client.Get(s.URL)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		_, err = io.ReadAll(res.Body)
		return err
	}
	times := [2][]time.Duration{}
	for b.Loop() {
		for n, f := range []func() error{ours, theirs} {
			t := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			times[n] = append(times[n], time.Since(t))
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	mid := len(times[0]) / 2
	b.ReportMetric(float64(times[1][mid])/1e3, "bare-p50-µs")
	b.ReportMetric(float64(times[0][mid]-times[1][mid])/1e3, "overhead-µs")
}
