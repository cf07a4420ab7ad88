//go:build unix

package files_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"toolroom/internal/broker/files"
	"toolroom/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, o files.Options) (*files.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "workspace")
	must(t, os.Mkdir(dir, 0o755))
	f, err := files.Open(dir, o)
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f, dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(content), 0o644))
}

// every tries all that can be done with a path and wants one answer to all of it.
func every(t *testing.T, f *files.Folder, path string, code tool.Code) {
	t.Helper()
	_, read := f.Read(path)
	_, write := f.Write(path, []byte("x"))
	_, more := f.Append(path, []byte("x"))
	_, list := f.List(path, true)
	_, stat := f.Stat(path)
	for op, err := range map[string]error{"read": read, "write": write, "append": more, "list": list, "stat": stat, "mkdir": f.Mkdir(path + "/d"), "remove": f.Remove(path, true)} {
		if got := tool.CodeOf(err); got != code {
			t.Errorf("%s %.50q: %v, want %s", op, path, err, code)
		}
		if err != nil && (len(err.Error()) > 300 || strings.Contains(err.Error(), os.TempDir()) && !strings.Contains(path, os.TempDir())) {
			t.Errorf("%s %.50q: the message is long or shows a path of this machine: %v", op, path, err)
		}
	}
}

func TestPathsThatAreNone(t *testing.T) {
	f, dir := open(t, files.Options{})
	put(t, filepath.Join(dir, "..", "workspace-evil", "secret.txt"), "s")
	put(t, filepath.Join(dir, "ok.txt"), "x")
	for _, p := range []string{"", "..", "../x", "../../../../etc/passwd", "/etc/passwd", "/", dir + "/ok.txt", "a/../../etc/passwd", "./../x", "sub/../ok.txt",
		`..\..\etc\passwd`, `a\b`, "a\x00.txt", "\x00", "a\nb", "a\x7fb", "../workspace-evil/secret.txt", "/proc/self/environ",
		strings.Repeat("a", 5000), strings.Repeat("a", 256), strings.Repeat("a/", 65) + "a", "\xff\xfe"} {
		every(t, f, p, tool.PathDenied)
	}
}

