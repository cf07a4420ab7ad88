package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"toolroom/internal/store"
	"toolroom/tool"
)

func testNew(t *testing.T, s store.Store) {
	w := fresh(one(), "add", "return 1")
	made := apply(t, s, w)
	got := find(t, s, one(), "ADD")
	if !reflect.DeepEqual(made, got) {
		t.Fatalf("found %+v, made %+v", got, made)
	}
	v := got.Current
	if v.ID == "" || v.Number != 1 || len(v.Hash) != 64 || v.Author.ID != "bot" || v.Reason != "because" || !v.Created.Equal(noon()) {
		t.Fatalf("version %+v", v)
	}
	if !reflect.DeepEqual(v.Definition, w.Version.Definition) {
		t.Fatalf("definition %+v, want %+v", v.Definition, w.Version.Definition)
	}
	if !got.Enabled || got.Deleted || got.Location != tool.InWorkspace || got.Source != tool.ByModel || got.Revision == 0 {
		t.Fatalf("tool %+v", got.Tool)
	}
	_, err := s.Find(t.Context(), one(), "other")
	wantCode(t, err, tool.NotFound)
}

func testVersions(t *testing.T, s store.Store) {
	r := apply(t, s, fresh(one(), "add", "return 1"))
	ids := []string{r.Current.ID}
	for i := 2; i <= 5; i++ {
		r = apply(t, s, next(r, fmt.Sprintf("return %d", i)))
		ids = append(ids, r.Current.ID)
	}
	page, err := s.Versions(t.Context(), r.ID, 0, 2)
	if err != nil || len(page) != 2 || page[0].Number != 5 || page[1].Number != 4 {
		t.Fatalf("first page %+v, %v", page, err)
	}
	page, err = s.Versions(t.Context(), r.ID, 4, 10)
	if err != nil || len(page) != 3 || page[2].Number != 1 || page[2].Definition.Body != "return 1" {
		t.Fatalf("last page %+v, %v", page, err)
	}
	for i, id := range ids {
		_, v, err := s.Version(t.Context(), one(), id)
		if err != nil || v.Number != int64(i+1) {
			t.Fatalf("version %s: %+v, %v", id, v, err)
		}
		if i > 0 && ids[i-1] >= id {
			t.Fatalf("ids do not sort by time: %v", ids)
		}
	}
}

func testStale(t *testing.T, s store.Store) {
	r := apply(t, s, fresh(one(), "add", "return 1"))
	apply(t, s, next(r, "return 2"))
	refused(t, s, tool.Conflict, next(r, "return 3"))
	refused(t, s, tool.Conflict, headOnly(r, store.Deleted, true, true))
	if got := find(t, s, one(), "add").Current.Definition.Body; got != "return 2" {
		t.Fatalf("body %q", got)
	}
}

