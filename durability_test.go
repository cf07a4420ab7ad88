package toolroom_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to damage a room's file behind its back

	"toolroom"
	"toolroom/tool"
)

// TestCorruptDatabaseRefusesToStartAndNamesTheFile damages a room in the ways that files are damaged.
func TestCorruptDatabaseRefusesToStartAndNamesTheFile(t *testing.T) {
	for name, damage := range map[string]func(b []byte) []byte{
		"other content": func([]byte) []byte { return []byte("this is no database\n") },
		"cut short":     func(b []byte) []byte { return b[:len(b)/2] },
		"a page gone": func(b []byte) []byte {
			for i := 4096; i < 8192; i++ {
				b[i] = 0xa5
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			r := room(t, toolroom.Options{Data: data})
			define(t, view(t, r, tool.User, "w"), "kept", "return 1")
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(data, "room.db")
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b = damage(b)
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = toolroom.Open(t.Context(), toolroom.Options{Data: data})
			if tool.CodeOf(err) != tool.StorageFailed || !strings.Contains(err.Error(), "room.db") {
				t.Fatalf("got %v, want storage_failed that names the file", err)
			}
			if now, err := os.ReadFile(file); err != nil || string(now) != string(b) {
				t.Errorf("the damaged file was changed: %v", err)
			}
		})
	}
}

// TestASecondRoomIsRefusedAndAStaleLockIsNot opens one directory twice, and once more after the first is gone.
func TestASecondRoomIsRefusedAndAStaleLockIsNot(t *testing.T) {
	data := t.TempDir()
	first := room(t, toolroom.Options{Data: data})
	w := view(t, first, tool.User, "w")
	define(t, w, "a", "return 1")
	_, err := toolroom.Open(t.Context(), toolroom.Options{Data: data})
	if tool.CodeOf(err) != tool.Locked || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Fatalf("a second room: %v, want locked and who has it", err)
	}
	out, err := w.Call(t.Context(), "a", nil)
	wants(t, out, err, "1")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(data, "room.db.lock")); err != nil {
		t.Fatalf("the lock file is gone, so this tests nothing: %v", err)
	}
	second := room(t, toolroom.Options{Data: data})
	out, err = view(t, second, tool.User, "w").Call(t.Context(), "a", nil)
	wants(t, out, err, "1")
}

// TestStorageThatFailsLeavesTheOldVersionCallable makes every write of the database fail, as a full disk does.
func TestStorageThatFailsLeavesTheOldVersionCallable(t *testing.T) {
	data := t.TempDir()
	var log bytes.Buffer
	w := view(t, room(t, toolroom.Options{Data: data, Logger: slog.New(slog.NewTextHandler(&log, nil))}), tool.User, "w")
	made := define(t, w, "steady", "return 'old'")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "room.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TRIGGER full BEFORE INSERT ON versions BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`); err != nil {
		t.Fatal(err)
	}
	body := "return 'new'"
	_, err = w.Update(t.Context(), "steady", tool.Patch{Body: &body}, toolroom.ChangeOptions{})
	if tool.CodeOf(err) != tool.StorageFailed || strings.Contains(err.Error(), data) {
		t.Fatalf("got %v, want storage_failed without a path", err)
	}
	if !strings.Contains(log.String(), "disk is full") {
		t.Errorf("the log does not name the cause: %s", log.String())
	}
	out, err := w.Call(t.Context(), "steady", nil)
	wants(t, out, err, `"old"`)
	got, err := w.Tool(t.Context(), "steady")
	if err != nil || got.Current.ID != made.Tool.Current.ID {
		t.Errorf("the version is %+v, %v", got.Current, err)
	}
	if _, err := db.Exec("DROP TRIGGER full"); err != nil {
		t.Fatal(err)
	}
	if _, err = w.Update(t.Context(), "steady", tool.Patch{Body: &body}, toolroom.ChangeOptions{}); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	out, err = w.Call(t.Context(), "steady", nil)
	wants(t, out, err, `"new"`)
}

