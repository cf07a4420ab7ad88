package toolroom_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolroom"
	"toolroom/tool"
)

// onlyWhole leaves out a table of hundreds of calls with -short, which is how the race
// detector runs: it makes each call forty times as long.
func onlyWhole(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("hundreds of calls: not with -short")
	}
}

// hands is what a test lets bodies do: a room's workspace and a definition's rest.
type hands struct {
	w   *toolroom.Workspace
	def tool.Definition
}

func (h hands) run(t *testing.T, body string, args any) (tool.Outcome, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	d := h.def
	d.Body = body
	return h.w.Run(t.Context(), d, raw)
}

// gets runs a body and holds its result, or the code of its failure, against want.
func (h hands) gets(t *testing.T, want, body string, args any) {
	t.Helper()
	out, err := h.run(t, body, args)
	wants(t, out, err, want)
}

// refused evaluates an expression twice: an error that the body lets through keeps
// its code, and one that it catches says the code, a name and a message to it.
func (h hands) refused(t *testing.T, code tool.Code, expression string, args any) {
	t.Helper()
	began := time.Now()
	_, err := h.run(t, "const p = args; return await ("+expression+")", args)
	if tool.CodeOf(err) != code {
		t.Errorf("%s of %v: %v, want %s", expression, args, err, code)
		return
	}
	if e := tool.AsError(err); e.Message == "" || strings.Contains(e.Message, "undefined") {
		t.Errorf("%s of %v: the message says %q", expression, args, e.Message)
	}
	out, err := h.run(t, "const p = args; try { await ("+expression+") } catch (e) { return [e.code, e instanceof Error, typeof e.message, e.name.endsWith('Error')] }; return 'went through'", args)
	wants(t, out, err, fmt.Sprintf(`[%q,true,"string",true]`, code))
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%s of %v: refused after %s", expression, args, took)
	}
}

// filesAt is a workspace with a folder, whose bodies may do everything with its files.
func filesAt(t *testing.T, opts toolroom.Options) (h hands, root string) {
	t.Helper()
	return filesOf(t, room(t, opts), t.TempDir())
}

func filesOf(t *testing.T, r *toolroom.Room, root string) (hands, string) {
	t.Helper()
	w, err := r.Workspace(tool.Principal{Place: tool.Place{Tenant: "t", Workspace: "w"}, Kind: tool.User, ID: "u"}, root)
	if err != nil {
		t.Fatal(err)
	}
	return hands{w, tool.Definition{Scope: tool.ScopeWorkspace}}, root
}

func put(t *testing.T, parts ...string) string {
	t.Helper()
	file := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("content of "+filepath.Base(file)), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// everyAccess are the ways in which a body names a path.
var everyAccess = []string{"ctx.readText(p)", "ctx.readBytes(p)", "ctx.writeText(p, 'x')", "ctx.writeBytes(p, new Uint8Array(1))", "ctx.appendText(p, 'x')",
	"ctx.stat(p)", "ctx.listFiles(p)", "ctx.listFiles(p, {recursive: true})", "ctx.remove(p)", "ctx.mkdir(p)", "fs.readFile(p)", "fs.writeFile(p, 'x')", "fs.list(p)"}

func TestHostilePathsFromBodies(t *testing.T) {
	onlyWhole(t)
	h, _ := filesAt(t, toolroom.Options{})
	for _, p := range []string{"..", "../x", "a/../../x", "a/../b", "/etc/passwd", "/", "a\x00b", "", strings.Repeat("a/", 3000) + "x", strings.Repeat("n", 300), `..\x`, "a\nb"} {
		for _, access := range everyAccess {
			h.refused(t, tool.PathDenied, access, p)
		}
	}
	for _, access := range []string{"ctx.readText(1)", "ctx.readText()", "fs.writeFile({}, 'x')"} {
		h.refused2(t, "call_failed", access)
	}
}

// refused2 is for misuse, which is the body's own failure.
func (h hands) refused2(t *testing.T, want, expression string) {
	t.Helper()
	h.gets(t, want, "return await ("+expression+")", nil)
}

func TestHostileLinksFromBodies(t *testing.T) {
	onlyWhole(t)
	h, root := filesAt(t, toolroom.Options{})
	outside := t.TempDir()
	put(t, outside, "theirs")
	for name, target := range map[string]string{"out": filepath.Join(outside, "theirs"), "dir": outside, "dangling": filepath.Join(outside, "absent"), "loop": "loop", "up": "../theirs", "nowhere": "absent"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"out", "dangling", "loop", "up", "dir", "dir/theirs", "dir/new", "nowhere"} {
		for _, access := range everyAccess {
			h.refused(t, tool.PathDenied, access, p)
		}
	}
	if err := os.Link(put(t, outside, "linked"), filepath.Join(root, "hard")); err != nil {
		t.Skipf("hard links cannot be made here: %v", err)
	}
	for _, access := range []string{"ctx.readText(p)", "ctx.readBytes(p)", "ctx.writeText(p, 'x')", "ctx.appendText(p, 'x')"} {
		h.refused(t, tool.PathDenied, access, "hard")
	}
	h.gets(t, "[]", "return (await ctx.listFiles()).filter(f => f.name !== 'hard').map(f => f.name)", nil)
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder outside has %d entries, want 2: %v", len(entries), err)
	}
	for _, name := range []string{"theirs", "linked"} {
		if b, _ := os.ReadFile(filepath.Join(outside, name)); string(b) != "content of "+name {
			t.Errorf("%s outside was changed: %q", name, b)
		}
	}
}

