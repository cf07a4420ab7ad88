package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"toolroom"
	"toolroom/tool"
)

// measure does with Toolroom what the peers' run.mjs does with a peer: the same numbers of calls.
func measure(ctx context.Context, name string, b body) (f figures, err error) {
	dir, err := os.MkdirTemp("", "toolroom-bench-")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	room, err := toolroom.Open(ctx, toolroom.Options{Data: dir})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, room.Close()) }()
	w, err := room.Workspace(tool.Principal{Place: tool.Place{Tenant: "bench", Workspace: "one"}, Kind: tool.User}, "")
	if err != nil {
		return f, err
	}
	def := tool.Definition{Name: name, Description: "Measured.", Parameters: json.RawMessage(`{"type":"object"}`), Body: b.Body}
	if _, err := w.Create(ctx, def, toolroom.CreateOptions{}); err != nil {
		return f, err
	}
	call := func() error { _, err := w.Call(ctx, name, b.Args); return err }
	return timed(name, call)
}

func timed(name string, call func() error) (figures, error) {
	serial, parallel := 40, 80
	if name == "trivial" {
		serial, parallel = 200, 400
	}
	f := figures{Peer: "toolroom", Name: name}
	if err := errors.Join(call(), call()); err != nil {
		return f, err
	}
	var took []float64
	for range serial {
		t := time.Now()
		if err := call(); err != nil {
			return f, err
		}
		took = append(took, float64(time.Since(t))/float64(time.Millisecond))
	}
	slices.Sort(took)
	f.P50, f.P99 = took[len(took)/2], took[len(took)*99/100]
	var err error
	f.CPS, err = flood(call, parallel)
	return f, err
}

// flood keeps 16 calls in flight until total are done, and gives calls a second.
func flood(call func() error, total int) (float64, error) {
	var wg sync.WaitGroup
	var left atomic.Int64
	var failed atomic.Pointer[error]
	left.Store(int64(total))
	t := time.Now()
	for range 16 {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := call(); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if e := failed.Load(); e != nil {
		return 0, *e
	}
	return float64(total) / time.Since(t).Seconds(), nil
}
