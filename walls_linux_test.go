package toolroom_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"

	"toolroom"
	"toolroom/internal/builtin"
	"toolroom/internal/sandbox"
	"toolroom/tool"
)

// deaf never polls for the interrupt, so that only ending its process ends it.
const deaf = "return Array.prototype.indexOf.call({length: 2**53-1}, 1)"

// processes lists the processes whose command line begins with what and whose parent is parent; 0 is any.
func processes(what string, parent int) (found []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		text, err := os.ReadFile(path)
		stat, statErr := os.ReadFile(filepath.Dir(path) + "/stat")
		if err != nil || statErr != nil || !strings.HasPrefix(strings.ReplaceAll(string(text), "\x00", " "), what) {
			continue
		}
		after := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && (parent == 0 || after[1] == strconv.Itoa(parent)) {
			found = append(found, pid)
		}
	}
	return found
}

func workers() []int { return processes(sandbox.Marker+" ", os.Getpid()) }

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("it did not come to be that %s", what)
}

func TestAKilledVersionIsToldSoAndStaysAloneAfterARestart(t *testing.T) {
	dir := t.TempDir()
	r := room(t, toolroom.Options{Data: dir})
	w := view(t, r, tool.Model, "w")
	define(t, w, "deaf", deaf, func(d *tool.Definition) { d.Limits.TimeoutMS = 200 })
	solo := func(w *toolroom.Workspace) bool {
		out, err := builtin.Invoke(t.Context(), w, "read_tool", json.RawMessage(`{"name":"deaf"}`))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(out.Value), `"solo":true`) || strings.Contains(string(out.Value), "alone")
	}
	if solo(w) {
		t.Error("it is said to run alone before it was killed")
	}
	out, err := w.Call(t.Context(), "deaf", nil)
	wants(t, out, err, "timeout")
	if !solo(w) {
		t.Error("read_tool does not say that the version runs alone")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	w = view(t, room(t, toolroom.Options{Data: dir}), tool.Model, "w")
	if !solo(w) {
		t.Error("that the version runs alone was forgotten")
	}
	define(t, w, "slow", "await new Promise(r => setTimeout(r, 1500)); return 'slow'")
	var calls sync.WaitGroup
	began := time.Now()
	calls.Go(func() {
		out, err := w.Call(context.Background(), "slow", nil)
		wants(t, out, err, `"slow"`)
		if out.Usage.Wall > 3*time.Second || time.Since(began) > 10*time.Second {
			t.Errorf("it took %v: it was caught in a kill", time.Since(began))
		}
	})
	time.Sleep(200 * time.Millisecond)
	out, err = w.Call(t.Context(), "deaf", nil)
	wants(t, out, err, "timeout")
	calls.Wait()
}

func TestRateLimit(t *testing.T) {
	r := room(t, toolroom.Options{Rate: 2})
	w := view(t, r, tool.User, "w")
	define(t, w, "one", "return 1")
	var last error
	for range 20 {
		if _, last = w.Call(t.Context(), "one", nil); last != nil {
			break
		}
	}
	e := tool.AsError(last)
	details, err := json.Marshal(e.Details)
	if e.Code != tool.RateLimited || !e.Retryable || e.Hint == "" || err != nil || !strings.Contains(string(details), "retry_after_ms") {
		t.Errorf("too many calls end with %+v %s", e, details)
	}
	other := view(t, r, tool.User, "elsewhere")
	out, err := other.Run(t.Context(), tool.Definition{Body: "return 2"}, nil)
	wants(t, out, err, "2")
}

// TestACrashLoop kills a workspace's process again and again: it is held back, alone, and recovers.
func TestACrashLoop(t *testing.T) {
	r := room(t, toolroom.Options{})
	running := make(chan struct{}, 1)
	w := view(t, r, tool.User, "w").View(toolroom.Hooks{Log: func(tool.LogLine) { running <- struct{}{} }})
	other := view(t, r, tool.User, "other")
	define(t, w, "wait", "console.log('running'); for (let i = 0; i < 100; i++) await new Promise(r => setTimeout(r, 100)); return 1")
	define(t, w, "one", "return 1")
	define(t, other, "one", "return 1")
	var codes []tool.Code
	for range 8 {
		spared := workers()
		ended := make(chan error, 1)
		go func() {
			_, err := w.Call(context.Background(), "wait", nil)
			ended <- err
		}()
		select {
		case <-running:
		case err := <-ended: // held back, or its process could not be started
			ended <- err
		}
		began := time.Now()
		for _, pid := range spared {
			_ = unix.Kill(pid, unix.SIGKILL) // spares and idle ones as well
		}
		for _, pid := range workers() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		codes = append(codes, tool.CodeOf(<-ended))
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("a call learned after %v that its process was killed", took)
		}
		if codes[len(codes)-1] == tool.Unhealthy {
			break
		}
	}
	if !slices.Contains(codes, tool.WorkerCrashed) || codes[len(codes)-1] != tool.Unhealthy {
		t.Errorf("the calls ended with %v", codes)
	}
	out, err := other.Call(t.Context(), "one", nil)
	wants(t, out, err, "1")
	eventually(t, "the workspace is healthy again", func() bool { _, err := w.Call(t.Context(), "one", nil); return err == nil })
}