func TestWhatIsNoFileFromBodies(t *testing.T) {
	h, root := filesAt(t, toolroom.Options{})
	if err := mkfifo(filepath.Join(root, "fifo")); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this system has no named pipes in folders")
	} else if err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "s") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	l, err := net.Listen("unix", filepath.Join(short, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Rename(filepath.Join(short, "s"), filepath.Join(root, "socket")); err != nil {
		t.Skipf("the socket cannot be moved into the workspace: %v", err)
	}
	for name, target := range map[string]string{"null": "/dev/null", "environ": "/proc/self/environ", "root": "/proc/self/root/etc/passwd", "fd": "/dev/fd/0", "stdin": "/dev/stdin"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, root, "folder", "file")
	for _, p := range []string{"fifo", "socket", "null", "environ", "root", "fd", "stdin", "folder"} {
		for _, access := range []string{"ctx.readText(p)", "ctx.readBytes(p)", "ctx.writeText(p, 'x')", "ctx.appendText(p, 'x')"} {
			h.refused(t, tool.NotAFile, access, p)
		}
	}
	for _, p := range []string{"absent", "absent/file", "folder/file/deeper"} {
		h.refused(t, tool.NotAFile, "ctx.readText(p)", p)
	}
}

func TestQuotaFromBodies(t *testing.T) {
	onlyWhole(t)
	h, root := filesAt(t, toolroom.Options{})
	sparse, err := os.Create(filepath.Join(root, "sparse"))
	if err == nil {
		err = sparse.Truncate(1 << 40)
	}
	if err != nil || sparse.Close() != nil {
		t.Skipf("there are no sparse files here: %v", err)
	}
	h.refused(t, tool.QuotaExceeded, "ctx.readText(p)", "sparse")
	h.refused(t, tool.QuotaExceeded, "ctx.readBytes(p)", "sparse")
	h.gets(t, "rate_limited", "for (let i = 0; i < 1e6; i++) await ctx.writeText('n/' + i, '')", nil)
}

func TestRoomsDataInsideTheWorkspaceFromBodies(t *testing.T) {
	root := t.TempDir()
	r := room(t, toolroom.Options{Data: filepath.Join(root, "Data")})
	h, _ := filesOf(t, r, root)
	for _, access := range []string{"ctx.readText('Data/room.db')", "ctx.readText('data/../Data/room.db')", "ctx.readText('DATA/room.db')"} {
		out, err := h.run(t, "return await "+access, nil)
		if code := tool.CodeOf(err); code != tool.NotAFile && code != tool.PathDenied {
			t.Errorf("%s: %s %v", access, out.Value, err)
		}
	}
	for _, access := range []string{"ctx.writeText(p, 'x')", "ctx.mkdir(p)"} {
		h.refused(t, tool.PathDenied, access, "Data/room.db")
	}
	h.refused(t, tool.NotAFile, "ctx.readText(p)", "Data/room.db")
	h.refused(t, tool.NotAFile, "ctx.listFiles(p)", "Data")
	h.refused(t, tool.NotAFile, "ctx.stat(p)", "Data")
	h.gets(t, "[]", "return await ctx.listFiles('.', {recursive: true})", nil)
}

func TestSecretLikeFilesFromBodies(t *testing.T) {
	h, root := filesAt(t, toolroom.Options{ExposeSecretFiles: []string{"*.pem", "config/.env"}})
	for _, name := range []string{".env", ".env.local", "a/.env", "id_rsa", ".git/config", "shown.pem", "config/.env"} {
		put(t, root, name)
	}
	for _, p := range []string{".env", ".ENV", ".env.local", "a/.env", "id_rsa", ".git/config"} {
		h.refused(t, tool.PathDenied, "ctx.readText(p)", p)
		h.refused(t, tool.PathDenied, "ctx.writeText(p, 'x')", p)
	}
	h.gets(t, `"content of shown.pem"`, "return await ctx.readText('shown.pem')", nil)
	h.gets(t, `"content of .env"`, "return await ctx.readText('config/.env')", nil)
	h.gets(t, `["a","config","config/.env","shown.pem"]`, "return (await ctx.listFiles('.', {recursive: true})).map(f => f.path)", nil)
	if _, err := toolroom.Open(t.Context(), toolroom.Options{Data: t.TempDir(), ExposeSecretFiles: []string{"[", ""}}); tool.CodeOf(err) != tool.InvalidArguments {
		t.Errorf("a pattern that is none: %v", err)
	}
}

// TestEveryNameForFiles uses each name of the contract's table once.
func TestEveryNameForFiles(t *testing.T) {
	h, root := filesAt(t, toolroom.Options{})
	for body, want := range map[string]string{
		"await ctx.writeText('a/b.txt', 'é\\ud800'); await ctx.appendText('a/b.txt', '!'); return await ctx.readText('a/b.txt')":                                "\"é\ufffd!\"",
		"await ctx.writeBytes('bytes', new Uint8Array([0, 255])); return [...await ctx.readBytes('bytes')]":                                                     "[0,255]",
		"await ctx.mkdir('x/y'); await fs.writeFile('x/z', 'z'); return (await ctx.listFiles('x')).map(f => [f.name, f.path, f.type])":                          `[["y","x/y","dir"],["z","x/z","file"]]`,
		"await fs.writeFile('s', '12345'); const s = await ctx.stat('s'); return [s.name, s.type, s.size, Math.abs(Date.now() - new Date(s.modified)) < 60000]": `["s","file",5,true]`,
		"await ctx.writeText('gone', ''); await ctx.remove('gone'); try { await ctx.stat('gone') } catch (e) { return e.code }":                                 `"not_a_file"`,
		"await fs.writeFile('u', new Uint8Array([104, 105])); return [await fs.readFile('u'), (await fs.readFile('u', null)).length]":                           `["hi",2]`,
		"await ctx.writeText('t/deep/f', ''); await ctx.remove('t', {recursive: true}); return (await fs.list('.')).some(f => f.name === 't')":                  "false",
	} {
		h.gets(t, want, body, nil)
	}
	if b, err := os.ReadFile(filepath.Join(root, "a", "b.txt")); err != nil || string(b) != "é\ufffd!" {
		t.Errorf("the file holds %q: %v", b, err)
	}
	h.def.Grant.Files = tool.ReadFiles
	for _, access := range []string{"ctx.writeText(p, '')", "ctx.appendText(p, '')", "ctx.mkdir(p)", "ctx.remove(p)", "fs.writeFile(p, '')"} {
		h.refused(t, tool.CapabilityDenied, access, "bytes")
	}
	h.gets(t, "2", "return (await ctx.stat('bytes')).size", nil)
	h.def = tool.Definition{}
	for _, access := range everyAccess {
		h.refused(t, tool.CapabilityDenied, access, "bytes")
	}
}
