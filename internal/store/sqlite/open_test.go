package sqlite_test

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolroom/internal/store"
	"toolroom/internal/store/sqlite"
	"toolroom/tool"
)

// holdEnv makes the test binary a second room that holds a file until it is killed.
const holdEnv = "TOOLROOM_TEST_HOLD"

func TestHoldingProcess(t *testing.T) {
	path := os.Getenv(holdEnv)
	if path == "" {
		return // only of use when another test runs it
	}
	open(t, path)
	fmt.Println("held")
	select {} // until killed
}

// hold starts a process that has the room open.
func hold(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHoldingProcess$")
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the other room said %q, %v", line, err)
	}
	return cmd
}

func TestASecondRoomIsToldWhoHoldsTheFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room.db")
	other := hold(t, path)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, filepath.Join(link, "room.db")} {
		_, err := sqlite.Open(t.Context(), p, sqlite.Options{})
		if tool.CodeOf(err) != tool.Locked || !strings.Contains(err.Error(), fmt.Sprint(other.Process.Pid)) {
			t.Errorf("%s: got %v, want locked by %d", p, err, other.Process.Pid)
		}
	}
}

func TestALockLeftBehindHoldsNobodyUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room.db")
	other := hold(t, path)
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Fatalf("the killed room should have left its lock: %v", err)
	}
	open(t, path)
}

func TestARoomCanBeOpenedAgainAfterItWasClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd ?#% name", "room.db")
	for range 3 {
		if err := open(t, path).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
}

// TestADamagedFileIsNamedAndRefused damages the file in the ways that
// disks and people do.
func TestADamagedFileIsNamedAndRefused(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"other content":    func([]byte) []byte { return []byte(strings.Repeat("not a database ", 1000)) },
		"header scribbled": func(b []byte) []byte { return append([]byte("sqlite FORM"), b[11:]...) },
		"cut short":        func(b []byte) []byte { return b[:len(b)/2] },
		"middle zeroed":    func(b []byte) []byte { return append(append(b[:4096:4096], make([]byte, 8192)...), b[12288:]...) },
		"middle is garbage": func(b []byte) []byte {
			return append(append(b[:4096:4096], strings.Repeat("x", 8192)...), b[12288:]...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "room.db")
			if err := open(t, path).Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err == nil {
				_ = s.Close()
			}
			if tool.CodeOf(err) != tool.StorageFailed || !strings.Contains(err.Error(), path) {
				t.Fatalf("got %v, want storage_failed naming %s", err, path)
			}
			if _, err := os.ReadFile(path); err != nil {
				t.Fatalf("the damaged file is gone: %v", err)
			}
		})
	}
}

func TestAFileOfANewerToolroomIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	tamper(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if tool.CodeOf(err) != tool.StorageFailed || !strings.Contains(err.Error(), "newer Toolroom") {
		t.Fatalf("got %v", err)
	}
}

// tamper changes a closed room's file behind its back.
func tamper(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err = db.Exec(s); err != nil {
			break
		}
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestOneDamagedRowLeavesTheOthersAlone(t *testing.T) {
	for name, damage := range map[string]string{
		"not JSON":        `UPDATE versions SET definition = '{' WHERE tool = 2`,
		"another content": `UPDATE versions SET definition = replace(definition, 'return', 'throw') WHERE tool = 2`,
		"changed is text": `UPDATE versions SET changed = 'x' WHERE tool = 2`,
		"no version":      `UPDATE tools SET current = 'v1' WHERE id = 2`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "room.db")
			s := open(t, path)
			for _, n := range []string{"first", "second", "third"} {
				write(t, s, n, "return 1")
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			tamper(t, path, `DROP TRIGGER versions_never_change`, damage)
			found, err := open(t, path).List(t.Context(), place(), store.Query{})
			if err != nil || len(found) != 3 {
				t.Fatalf("got %d tools, %v", len(found), err)
			}
			for i, r := range found {
				if broken := r.Broken != nil; broken != (i == 1) {
					t.Errorf("%s: broken %v", r.Name, r.Broken)
				}
			}
			if b := found[1].Broken; b.Code != tool.StorageFailed || !strings.Contains(b.Message, "second") {
				t.Errorf("got %v", b)
			}
		})
	}
}

func TestAVersionNeverChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "room.db")
	s := open(t, path)
	write(t, s, "add", "return 1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE versions SET reason = 'other'`); err == nil {
		t.Fatal("a version was changed")
	}
}

// TestWhatStandsInTheWayIsNotCalledDamage opens rooms where none can be: the hint must not
// tell anybody to move a good file away.
func TestWhatStandsInTheWayIsNotCalledDamage(t *testing.T) {
	dir := t.TempDir()
	for _, made := range []string{"asdatabase/room.db", "aslock/room.db.lock"} {
		if err := os.MkdirAll(filepath.Join(dir, made), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("not a directory"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{"file", "file/below", "asdatabase", "aslock"} {
		path := filepath.Join(dir, in, "room.db")
		_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		e := tool.AsError(err)
		if e.Code != tool.StorageFailed || !strings.Contains(e.Message, filepath.Join(dir, in)) {
			t.Errorf("%s: got %v, want storage_failed that names the place", in, err)
		}
		if !strings.Contains(e.Hint, "stands in the way") {
			t.Errorf("%s: the hint is %q", in, e.Hint)
		}
	}
}