func testRace(t *testing.T, s store.Store) {
	r := apply(t, s, fresh(one(), "add", "return 0"))
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		won  int
		lost int
	)
	for i := range 8 {
		all.Go(func() {
			_, err := s.Apply(t.Context(), []store.Write{next(r, fmt.Sprintf("return %d", i+1))})
			mu.Lock()
			defer mu.Unlock()
			switch tool.CodeOf(err) {
			case "":
				won++
			case tool.Conflict:
				lost++
			default:
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if won != 1 || lost != 7 {
		t.Fatalf("%d won and %d lost, want 1 and 7", won, lost)
	}
}

func testWhole(t *testing.T, s store.Store) {
	r := apply(t, s, fresh(one(), "old", "return 1"))
	stale := next(r, "return 3")
	apply(t, s, next(r, "return 2"))
	before, err := s.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused(t, s, tool.Conflict, fresh(one(), "a", "return 1"), fresh(one(), "b", "return 1"), stale)
	if got := names(t, s, one(), store.Query{}); !reflect.DeepEqual(got, []string{"old"}) {
		t.Fatalf("a part was written: %v", got)
	}
	if after, err := s.Revision(t.Context()); err != nil || after != before {
		t.Fatalf("revision %d, want %d (%v)", after, before, err)
	}
	out, err := s.Apply(t.Context(), []store.Write{fresh(one(), "a", "return 1"), fresh(one(), "b", "return 1")})
	if err != nil || len(out) != 2 || out[0].Revision >= out[1].Revision {
		t.Fatalf("got %+v, %v", out, err)
	}
}

func testTaken(t *testing.T, s store.Store) {
	apply(t, s, fresh(one(), "get_list1", "return 1"))
	for _, name := range []string{"get_list1", "Get_List1", "get-list1", "get_listl", "get_listI"} {
		err := refused(t, s, tool.NameConflict, fresh(one(), name, "return 1"))
		if !strings.Contains(err.Error(), "get_list1") {
			t.Errorf("%s: the error does not name the holder: %v", name, err)
		}
	}
	apply(t, s, fresh(one(), "get_llst1", "return 1"))
	apply(t, s, fresh(two(), "get_list1", "return 1"))
}

func testAvoid(t *testing.T, s store.Store) {
	apply(t, s, fresh(global(), "shared", "return 1"))
	none, mine := "", one().Workspace
	w := fresh(one(), "Shared", "return 1")
	w.Avoid = &none
	refused(t, s, tool.NameConflict, w)

	apply(t, s, fresh(one(), "mine", "return 1"))
	g := fresh(global(), "mine", "return 1")
	g.Avoid = &mine
	refused(t, s, tool.NameConflict, g)
	g.Avoid = nil
	apply(t, s, g)
}

func testFull(t *testing.T, s store.Store) {
	var last store.Record
	for i := range 3 {
		w := fresh(one(), fmt.Sprintf("tool_%c", 'a'+i), "return 1")
		w.Max = 3
		last = apply(t, s, w)
	}
	extra := fresh(one(), "one_more", "return 1")
	extra.Max = 3
	refused(t, s, tool.LimitReached, extra)
	w := next(last, "return 2")
	w.Max = 3
	last = apply(t, s, w) // a change is not one more
	apply(t, s, headOnly(last, store.Deleted, true, true))
	apply(t, s, extra)
	other := fresh(two(), "one_more", "return 1")
	other.Max = 3
	apply(t, s, other)
}

func testDeleted(t *testing.T, s store.Store) {
	r := apply(t, s, fresh(one(), "add", "return 1"))
	gone := apply(t, s, headOnly(r, store.Deleted, true, true))
	if gone.Current.ID != r.Current.ID || !gone.Deleted {
		t.Fatalf("got %+v", gone.Tool)
	}
	if got := find(t, s, one(), "add"); !got.Deleted {
		t.Fatalf("found %+v", got.Tool)
	}
	again := apply(t, s, fresh(one(), "add", "return 2"))
	if got := find(t, s, one(), "add"); got.ID != again.ID || got.Deleted {
		t.Fatalf("found the deleted one: %+v", got)
	}
	owner, v, err := s.Version(t.Context(), one(), r.Current.ID)
	if err != nil || owner.ID != r.ID || v.Definition.Body != "return 1" {
		t.Fatalf("version of the deleted tool: %+v, %v", v, err)
	}
	back := next(gone, "return 1")
	back.Action = store.Restored
	refused(t, s, tool.NameConflict, back)
	apply(t, s, headOnly(again, store.Deleted, true, true))
	if got := apply(t, s, back); got.Deleted || got.Current.Number != 2 {
		t.Fatalf("got %+v", got.Tool)
	}
}

func testMove(t *testing.T, s store.Store) {
	r := apply(t, s, fresh(one(), "add", "return 1"))
	up := next(r, "return 2")
	up.Place = global()
	moved := apply(t, s, up)
	if moved.Location != tool.InTenant || find(t, s, two(), "add").ID != r.ID {
		t.Fatalf("got %+v", moved)
	}
	down := next(moved, "return 3")
	down.Place, down.Wide = two(), true
	apply(t, s, down)
	_, err := s.Find(t.Context(), one(), "add")
	wantCode(t, err, tool.NotFound)
	changes, err := s.Changes(t.Context(), moved.Revision, 10)
	if err != nil || len(changes) != 1 || !changes[0].SeenBy(one()) {
		t.Fatalf("the workspace that lost it is not told: %+v, %v", changes, err)
	}
}

func testBorders(t *testing.T, s store.Store) {
	mine := apply(t, s, fresh(one(), "add", "return 1"))
	shared := apply(t, s, fresh(global(), "shared", "return 1"))
	stranger := tool.Place{Tenant: "other", Workspace: "one"}
	for _, place := range []tool.Place{stranger, two()} {
		_, err := s.Find(t.Context(), place, "add")
		wantCode(t, err, tool.NotFound)
		_, _, err = s.Version(t.Context(), place, mine.Current.ID)
		wantCode(t, err, tool.VersionNotFound)
	}
	if find(t, s, two(), "shared").ID != shared.ID {
		t.Fatal("a global tool is not seen by another workspace")
	}
	_, _, err := s.Version(t.Context(), stranger, shared.Current.ID)
	wantCode(t, err, tool.VersionNotFound)
	if got := names(t, s, stranger, store.Query{}); len(got) != 0 {
		t.Fatalf("a stranger sees %v", got)
	}
	found, err := s.Search(t.Context(), stranger, []string{"add", "shared"}, 10)
	if err != nil || len(found) != 0 {
		t.Fatalf("a stranger finds %v, %v", found, err)
	}
	apply(t, s, fresh(stranger, "add", "return 1"))
}

func testSolo(t *testing.T, s store.Store) {
	r := apply(t, s, fresh(one(), "add", "return 1"))
	for range 2 {
		if err := s.MarkSolo(t.Context(), r.Current.ID, noon()); err != nil {
			t.Fatal(err)
		}
	}
	if !find(t, s, one(), "add").Current.Solo {
		t.Fatal("the version is not marked")
	}
	changes, err := s.Changes(t.Context(), r.Revision, 10)
	if err != nil || len(changes) != 1 || changes[0].Action != store.Soloed {
		t.Fatalf("got %+v, %v", changes, err)
	}
	if apply(t, s, next(find(t, s, one(), "add"), "return 2")).Current.Solo {
		t.Fatal("the next version is marked as well")
	}
	wantCode(t, s.MarkSolo(t.Context(), "v000000000", noon()), tool.VersionNotFound)
}
