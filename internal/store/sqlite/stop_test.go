package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"toolroom/internal/store"
	"toolroom/internal/store/sqlite"
	"toolroom/tool"
)

// TestStoppingAmongChangesLosesNone closes a room in which many create tools: what
// was acknowledged is there afterwards, the rest was told that the room stopped.
func TestStoppingAmongChangesLosesNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room.db")
	s := open(t, path)
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		made []string
	)
	busy := make(chan struct{})
	var once sync.Once
	for i := range 4 {
		all.Go(func() {
			for n := 0; ; n++ {
				name := fmt.Sprintf("t%c_%d_x", 'a'+i, n)
				_, err := s.Apply(context.Background(), []store.Write{draft(name, "return 1", store.Record{})})
				if err != nil {
					if code := tool.CodeOf(err); code != tool.Stopped {
						t.Errorf("%s: got %v, want stopped", name, err)
					}
					return
				}
				mu.Lock()
				made = append(made, name)
				mu.Unlock()
				once.Do(func() { close(busy) })
			}
		})
	}
	<-busy
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path)
	all.Wait()
	for _, name := range made {
		if _, err := again.Find(t.Context(), place(), name); err != nil {
			t.Errorf("%s was acknowledged: %v", name, err)
		}
	}
}

func TestASecondOpeningInOneProcessIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room.db")
	open(t, path)
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); tool.CodeOf(err) != tool.Locked {
		t.Fatalf("got %v, want locked", err)
	}
}
