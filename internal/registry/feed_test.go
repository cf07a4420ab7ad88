package registry_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"toolroom/internal/registry"
	"toolroom/internal/store"
	"toolroom/tool"
)

// follow collects the feed of a workspace until the test ends.
func follow(t *testing.T, r *registry.Registry, place tool.Place) func() []string {
	t.Helper()
	var (
		mu   sync.Mutex
		seen []string
		done sync.WaitGroup
	)
	ctx, cancel := context.WithCancel(context.Background())
	from := r.Revision()
	done.Go(func() {
		err := r.Follow(ctx, place, from, func(c store.Change) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, string(c.Action)+" "+c.Name)
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); done.Wait() })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), seen...)
	}
}

func TestAFollowerSeesWhatItsWorkspaceSees(t *testing.T) {
	r := open(t)
	one, two := follow(t, r, place()), follow(t, r, at(user(), "two").Place)
	stranger := follow(t, r, tool.Place{Tenant: "other", Workspace: "one"})
	create(t, r, user(), definition("add"))
	create(t, r, user(), shared())
	if _, err := r.Delete(t.Context(), user(), "add", registry.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the feeds", func() bool { return len(one()) == 3 && len(two()) == 1 })
	if fmt.Sprint(one(), two()) != "[created add created shared deleted add] [created shared]" {
		t.Fatalf("got %v and %v", one(), two())
	}
	if got := stranger(); len(got) != 0 {
		t.Fatalf("another tenant saw %v", got)
	}
}

// TestALostNoticeIsMadeGood changes tools through another registry over the same
// store, which notifies nobody: the first one has to find out for itself.
func TestALostNoticeIsMadeGood(t *testing.T) {
	s := openStore(t)
	quick := func(o *registry.Options) { o.PollEvery = 20 * time.Millisecond }
	here, elsewhere := over(t, s, quick), over(t, s, quick)
	create(t, here, user(), definition("add"))
	seen := follow(t, here, place())
	if _, err := here.Resolve(t.Context(), place(), "add"); err != nil {
		t.Fatal(err)
	}
	if _, err := elsewhere.Update(t.Context(), user(), "add", tool.Patch{Body: to("return 'new'")}, registry.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the cache to follow", func() bool {
		got, err := here.Resolve(t.Context(), place(), "add")
		return err == nil && got.Tool.Current.Definition.Body == "return 'new'"
	})
	waitFor(t, "the follower to be told", func() bool { return len(seen()) == 1 })
}

func TestClosingEndsEveryFollower(t *testing.T) {
	r := open(t)
	done := make(chan error)
	go func() { done <- r.Follow(context.Background(), place(), 0, func(store.Change) {}) }()
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsSavedIsNeverStale resolves from all sides while a tool changes: once a
// change was answered, nobody may get what was before.
func TestWhatIsSavedIsNeverStale(t *testing.T) {
	r := open(t)
	create(t, r, user(), definition("add"))
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_, _ = r.Resolve(context.Background(), place(), "add")
				}
			}
		})
	}
	for i := range 50 {
		c, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: to(fmt.Sprintf("return %d", i))}, registry.ChangeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Resolve(t.Context(), place(), "add")
		if err != nil || got.Tool.Current.ID != c.Tool.Current.ID {
			t.Errorf("update %d: resolved %s, saved %s, %v", i, got.Tool.Current.ID, c.Tool.Current.ID, err)
			break
		}
	}
	close(stop)
	readers.Wait()
}

func TestAKilledVersionIsSoloUntilTheNext(t *testing.T) {
	r := open(t)
	made := create(t, r, user(), definition("add"))
	resolve := func() bool {
		got, err := r.Resolve(t.Context(), place(), "add")
		if err != nil {
			t.Fatal(err)
		}
		return got.Tool.Current.Solo
	}
	if resolve() {
		t.Fatal("a new version is solo")
	}
	if err := r.MarkSolo(t.Context(), made.Current.ID); err != nil || !resolve() {
		t.Fatalf("it is not solo: %v", err)
	}
	if _, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: to("return 1")}, registry.ChangeOptions{}); err != nil || resolve() {
		t.Fatalf("the next version is solo: %v", err)
	}
}

func TestAClockThatJumpsLeavesTheOrder(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	r := open(t, func(o *registry.Options) { o.Now = func() time.Time { return now } })
	ids := []string{create(t, r, user(), definition("add")).Current.ID}
	for i, jump := range []time.Duration{-24 * time.Hour, 48 * time.Hour, -time.Minute} {
		now = now.Add(jump)
		c, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: to(fmt.Sprintf("return %d", i))}, registry.ChangeOptions{Expect: ids[i]})
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, c.Tool.Current.ID); ids[i] >= ids[i+1] {
			t.Errorf("ids do not sort as the changes happened: %v", ids)
		}
	}
	h, err := r.History(t.Context(), place(), "add", "", 0)
	if err != nil || len(h.Versions) != 4 || h.Versions[0].ID != ids[3] || h.Versions[3].ID != ids[0] {
		t.Fatalf("got %+v, %v", h, err)
	}
	if got, err := r.Resolve(t.Context(), place(), "add"); err != nil || got.Tool.Current.ID != ids[3] {
		t.Fatalf("got %+v, %v", got, err)
	}
}

// TestResolvingCostsTheSameWithManyTools counts allocations, which no noisy machine changes.
func TestResolvingCostsTheSameWithManyTools(t *testing.T) {
	for _, n := range []int{10, 1000} {
		r := crowded(t, n)
		allocations := testing.AllocsPerRun(100, func() {
			if _, err := r.Resolve(t.Context(), place(), "tool_00005_x"); err != nil {
				t.Fatal(err)
			}
		})
		if allocations != 0 {
			t.Errorf("with %d tools a resolved name takes %v allocations, want none", n, allocations)
		}
	}
}

// TestEveryChangeSaysByWhomAndWhy, also those that make no version.
func TestEveryChangeSaysByWhomAndWhy(t *testing.T) {
	r := open(t)
	made := create(t, r, model(), definition("add"))
	if c, err := r.LastChange(t.Context(), place(), made); err != nil || c.Action != store.Created || c.Author.ID != "bot" {
		t.Fatalf("got %+v, %v", c, err)
	}
	off, err := r.SetEnabled(t.Context(), user(), "add", false, registry.ChangeOptions{Reason: "too slow"})
	if err != nil {
		t.Fatal(err)
	}
	gone, err := r.Delete(t.Context(), model(), "add", registry.ChangeOptions{Reason: "not needed"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		tool           tool.Tool
		action         store.Action
		author, reason string
	}{{off.Tool, store.Disabled, "ann", "too slow"}, {gone.Tool, store.Deleted, "bot", "not needed"}} {
		c, err := r.LastChange(t.Context(), place(), want.tool)
		if err != nil || c.Action != want.action || c.Author.ID != want.author || c.Reason != want.reason {
			t.Errorf("got %+v, %v, want %+v", c, err, want)
		}
	}
	if c, err := r.LastChange(t.Context(), at(user(), "two").Place, gone.Tool); err != nil || c.Revision != 0 {
		t.Errorf("another workspace sees %+v, %v", c, err)
	}
}