func TestPathsThatLookOddAndAreFine(t *testing.T) {
	f, dir := open(t, files.Options{})
	put(t, filepath.Join(dir, "a", "b.txt"), "x")
	for _, p := range []string{"a/b.txt", "./a/b.txt", "a//b.txt", "a/./b.txt", "a/b.txt/"} {
		if b, err := f.Read(p); err != nil || string(b) != "x" {
			t.Errorf("%s: %q %v", p, b, err)
		}
	}
	for _, p := range []string{"missing.txt", "~/.profile", "file:///etc/passwd", "a/b/c", "..x", "a..b"} {
		if _, err := f.Read(p); tool.CodeOf(err) != tool.NotAFile {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, err := f.Read("notes.txt"); err == nil || err.Error() != `not_a_file: "notes.txt" does not exist` {
		t.Errorf("%v", err)
	}
	if _, err := f.Read("a"); tool.CodeOf(err) != tool.NotAFile {
		t.Errorf("a folder: %v", err)
	}
	if _, err := f.Read("a/b.txt/c"); tool.CodeOf(err) != tool.NotAFile {
		t.Errorf("through a file: %v", err)
	}
}

func TestLinksThatLeadOut(t *testing.T) {
	f, dir := open(t, files.Options{})
	outside := filepath.Join(dir, "..", "outside")
	put(t, filepath.Join(outside, "secret.txt"), "s")
	put(t, filepath.Join(dir, "in", "x"), "x")
	for name, target := range map[string]string{
		"abs": filepath.Join(outside, "secret.txt"), "rel": "../outside/secret.txt", "dir": outside, "reldir": "../outside", "up": "..", "deep": "in/../../outside",
		"dangling": "nowhere", "danglingdir": "nowhere/x", "danglingout": outside + "/new.txt", "loop": "loop", "ping": "pong", "pong": "ping", "home": dir, "in/up": "../..",
	} {
		must(t, os.Symlink(target, filepath.Join(dir, name)))
		every(t, f, name, tool.PathDenied)
	}
	for _, p := range []string{"dir/secret.txt", "dir/new.txt", "reldir/new.txt", "up/outside/secret.txt", "deep/secret.txt", "dangling/x", "in/up/outside"} {
		every(t, f, p, tool.PathDenied)
	}
	if b, err := os.ReadFile(filepath.Join(outside, "secret.txt")); err != nil || string(b) != "s" {
		t.Errorf("the file outside is now %q, %v", b, err)
	}
	for _, p := range []string{filepath.Join(outside, "new.txt"), filepath.Join(outside, "d"), filepath.Join(dir, "nowhere")} {
		if _, err := os.Lstat(p); err == nil {
			t.Errorf("%s was made", p)
		}
	}
}

func TestLinksThatStayInside(t *testing.T) {
	f, dir := open(t, files.Options{})
	put(t, filepath.Join(dir, "a", "b", "x.txt"), "x")
	must(t, os.Symlink("a/./b", filepath.Join(dir, "short")))
	must(t, os.Symlink("../../short/x.txt", filepath.Join(dir, "a", "b", "again")))
	must(t, os.Symlink(".", filepath.Join(dir, "self")))
	for _, p := range []string{"short/x.txt", "a/b/again", "self/self/short/again"} {
		if b, err := f.Read(p); err != nil || string(b) != "x" {
			t.Errorf("%s: %q %v", p, b, err)
		}
	}
	if _, err := f.Write("short/again", []byte("y")); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a", "b", "x.txt")); err != nil || string(b) != "y" {
		t.Errorf("writing through a link wrote %q, %v", b, err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "a", "b", "again")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link itself was replaced: %v", err)
	}
	if list, err := f.List(".", true); err != nil || len(list) != 6 {
		t.Errorf("%+v %v", list, err)
	}
}

func TestHardLinks(t *testing.T) {
	f, dir := open(t, files.Options{})
	outside := filepath.Join(dir, "..", "outside.txt")
	put(t, outside, "s")
	must(t, os.Link(outside, filepath.Join(dir, "hard")))
	_, read := f.Read("hard")
	_, write := f.Write("hard", []byte("x"))
	_, more := f.Append("hard", []byte("x"))
	for _, err := range []error{read, write, more} {
		if tool.CodeOf(err) != tool.PathDenied {
			t.Errorf("%v", err)
		}
	}
	if b, _ := os.ReadFile(outside); string(b) != "s" {
		t.Errorf("outside is %q", b)
	}
}

// TestWhatIsNoFile would hang, not fail, if anything waited for the other end.
func TestWhatIsNoFile(t *testing.T) {
	f, dir := open(t, files.Options{})
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	must(t, err)
	defer l.Close()
	names := []string{"fifo", "socket", "null", "fd", "environ"}
	if err := syscall.Mknod(filepath.Join(dir, "device"), syscall.S_IFCHR|0o666, 1<<8|5); err == nil {
		names = append(names, "device")
	} else {
		t.Logf("no device in this test: %v", err)
	}
	must(t, os.Symlink("/dev/null", filepath.Join(dir, "null")))
	must(t, os.Symlink("/dev/fd/0", filepath.Join(dir, "fd")))
	must(t, os.Symlink("/proc/self/environ", filepath.Join(dir, "environ")))
	for _, name := range names {
		_, read := f.Read(name)
		_, write := f.Write(name, []byte("x"))
		_, more := f.Append(name, []byte("x"))
		_, stat := f.Stat(name)
		for _, err := range []error{read, write, more, stat} {
			if tool.CodeOf(err) != tool.NotAFile {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if list, err := f.List(".", true); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
}

func TestQuota(t *testing.T) {
	f, dir := open(t, files.Options{MaxBytes: 1000, MaxFiles: 5, MaxFile: 600})
	put(t, filepath.Join(dir, "own.txt"), strings.Repeat("x", 5000)) // what people put there does not count
	write := func(p string, n int) tool.Code {
		_, err := f.Write(p, make([]byte, n))
		return tool.CodeOf(err)
	}
	for _, c := range []struct {
		path string
		size int
		code tool.Code
	}{{"a", 600, ""}, {"b", 401, tool.QuotaExceeded}, {"b", 400, ""}, {"a", 601, tool.QuotaExceeded}, {"a", 300, ""}, {"c/d/e", 300, ""}, {"f", 0, tool.QuotaExceeded}, {"b", 401, tool.QuotaExceeded}} {
		if got := write(c.path, c.size); got != c.code {
			t.Errorf("%d bytes to %s: %q, want %q", c.size, c.path, got, c.code)
		}
	}
	if _, err := f.Append("a", []byte("x")); tool.CodeOf(err) != tool.QuotaExceeded {
		t.Errorf("append: %v", err)
	}
	if err := f.Mkdir("m"); tool.CodeOf(err) != tool.QuotaExceeded {
		t.Errorf("mkdir: %v", err)
	}
	must(t, f.Remove("c", true))
	if got := write("f", 300); got != "" {
		t.Errorf("after removing: %s", got)
	}
	must(t, f.Remove("own.txt", false))
	if got := write("g", 600); got != "" {
		t.Errorf("room was made: %s", got)
	}
	if got := write("h", 600); got != tool.QuotaExceeded {
		t.Errorf("removing what was not counted gives no more than all: %s", got)
	}
}

// TestQuotaOutlivesTheRoom opens a folder again, as a room does that was started anew.
func TestQuotaOutlivesTheRoom(t *testing.T) {
	dir, kept := t.TempDir(), filepath.Join(t.TempDir(), "usage", "w.json")
	again := func() *files.Folder {
		t.Helper()
		f, err := files.Open(dir, files.Options{MaxBytes: 1000, Usage: kept})
		must(t, err)
		return f
	}
	write := func(f *files.Folder, name string, n int, want tool.Code) {
		t.Helper()
		if _, err := f.Write(name, make([]byte, n)); tool.CodeOf(err) != want {
			t.Errorf("%d bytes: %v, want %q", n, err, want)
		}
	}
	f := again()
	write(f, "a", 900, "")
	must(t, f.Close())
	f = again()
	write(f, "b", 200, tool.QuotaExceeded)
	must(t, f.Close())
	must(t, os.Remove(filepath.Join(dir, "a"))) // by hand: found out when the quota is met
	f = again()
	write(f, "b", 900, "")
	must(t, f.Close())
	must(t, os.WriteFile(kept, []byte("{"), 0o600))
	f = again() // what cannot be read counts as nothing
	write(f, "c", 900, "")
	must(t, f.Close())
}

func TestSparseFileIsNotRead(t *testing.T) {
	f, dir := open(t, files.Options{})
	put(t, filepath.Join(dir, "sparse"), "")
	must(t, os.Truncate(filepath.Join(dir, "sparse"), 1<<40))
	if _, err := f.Read("sparse"); tool.CodeOf(err) != tool.QuotaExceeded {
		t.Errorf("%v", err)
	}
}

func TestAMillionFilesEndAtTheQuota(t *testing.T) {
	f, dir := open(t, files.Options{MaxFiles: 300, MaxList: 200})
	var err error
	made := 0
	for ; err == nil && made < 1_000_000; made++ {
		_, err = f.Write(fmt.Sprintf("d/%d", made), nil)
	}
	if tool.CodeOf(err) != tool.QuotaExceeded || made != 300 {
		t.Errorf("%d files, then %v", made, err)
	}
	for i := range 201 {
		put(t, filepath.Join(dir, "many", fmt.Sprint(i)), "")
	}
	if _, err := f.List("many", false); tool.CodeOf(err) != tool.QuotaExceeded {
		t.Errorf("a listing without bound: %v", err)
	}
}

func TestRoomsOwnDataIsInvisible(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "workspace")
	data := filepath.Join(dir, "state", "room")
	put(t, filepath.Join(data, "key"), "k")
	put(t, data+"-wal", "k")
	put(t, filepath.Join(dir, "state", "roommate.txt"), "x")
	must(t, os.Symlink("state/room", filepath.Join(dir, "link")))
	f, err := files.Open(dir, files.Options{Hidden: []string{data}})
	must(t, err)
	defer f.Close()
	for _, p := range []string{"state/room", "state/room/key", "state/room-wal", "state/ROOM/key", "link", "link/key"} {
		if _, err := f.Read(p); tool.CodeOf(err) != tool.NotAFile || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s: %v", p, err)
		}
		if _, err := f.Write(p, nil); tool.CodeOf(err) != tool.PathDenied {
			t.Errorf("writing %s: %v", p, err)
		}
	}
	if err := f.Remove("state", true); tool.CodeOf(err) != tool.PathDenied {
		t.Errorf("removing around it: %v", err)
	}
	list, err := f.List(".", true)
	if err != nil || len(list) != 2 || list[1].Path != "state/roommate.txt" {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := files.Open(dir, files.Options{Hidden: []string{dir}}); tool.CodeOf(err) != tool.InvalidArguments {
		t.Errorf("data and workspace in one folder: %v", err)
	}
}

func TestSecretLikeFilesAreHidden(t *testing.T) {
	hidden := []string{".env", ".ENV", ".env.local", "app/.env.production", "prod.env", ".git/config", ".ssh/id_rsa", "id_ed25519", "server.pem", "tls/server.key", ".npmrc", ".aws/credentials", ".netrc"}
	f, dir := open(t, files.Options{Show: []string{"certs/*.pem", ".npmrc"}})
	for _, p := range append(hidden, ".env.example", "certs/ca.pem", "environment.txt", "key.txt") {
		put(t, filepath.Join(dir, p), "x")
	}
	must(t, os.Symlink(".env", filepath.Join(dir, "innocent.txt")))
	for _, p := range append(hidden, "innocent.txt") {
		if p != ".npmrc" {
			every(t, f, p, tool.PathDenied)
		}
	}
	for _, p := range []string{".env.example", "certs/ca.pem", "environment.txt", "key.txt", ".npmrc"} {
		if _, err := f.Read(p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	list, err := f.List(".", true)
	must(t, err)
	if len(list) != 8 { // app, tls, certs, certs/ca.pem and the four files above
		t.Errorf("%d: %+v", len(list), list)
	}
}

func TestReadWriteAppendListRemove(t *testing.T) {
	f, dir := open(t, files.Options{})
	size, err := f.Write("notes/a.txt", []byte("één\n"))
	if err != nil || size != 6 {
		t.Fatalf("%d %v", size, err)
	}
	if size, err = f.Append("notes/a.txt", []byte("two\n")); err != nil || size != 10 {
		t.Errorf("%d %v", size, err)
	}
	if size, err = f.Append("notes/new.txt", []byte("n")); err != nil || size != 1 {
		t.Errorf("%d %v", size, err)
	}
	if b, err := f.Read("notes/a.txt"); err != nil || string(b) != "één\ntwo\n" {
		t.Errorf("%q %v", b, err)
	}
	e, err := f.Stat("notes/a.txt")
	if err != nil || e.Name != "a.txt" || e.Path != "notes/a.txt" || e.Type != "file" || e.Size != 10 || e.Modified.IsZero() {
		t.Errorf("%+v %v", e, err)
	}
	if e, err = f.Stat("."); err != nil || e.Type != "dir" || e.Path != "." {
		t.Errorf("%+v %v", e, err)
	}
	must(t, f.Mkdir("x/y/z"))
	must(t, f.Mkdir("x/y/z"))
	if err := f.Mkdir("notes/a.txt"); tool.CodeOf(err) != tool.NotAFile {
		t.Errorf("%v", err)
	}
	list, err := f.List(".", true)
	var paths []string
	for _, e := range list {
		paths = append(paths, e.Path)
	}
	if got := strings.Join(paths, " "); err != nil || got != "notes notes/a.txt notes/new.txt x x/y x/y/z" {
		t.Errorf("%s %v", got, err)
	}
	if list, err = f.List("notes", false); err != nil || len(list) != 2 {
		t.Errorf("%+v %v", list, err)
	}
	if err := f.Remove("x", false); tool.CodeOf(err) != tool.PathDenied || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("%v", err)
	}
	must(t, f.Remove("x", true))
	must(t, f.Remove("notes/a.txt", false))
	if err := f.Remove("notes/a.txt", false); tool.CodeOf(err) != tool.NotAFile {
		t.Errorf("%v", err)
	}
	if err := f.Remove(".", true); tool.CodeOf(err) != tool.PathDenied {
		t.Errorf("%v", err)
	}
	if _, err := f.Write("notes", nil); tool.CodeOf(err) != tool.NotAFile {
		t.Errorf("over a folder: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

// TestWritesAreWhole reads a file that is being rewritten: old or new, never in between.
func TestWritesAreWhole(t *testing.T) {
	f, _ := open(t, files.Options{})
	const size = 200_000
	var writing sync.WaitGroup
	for _, c := range []string{"a", "b", "c"} {
		writing.Go(func() {
			for range 30 {
				if _, err := f.Write("f", []byte(strings.Repeat(c, size))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		b, err := f.Read("f")
		if err != nil && tool.CodeOf(err) != tool.NotAFile { // it may not be there yet
			t.Error(err)
		}
		if err == nil && (len(b) != size || strings.Count(string(b), string(b[:1])) != size) {
			t.Errorf("read %d bytes of two contents", len(b))
		}
	}
	writing.Wait()
}

// FuzzPaths looks for a path that leads out of the folder or breaks the walk.
func FuzzPaths(f *testing.F) {
	for _, s := range []string{"a", "../x", "link/x", "in/../..", "/etc/passwd", "a\x00", "loop/x", "in//up/..", ".env", "in/up/outside"} {
		f.Add(s)
	}
	dir := filepath.Join(f.TempDir(), "workspace")
	outside := filepath.Join(dir, "..", "outside")
	for _, d := range []string{filepath.Join(dir, "in"), outside} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			f.Fatal(err)
		}
	}
	for name, target := range map[string]string{"link": outside, "loop": "loop", "in/up": "../.."} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			f.Fatal(err)
		}
	}
	folder, err := files.Open(dir, files.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer folder.Close()
	f.Fuzz(func(t *testing.T, p string) {
		if _, err := folder.Write(p, []byte("x")); err != nil && !tool.CodeOf(err).Capability() {
			t.Fatalf("%q: %v", p, err)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
			t.Fatalf("%q wrote outside: %v %v", p, left, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "..", "x")); err == nil {
			t.Fatalf("%q wrote outside", p)
		}
	})
}