func TestEachCallHasAProcessOfItsOwn(t *testing.T) {
	w := view(t, room(t, toolroom.Options{Isolation: toolroom.PerProcess}), tool.User, "w")
	seen := make(map[int]bool)
	for range 4 {
		before := workers()
		out, err := w.Run(t.Context(), tool.Definition{Body: "return 1"}, nil)
		wants(t, out, err, "1")
		eventually(t, "the process of the call has ended", func() bool {
			now := workers()
			return slices.ContainsFunc(before, func(pid int) bool { return !slices.Contains(now, pid) })
		})
		for _, pid := range before {
			seen[pid] = true
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %d processes were there for four calls and two spares", len(seen))
	}
}

// TestTheRoomsMemoryDoesNotGrow has bodies make a gigabyte of everything that comes back.
func TestTheRoomsMemoryDoesNotGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("gigabytes take a while: left out with -short")
	}
	w := view(t, room(t, toolroom.Options{MemoryMB: 1024, Timeout: 20 * time.Second}), tool.User, "w")
	define(t, w, "callee", "return 1")
	const mega = "const m = 'x'.repeat(1 << 20);"
	run := func(body string) error {
		_, err := w.Run(t.Context(), tool.Definition{Body: body}, nil)
		return err
	}
	if err := run("return 1"); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	before := peak(t)
	for name, c := range map[string]struct {
		body string
		code tool.Code
	}{
		"a result of a gigabyte, in pieces": {mega + "return Array(1024).fill(m)", tool.ResultTooLarge},
		"a result of one long string":       {"return 'x'.repeat(2e8)", tool.ResultTooLarge},
		"a log of a gigabyte":               {mega + "for (let i = 0; i < 1024; i++) console.log(m); return 1", ""},
		"a log line that is long":           {"console.log('x'.repeat(2e8)); return 1", ""},
		"arguments without an end":          {mega + "try { await ctx.callTool('callee', {a: Array(200).fill(m)}) } catch (e) { throw new Error('refused') }", tool.CallFailed},
		"an error that is long":             {"throw new Error('x'.repeat(2e8))", tool.CallFailed},
		"progress that is long":             {"ctx.progress(1, 2, 'x'.repeat(2e8)); return 1", ""},
	} {
		began := time.Now()
		if err := run(c.body); tool.CodeOf(err) != c.code && tool.CodeOf(err) != tool.MemoryExceeded {
			t.Errorf("%s ended with %v, want %q", name, err, c.code)
		}
		t.Logf("%s: %v", name, time.Since(began).Round(time.Millisecond))
	}
	if grown := peak(t) - before; grown > 64<<10 {
		t.Errorf("the room's resident memory peaked %d MiB higher", grown>>10)
	}
}

// peak is the most memory that this process ever had resident, in KiB.
func peak(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib
}

// Roles of this test binary as another process.
const (
	roleVariable = "TOOLROOM_TEST_ROLE"
	roleVictim   = "victim"  // a room with a daemonising command, to be killed
	roleWithout  = "without" // a room on a machine without a layer
)

