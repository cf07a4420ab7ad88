package cli_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// program is this test binary as the program, with arguments.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Args[0] = "toolroom"
	return cmd
}

// mounted is a directory of a file system of its own. Only root may mount one.
func mounted(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("no file system can be mounted here to be full or read-only: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// madeRoom is the data directory of a room that was made and closed.
func madeRoom(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := program(t, "tool", "list", "--data", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// TestServeThatCannotStart: exit code 3, and who reads it is told the thing, the place, the reason and the next step.
func TestServeThatCannotStart(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes: not with -short")
	}
	for _, c := range []struct {
		name    string
		place   func(t *testing.T) string // makes the data directory
		code    string
		says    []string // DIR stands for the place
		through []string // a program to start it with
	}{
		{"the data directory is a file", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "file")
			write(t, path, "a file")
			return path
		}, "storage_failed", []string{"DIR/room.db", "not a directory", "stands in the way, or start with another --data directory"}, nil},
		{"read-only", func(t *testing.T) string {
			dir := mounted(t, "")
			if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "storage_failed", []string{"DIR/room.db.lock", "read-only file system", "Let this user write there, or start with another --data directory"}, nil},
		{"not this user's", func(t *testing.T) string {
			if os.Geteuid() == 0 {
				t.Skip("root may write everywhere: tried by others only")
			}
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o500); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "storage_failed", []string{"DIR/room.db.lock", "permission denied", "Let this user write there"}, nil},
		{"the disk is full while the database is made", func(t *testing.T) string { return mounted(t, "size=64k") },
			"storage_failed", []string{"DIR/room.db: database or disk is full (13)\n", "Free space on the disk that it is on, or start with another --data directory"}, nil},
		{"the disk is full already", func(t *testing.T) string {
			dir := mounted(t, "size=4k")
			write(t, filepath.Join(dir, "other"), strings.Repeat("x", 4096))
			return dir
		}, "storage_failed", []string{"DIR/room.db: database or disk is full (13)\n", "Free space on the disk"}, nil},
		{"no file may grow", func(t *testing.T) string { return t.TempDir() },
			"storage_failed", []string{"DIR/room.db: disk I/O error", "Free space, mend what stands in the way"}, []string{"sh", "-c", `ulimit -f 8; exec "$0" "$@"`}},
		{"the database is something else", func(t *testing.T) string {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "room.db"), strings.Repeat("no database ", 400))
			return dir
		}, "storage_failed", []string{"DIR/room.db: file is not a database", "Move the file away and put a backup in its place, or start with another --data directory"}, nil},
		{"the database is damaged", func(t *testing.T) string {
			dir := madeRoom(t)
			path := filepath.Join(dir, "room.db")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, string(b[:len(b)/2]))
			return dir
		}, "storage_failed", []string{"DIR/room.db: ", "Move the file away and put a backup in its place"}, nil},
		{"the database is of a newer version", func(t *testing.T) string {
			dir := madeRoom(t)
			db, err := sql.Open("sqlite", filepath.Join(dir, "room.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)"); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "storage_failed", []string{"DIR/room.db: it was made by a newer Toolroom (schema 999", "Start it with the version that made it, or a later one, or start with another --data directory"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := c.place(t)
			refused(t, dir, c.code, c.says, c.through, "--addr", "127.0.0.1:0", "--data", dir)
		})
	}
}

// TestServeWhereAnotherRoomIs: the data directory is another room's, and so is the port.
func TestServeWhereAnotherRoomIs(t *testing.T) {
	s := serve(t)
	defer s.end(t)
	addr := strings.TrimSuffix(strings.TrimPrefix(s.endpoint, "http://"), "/mcp")
	refused(t, "", "stopped", []string{"cannot listen on " + addr + ": address already in use", "Stop what listens there, or choose another address with --addr"}, nil,
		"--addr", addr, "--data", t.TempDir())
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	refused(t, s.data, "locked", []string{"DIR/room.db.lock is held by the process", "stop the other one, talk to it over HTTP, or choose another --data directory"}, nil,
		"--addr", free.Addr().String(), "--data", s.data)
	if res := get(t, s.endpoint[:len(s.endpoint)-len("/mcp")]+"/readyz"); res != "ok\n" {
		t.Errorf("the room that was there first says %q", res)
	}
}

// refused starts serve as people do and as machines do, and holds what it says against what it should.
func refused(t *testing.T, dir, code string, says, through []string, args ...string) {
	t.Helper()
	out, errs := ended(t, 3, through, append([]string{"serve", "--root", t.TempDir()}, args...))
	if !strings.HasPrefix(errs, "toolroom: "+code+": ") || out != "" || strings.Count(errs, "\n") != 2 {
		t.Errorf("got %q and on standard output %q", errs, out)
	}
	for _, want := range says {
		if !strings.Contains(errs, strings.ReplaceAll(want, "DIR", dir)) {
			t.Errorf("no %q in %q", want, errs)
		}
	}
	out, errs = ended(t, 3, through, append([]string{"serve", "--json", "--root", t.TempDir()}, args...))
	var got struct {
		Error struct{ Code, Message, Hint string }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Error.Code != code || got.Error.Message == "" || got.Error.Hint == "" || errs != "" {
		t.Errorf("with --json: %v, got %q and on standard error %q", err, out, errs)
	}
}

// ended runs the program to its end.
func ended(t *testing.T, code int, through, args []string) (stdout, stderr string) {
	t.Helper()
	cmd := program(t, args...)
	if through != nil {
		link := filepath.Join(t.TempDir(), "toolroom") // the name makes it the program
		if err := os.Symlink(cmd.Path, link); err != nil {
			t.Fatal(err)
		}
		cmd = exec.CommandContext(t.Context(), through[0], append(append(through[1:len(through):len(through)], link), args...)...)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != code {
		t.Errorf("%v ended with %v, want the exit code %d", args, err, code)
	}
	return out.String(), errs.String()
}
