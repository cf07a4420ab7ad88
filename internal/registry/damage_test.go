package registry_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"toolroom/internal/registry"
	"toolroom/internal/store/sqlite"
	"toolroom/tool"
)

// damaged is a registry in which the second version of add cannot be read.
func damaged(t *testing.T) (r *registry.Registry, firstVersion string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "room.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := over(t, s)
	firstVersion = create(t, before, model(), definition("add")).Current.ID
	create(t, before, model(), definition("other"))
	if _, err := before.Update(t.Context(), model(), "add", tool.Patch{Body: to("return 2")}, registry.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	_ = before.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`DROP TRIGGER versions_never_change; UPDATE versions SET definition = '{"name":"add"' WHERE number = 2`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = sqlite.Open(t.Context(), path, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return over(t, s), firstVersion
}

func TestADamagedToolSaysSoAndTheOthersWork(t *testing.T) {
	r, _ := damaged(t)
	page, err := r.List(t.Context(), place(), registry.ListOptions{})
	if err != nil || len(page.Tools) != 2 || page.Tools[0].Broken == nil || page.Tools[1].Broken != nil {
		t.Fatalf("got %+v, %v", page, err)
	}
	_, err = r.Resolve(t.Context(), place(), "add")
	wantCode(t, err, tool.StorageFailed)
	_, err = r.Update(t.Context(), model(), "add", tool.Patch{Body: to("return 3")}, registry.ChangeOptions{})
	wantCode(t, err, tool.StorageFailed)
	if !strings.Contains(tool.AsError(err).Hint, "Restore an earlier version") {
		t.Errorf("got %+v", err)
	}
	if _, err := r.Resolve(t.Context(), place(), "other"); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedToolIsMendedByRestoringReplacingOrDeleting(t *testing.T) {
	for name, mend := range map[string]func(r *registry.Registry, first string) error{
		"restore": func(r *registry.Registry, first string) error {
			_, err := r.Restore(t.Context(), model(), "add", first, registry.ChangeOptions{})
			return err
		},
		"replace": func(r *registry.Registry, _ string) error {
			_, err := r.Create(t.Context(), model(), definition("add"), registry.CreateOptions{IfExists: registry.Replace})
			return err
		},
		"delete": func(r *registry.Registry, _ string) error {
			if _, err := r.Delete(t.Context(), model(), "add", registry.ChangeOptions{}); err != nil {
				return err
			}
			_, err := r.Create(t.Context(), model(), definition("add"), registry.CreateOptions{})
			return err
		},
	} {
		r, first := damaged(t)
		if err := mend(r, first); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := r.Resolve(t.Context(), place(), "add"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOfManyWhoWantOneNameOneGetsIt(t *testing.T) {
	r := open(t)
	var (
		all sync.WaitGroup
		mu  sync.Mutex
		won int
	)
	for _, name := range []string{"get_all", "Get_All", "get-all", "get_al1", "GET_all", "get_aIl", "get-al1", "gEt_all"} {
		all.Go(func() {
			_, err := r.Create(t.Context(), user(), definition(name), registry.CreateOptions{})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if tool.CodeOf(err) != tool.NameConflict {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
	if won != 1 {
		t.Fatalf("%d got the name", won)
	}
}
