package registry_test

import (
	"fmt"
	"sync"
	"testing"

	"toolroom/internal/registry"
	"toolroom/tool"
)

func TestAToolLivesThroughAllItsChanges(t *testing.T) {
	r := open(t)
	first := create(t, r, model(), definition("add"))
	if first.Current.Number != 1 || first.Source != tool.ByModel || !first.Enabled {
		t.Fatalf("got %+v", first)
	}
	second, err := r.Update(t.Context(), model(), "add", tool.Patch{Body: to("return 1;")}, registry.ChangeOptions{Expect: first.Current.ID, Reason: "simpler"})
	if err != nil {
		t.Fatal(err)
	}
	if v := second.Tool.Current; v.Number != 2 || v.Reason != "simpler" || fmt.Sprint(v.Changed) != "[body]" {
		t.Fatalf("got %+v", v)
	}
	_, err = r.Update(t.Context(), model(), "add", tool.Patch{Body: to("return 2;")}, registry.ChangeOptions{Expect: first.Current.ID})
	wantCode(t, err, tool.Conflict)

	gone, err := r.Delete(t.Context(), model(), "add", registry.ChangeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Resolve(t.Context(), place(), "add")
	wantCode(t, err, tool.NotFound)
	if _, err := r.Get(t.Context(), place(), "add"); err != nil {
		t.Fatalf("read after delete: %v", err)
	}
	back, err := r.Restore(t.Context(), model(), "add", gone.Tool.Current.ID, registry.ChangeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if back.Tool.Current.Definition.Body != "return 1;" || back.Tool.Deleted || back.Tool.Current.Number != 3 {
		t.Fatalf("got %+v", back.Tool)
	}
	found, err := r.Resolve(t.Context(), place(), "ADD")
	if err != nil || found.Tool.Current.Definition.Body != "return 1;" {
		t.Fatalf("got %+v, %v", found, err)
	}
}

func TestEightUpdatesAtOnceLoseNothing(t *testing.T) {
	r := open(t)
	create(t, r, user(), definition("add"))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: to(fmt.Sprintf("return %d;", i))}, registry.ChangeOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h, err := r.History(t.Context(), place(), "add", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]bool{}
	for _, v := range h.Versions {
		bodies[v.Definition.Body] = true
	}
	if len(h.Versions) != 9 || len(bodies) != 9 {
		t.Fatalf("got %d versions with %d bodies, want 9", len(h.Versions), len(bodies))
	}
}
