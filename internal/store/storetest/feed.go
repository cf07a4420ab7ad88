package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"toolroom/internal/store"
	"toolroom/tool"
)

func testFeed(t *testing.T, s store.Store) {
	if at, err := s.Revision(t.Context()); err != nil || at != 0 {
		t.Fatalf("a new room is at %d, %v", at, err)
	}
	r := apply(t, s, fresh(one(), "add", "return 1"))
	r = apply(t, s, next(r, "return 2"))
	r = apply(t, s, headOnly(r, store.Disabled, false, false))
	apply(t, s, headOnly(r, store.Deleted, false, true))
	apply(t, s, fresh(global(), "shared", "return 1"))
	all, err := s.Changes(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []store.Action
	for i, c := range all {
		got = append(got, c.Action)
		if i > 0 && c.Revision <= all[i-1].Revision || c.Version == "" || c.Name == "" || !c.At.Equal(noon()) {
			t.Errorf("change %+v", c)
		}
	}
	if fmt.Sprint(got) != "[created updated disabled deleted created]" {
		t.Fatalf("got %v", got)
	}
	if !all[4].SeenBy(two()) || all[0].SeenBy(two()) {
		t.Error("a change is seen by the wrong workspaces")
	}
	rest, err := s.Changes(t.Context(), all[1].Revision, 2)
	if err != nil || len(rest) != 2 || rest[0] != all[2] {
		t.Fatalf("got %+v, %v", rest, err)
	}
	if at, err := s.Revision(t.Context()); err != nil || at != all[4].Revision {
		t.Fatalf("at %d, %v", at, err)
	}
}

func testApprovals(t *testing.T, s store.Store) {
	ctx := t.Context()
	for i := range 3 {
		a := store.Approval{ID: fmt.Sprintf("a%d", i), Place: one(), Key: fmt.Sprintf("key%d", i), State: store.Pending,
			Question: []byte(`{"tool":"add"}`), Asked: noon(), Expires: noon().Add(time.Hour)}
		if err := s.AddApproval(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.MoveApproval(ctx, one(), "a1", store.Pending, store.Approved, "ann", noon()); err != nil {
		t.Fatal(err)
	}
	a, err := s.Approval(ctx, one(), "a1")
	if err != nil || a.State != store.Approved || a.By != "ann" || !a.Decided.Equal(noon()) || string(a.Question) != `{"tool":"add"}` {
		t.Fatalf("got %+v, %v", a, err)
	}
	wantCode(t, s.MoveApproval(ctx, one(), "a1", store.Pending, store.Declined, "eve", noon()), tool.Conflict)
	wantCode(t, s.MoveApproval(ctx, two(), "a0", store.Pending, store.Approved, "eve", noon()), tool.NotFound)
	_, err = s.Approval(ctx, two(), "a0")
	wantCode(t, err, tool.NotFound)
	for _, c := range []struct {
		q    store.ApprovalQuery
		want string
	}{
		{store.ApprovalQuery{}, "[a2 a1 a0]"},
		{store.ApprovalQuery{State: store.Pending}, "[a2 a0]"},
		{store.ApprovalQuery{Key: "key1"}, "[a1]"},
		{store.ApprovalQuery{Before: "a2", Limit: 1}, "[a1]"},
	} {
		found, err := s.ListApprovals(ctx, one(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range found {
			got = append(got, a.ID)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v: got %v, want %s", c.q, got, c.want)
		}
	}
}

func testCancelled(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Apply(ctx, []store.Write{fresh(one(), "add", "return 1")})
	wantCode(t, err, tool.Cancelled)
	_, err = s.List(ctx, one(), store.Query{})
	wantCode(t, err, tool.Cancelled)
	apply(t, s, fresh(one(), "add", "return 1"))
}

func testClose(t *testing.T, s store.Store) {
	apply(t, s, fresh(one(), "add", "return 1"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.List(context.Background(), one(), store.Query{})
	wantCode(t, err, tool.Stopped)
	_, err = s.Apply(context.Background(), []store.Write{fresh(one(), "other", "return 1")})
	wantCode(t, err, tool.Stopped)
	wantCode(t, s.MarkSolo(context.Background(), "v000000001", noon()), tool.Stopped)
}