// role makes the process what the variable says, if it says so.
func role() {
	what, rest, _ := strings.Cut(os.Getenv(roleVariable), " ")
	var err error
	switch what {
	case roleVictim:
		err = victim(rest)
	case roleWithout:
		err = without(rest)
	default:
		return
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

func as(t *testing.T, role, rest string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"="+role+" "+rest)
	return cmd
}

// victim has a command fork twice into sessions of its own, and waits to be killed.
func victim(dir string) error {
	r, err := toolroom.Open(context.Background(), toolroom.Options{Data: filepath.Join(dir, "data"), Exec: []string{"sh"}})
	if err != nil {
		return err
	}
	w, err := r.Workspace(tool.Principal{Place: tool.Place{Tenant: "t", Workspace: "w"}, Kind: tool.User, ID: "u"}, filepath.Join(dir, "folder"))
	if err != nil {
		return err
	}
	script := `sleep 4712.1 & setsid sleep 4712.1 & (setsid sh -c 'sleep 4712.1 & sleep 4712.1' &) ; touch started; wait`
	body := fmt.Sprintf("return await ctx.exec('sh', ['-c', %q])", script)
	_, err = w.Run(context.Background(), tool.Definition{Body: body, Scope: tool.ScopeWorkspace, Grant: tool.Grant{Exec: []string{"sh"}}}, nil)
	return err
}

func TestNothingIsLeftOfARoomThatIsKilled(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := as(t, roleVictim, dir)
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	cmd.Stdout = os.Stderr // why it failed, if it did
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command runs", func() bool { _, err := os.Stat(filepath.Join(folder, "started")); return err == nil })
	eventually(t, "its daemons run", func() bool { return len(processes("sleep 4712.1", 0)) == 4 })
	children := processes("toolroom-", cmd.Process.Pid)
	if len(children) < 2 {
		t.Fatalf("the room has only %d processes", len(children))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	eventually(t, "nothing of it runs", func() bool {
		running := processes("sleep 4712.1", 0)
		for _, pid := range processes("toolroom-", 0) {
			if slices.Contains(children, pid) {
				running = append(running, pid)
			}
		}
		return len(running) == 0
	})
	eventually(t, "no temporary file is left", func() bool { left, err := os.ReadDir(temp); return err == nil && len(left) == 0 })
	again := room(t, toolroom.Options{Data: filepath.Join(dir, "data")}) // nothing of the dead one is in the way
	out, err := view(t, again, tool.User, "w").Run(t.Context(), tool.Definition{Body: "return 1"}, nil)
	wants(t, out, err, "1")
}

// without takes a system call away, as a kernel that never had it, and opens two rooms: one
// that requires the sandbox, and one that goes without what is missing.
func without(call string) error {
	filter := seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{call}}}}}
	if err := seccomp.LoadFilter(filter); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "room")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, l := range toolroom.Layers() {
		if l.Required && !l.Stands {
			fmt.Println("missing", l.Name)
		}
	}
	if _, err := toolroom.Open(context.Background(), toolroom.Options{Data: dir, RequireSandbox: true}); err != nil {
		fmt.Println("required:", tool.CodeOf(err), err)
	}
	r, err := toolroom.Open(context.Background(), toolroom.Options{Data: dir})
	if err != nil {
		return err
	}
	w, err := r.Workspace(tool.Principal{Place: tool.Place{Tenant: "t", Workspace: "w"}, Kind: tool.User, ID: "u"}, "")
	if err != nil {
		return err
	}
	out, err := w.Run(context.Background(), tool.Definition{Body: "return 'went without'"}, nil)
	fmt.Println(string(out.Value), err)
	return r.Close()
}

func TestAMissingLayer(t *testing.T) {
	for call, layer := range map[string]string{"landlock_create_ruleset": "landlock", "seccomp": "seccomp"} {
		out, err := as(t, roleWithout, call).CombinedOutput()
		text := string(out)
		for _, want := range []string{"missing " + layer + "\n", "required: stopped", strconv.Quote(layer), `"went without" <nil>`} {
			if err != nil || !strings.Contains(text, want) {
				t.Errorf("without %s: %v, no %q in\n%s", call, err, want, text)
			}
		}
	}
}

// TestOpenThatIsGivenUp ends Open at any of its stages: nothing is left that a later one would meet.
func TestOpenThatIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*i)*time.Millisecond)
		r, err := toolroom.Open(ctx, toolroom.Options{Data: dir})
		cancel()
		if err == nil {
			err = r.Close()
		}
		if code := tool.CodeOf(err); err != nil && code != tool.Timeout && code != tool.Stopped && code != tool.StorageFailed && code != tool.Cancelled {
			t.Errorf("given up after %d ms: %v", i*i, err)
		}
		if left := workers(); len(left) > 0 {
			t.Errorf("given up after %d ms, it left the processes %v", i*i, left)
		}
	}
	for range 3 {
		r := room(t, toolroom.Options{Data: dir})
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	if left := workers(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}
