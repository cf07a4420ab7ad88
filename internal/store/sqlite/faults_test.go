package sqlite_test

import (
	"path/filepath"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"toolroom/internal/store"
	"toolroom/internal/store/sqlite"
	"toolroom/tool"
)

// TestAFailingDiskChangesNothing lets every single write and sync of a change fail in turn,
// as a full disk and as a broken one, for once and for good.
func TestAFailingDiskChangesNothing(t *testing.T) {
	registerFaultyVFS(t)
	for _, c := range []struct {
		name string
		kind opKind
		code int32
	}{
		{"disk full", opWrite, sqlite3.SQLITE_FULL},
		{"write error", opWrite, sqlite3.SQLITE_IOERR_WRITE},
		{"sync error", opSync, sqlite3.SQLITE_IOERR_FSYNC},
	} {
		for _, always := range []bool{false, true} {
			name := c.name + ", once"
			if always {
				name = c.name + ", until mended"
			}
			t.Run(name, func(t *testing.T) { failEach(t, c.kind, always, c.code) })
		}
	}
}

// failEach repeats one change, with the first operation failing, then the second, until
// none is left to fail.
func failEach(t *testing.T, kind opKind, always bool, code int32) {
	const most = 200
	for n := range most {
		if !failAt(t, kind, n, always, code) {
			if n == 0 {
				t.Fatal("nothing ever failed")
			}
			t.Logf("%d operations were made to fail", n)
			return
		}
	}
	t.Fatalf("a change takes more than %d operations", most)
}

// failAt says whether a change has an operation n that could fail.
func failAt(t *testing.T, kind opKind, n int, always bool, code int32) bool {
	path := filepath.Join(t.TempDir(), "room.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{VFS: faultyVFS})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first := write(t, s, "add", "return 1")

	arm(kind, n, always, code)
	_, err = s.Apply(t.Context(), []store.Write{draft("add", "return 2", first), draft("other", "return 1", store.Record{})})
	hit := disarm()
	if hit != (err != nil) {
		t.Fatalf("operation %d: failed %v, but got %v", n, hit, err)
	}
	if !hit {
		return false
	}
	if tool.CodeOf(err) != tool.StorageFailed {
		t.Fatalf("operation %d: got %v, want storage_failed", n, err)
	}
	unharmed(t, s, path, first)
	return true
}

// unharmed says that the old version is there and that the store works on, also
// after it was opened anew.
func unharmed(t *testing.T, s *sqlite.Store, path string, first store.Record) {
	t.Helper()
	got, err := s.Find(t.Context(), place(), "add")
	if err != nil || got.Broken != nil || got.Current.ID != first.Current.ID {
		t.Fatalf("the old version is gone: %+v, %v", got, err)
	}
	out, err := s.Apply(t.Context(), []store.Write{draft("add", "return 3", got)})
	if err != nil {
		t.Fatalf("the mended store takes no change: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := open(t, path).Find(t.Context(), place(), "add")
	if err != nil || again.Current.ID != out[0].Current.ID {
		t.Fatalf("after opening anew: %+v, %v", again, err)
	}
}

func TestAFailingDiskIsNamedAtOpening(t *testing.T) {
	registerFaultyVFS(t)
	arm(opWrite, 3, true, sqlite3.SQLITE_FULL)
	defer disarm()
	path := filepath.Join(t.TempDir(), "room.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{VFS: faultyVFS})
	if err == nil {
		_ = s.Close()
	}
	if tool.CodeOf(err) != tool.StorageFailed {
		t.Fatalf("got %v, want storage_failed", err)
	}
}