// TestEightUpdatesAtOnce: eight versions when nobody says what they expect, one and seven conflicts when all expect the same.
func TestEightUpdatesAtOnce(t *testing.T) {
	w := view(t, room(t, toolroom.Options{}), tool.User, "w")
	first := define(t, w, "busy", "return 0").Tool.Current.ID
	together := func(expect string) (made int, refused []*tool.Error) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for i := range 8 {
			wg.Go(func() {
				body := fmt.Sprintf("return %d + %q.length", i, expect)
				_, err := w.Update(context.Background(), "busy", tool.Patch{Body: &body}, toolroom.ChangeOptions{Expect: expect})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					refused = append(refused, tool.AsError(err))
				} else {
					made++
				}
			})
		}
		wg.Wait()
		return made, refused
	}
	if made, refused := together(first); made != 1 || len(refused) != 7 {
		t.Fatalf("%d made and %v refused, want 1 and 7", made, refused)
	} else {
		for _, e := range refused {
			details, _ := e.Details.(map[string]any)
			if e.Code != tool.Conflict || details["expected"] != first || details["current"] == nil {
				t.Errorf("got %v with %v, want conflict that says which version is current", e, e.Details)
			}
		}
	}
	if made, refused := together(""); made != 8 {
		t.Fatalf("%d made, refused: %v", made, refused)
	}
	h, err := w.History(t.Context(), "busy", "")
	if err != nil || len(h.Versions) != 10 || h.Versions[0].Number != 10 {
		t.Errorf("the history has %d versions, %v", len(h.Versions), err)
	}
}

// TestAnEmbedderForbidsGlobalToolsPerTenant: one tenant has them, another has not, and neither sees the other's.
func TestAnEmbedderForbidsGlobalToolsPerTenant(t *testing.T) {
	r := room(t, toolroom.Options{NoGlobalTools: []string{"strict"}})
	in := func(tenant, workspace string) *toolroom.Workspace {
		w, err := r.Workspace(tool.Principal{Place: tool.Place{Tenant: tenant, Workspace: workspace}, Kind: tool.Admin}, "")
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	global := func(d *tool.Definition) { d.Location = tool.InTenant }
	define(t, in("free", "one"), "shared", "return 'free'", global)
	out, err := in("free", "two").Call(t.Context(), "shared", nil)
	wants(t, out, err, `"free"`)
	_, err = in("strict", "one").Call(t.Context(), "shared", nil)
	wants(t, tool.Outcome{}, err, "not_found")
	_, err = in("strict", "one").Create(t.Context(), tool.Definition{Name: "shared", Description: "d", Body: "return 1", Location: tool.InTenant}, toolroom.CreateOptions{})
	wants(t, tool.Outcome{}, err, "forbidden")
	define(t, in("strict", "one"), "shared", "return 'own'")
}

// TestTheInboxAnswersFromOutside opens the inbox beside a room that has its directory, and decides there.
func TestTheInboxAnswersFromOutside(t *testing.T) {
	data := t.TempDir()
	w := view(t, room(t, toolroom.Options{Data: data, ApprovalWait: time.Minute}), tool.Model, "w")
	box, err := toolroom.OpenInbox(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	user := tool.Principal{Place: tool.Place{Tenant: "t", Workspace: "w"}, Kind: tool.User, ID: "ann"}
	for decision, want := range map[toolroom.Decision]tool.Code{toolroom.Approve: "", toolroom.Decline: tool.ApprovalDeclined} {
		done := make(chan error, 1)
		go func() {
			_, err := w.Create(context.Background(), tool.Definition{Name: "g_" + string(decision), Description: "d", Body: "return 1", Location: tool.InTenant}, toolroom.CreateOptions{})
			done <- err
		}()
		var waiting []toolroom.Approval
		for end := time.Now().Add(20 * time.Second); len(waiting) == 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if waiting, _, err = box.List(t.Context(), user, toolroom.Pending, ""); err != nil {
				t.Fatal(err)
			}
		}
		if len(waiting) != 1 {
			t.Fatalf("%d questions wait", len(waiting))
		}
		if _, err := box.Decide(t.Context(), user, waiting[0].ID, decision); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if tool.CodeOf(err) != want {
				t.Errorf("after %s: %v", decision, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("after %s the change still waits", decision)
		}
	}
}

// TestClosingEndsWhatWaitsForAPerson: a change that waits for a person does not keep the room from closing.
func TestClosingEndsWhatWaitsForAPerson(t *testing.T) {
	asked := make(chan struct{})
	r := room(t, toolroom.Options{Approver: toolroom.ApproverFunc(func(ctx context.Context, _ toolroom.Question) (toolroom.Answer, error) {
		close(asked)
		<-ctx.Done()
		return toolroom.Answer{}, ctx.Err()
	})})
	w := view(t, r, tool.Model, "w")
	done := make(chan error, 1)
	go func() {
		_, err := w.Create(context.Background(), tool.Definition{Name: "g", Description: "d", Body: "return 1", Location: tool.InTenant}, toolroom.CreateOptions{})
		done <- err
	}()
	<-asked
	began := time.Now()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; tool.CodeOf(err) != tool.ApprovalUnavailable {
		t.Errorf("the change ended with %v, want approval_unavailable", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("closing took %s", took)
	}
}
