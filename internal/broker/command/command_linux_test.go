package command_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"toolroom/internal/broker/command"
	"toolroom/tool"
)

func TestMain(m *testing.M) {
	command.Main()
	goleak.VerifyTestMain(m)
}

func set(t *testing.T, names ...string) *command.Set {
	t.Helper()
	s, err := command.NewSet(names)
	if tool.CodeOf(err) == tool.InvalidArguments && strings.Contains(err.Error(), "cannot confine") {
		t.Skip(err)
	}
	must(t, err)
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sh runs a script in a workspace of its own.
func sh(t *testing.T, script string) (command.Result, string, error) {
	t.Helper()
	root := t.TempDir()
	r, err := set(t, "sh").Run(t.Context(), command.Run{Name: "sh", Args: []string{"-c", script}, Root: root, Write: true, Timeout: time.Minute})
	return r, root, err
}

func TestRuns(t *testing.T) {
	root := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, "sub"), 0o755))
	r, err := set(t, "sh").Run(t.Context(), command.Run{Name: "sh", Args: []string{"-c", `cat; echo "$1" >&2; pwd; exit 3`, "sh", "a b; $(x)"}, Root: root, Dir: "sub", Input: []byte("in\n")})
	if err != nil || r.ExitCode != 3 || string(r.Stdout) != "in\n"+root+"/sub\n" || string(r.Stderr) != "a b; $(x)\n" || r.Truncated {
		t.Errorf("%d %q %q %v", r.ExitCode, r.Stdout, r.Stderr, err)
	}
}

func TestOnlyNamedCommands(t *testing.T) {
	s := set(t, "true")
	for _, name := range []string{"", "sh", "/bin/true", "./true", "true ", "TRUE", "../bin/true", "true;id"} {
		if _, err := s.Run(t.Context(), command.Run{Name: name}); tool.CodeOf(err) != tool.ExecDenied {
			t.Errorf("%q: %v", name, err)
		}
	}
	none, err := command.NewSet(nil)
	must(t, err)
	if _, err := none.Run(t.Context(), command.Run{Name: "true"}); tool.CodeOf(err) != tool.ExecDenied {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "no-such-command-here", "/bin/true", "bin/true"} {
		if _, err := command.NewSet([]string{bad}); tool.CodeOf(err) != tool.InvalidArguments {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestEnvironmentIsMinimal(t *testing.T) {
	t.Setenv("TOOLROOM_TEST_SECRET", "s")
	r, _, err := sh(t, "export; ls -l /proc/self/fd | wc -l")
	if err != nil || strings.Contains(string(r.Stdout), "TOOLROOM") || strings.Count(string(r.Stdout), "export ") > 7 {
		t.Errorf("%q %q %v", r.Stdout, r.Stderr, err)
	}
}

func TestConfinedToTheWorkspace(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("secret"), 0o644))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	docker, err := net.Listen("unix", filepath.Join(t.TempDir(), "sock"))
	must(t, err)
	defer docker.Close()
	for what, script := range map[string]string{
		"reading outside": "cat " + outside, "writing outside": "echo x > " + outside, "making outside": "mkdir " + outside + "2", "removing outside": "rm " + outside,
		"listing outside": "ls " + filepath.Dir(outside), "shadow": "cat /etc/shadow", "room's environment": fmt.Sprintf("cat /proc/%d/environ", os.Getpid()),
		"killing the room": fmt.Sprintf("kill -9 %d", os.Getppid()), "killing what watches": "kill -9 $PPID", "mounting": "mount -t tmpfs x .",
		"a link out": "ln -s " + outside + " l && cat l", "the file system": "ls /",
	} {
		r, _, err := sh(t, script)
		if err != nil || r.ExitCode == 0 || len(r.Stdout) > 0 {
			t.Errorf("%s: exit %d, %q %q, %v", what, r.ExitCode, r.Stdout, r.Stderr, err)
		}
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "secret" {
		t.Errorf("outside is %q, %v", b, err)
	}
	r, root, err := sh(t, "mkdir d && echo x > d/f && mv d/f g && ln -s g h && cat h && echo y > $TMPDIR/t && cat $TMPDIR/t")
	if err != nil || string(r.Stdout) != "x\ny\n" {
		t.Errorf("%q %q %v", r.Stdout, r.Stderr, err)
	}
	if b, err := os.ReadFile(filepath.Join(root, "g")); err != nil || string(b) != "x\n" {
		t.Errorf("%q %v", b, err)
	}
}

func TestNoSockets(t *testing.T) {
	if _, err := command.NewSet([]string{"python3"}); err != nil {
		t.Skipf("this test wants python3: %v", err)
	}
	for _, family := range []string{"AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"} {
		for _, kind := range []string{"SOCK_STREAM", "SOCK_DGRAM"} {
			r, err := set(t, "python3").Run(t.Context(), command.Run{Name: "python3", Args: []string{"-c", "import socket as s\ns.socket(s." + family + ", s." + kind + ")"}})
			if err != nil || r.ExitCode == 0 || !strings.Contains(string(r.Stderr), "Permission denied") {
				t.Errorf("%s %s: %d %q %v", family, kind, r.ExitCode, r.Stderr, err)
			}
		}
	}
}

func TestReadOnlyAndNoWorkspace(t *testing.T) {
	root := t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, "f"), []byte("x"), 0o644))
	s := set(t, "sh")
	r, err := s.Run(t.Context(), command.Run{Name: "sh", Args: []string{"-c", "cat f; echo y > f || echo y > g"}, Root: root})
	if err != nil || r.ExitCode == 0 || string(r.Stdout) != "x" {
		t.Errorf("%d %q %q %v", r.ExitCode, r.Stdout, r.Stderr, err)
	}
	r, err = s.Run(t.Context(), command.Run{Name: "sh", Args: []string{"-c", "cat " + root + "/f"}})
	if err != nil || r.ExitCode == 0 || len(r.Stdout) > 0 {
		t.Errorf("%d %q %q %v", r.ExitCode, r.Stdout, r.Stderr, err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	r, _, err := sh(t, "head -c 3000000 /dev/zero; echo end >&2")
	if err != nil || len(r.Stdout) != 1<<20 || !r.Truncated || string(r.Stderr) != "end\n" {
		t.Errorf("%d bytes, %v, %q, %v", len(r.Stdout), r.Truncated, r.Stderr, err)
	}
}

// running counts the processes whose command line has mark in it.
func running(mark string) (n int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), mark) {
			n++
		}
	}
	return n
}

func gone(t *testing.T, mark string) {
	t.Helper()
	for range 200 {
		if running(mark) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d processes are left", running(mark))
}

// tree starts children of every kind: in the background, in a session of their
// own, twice forked, deaf to signals.
const tree = `sleep %[1]s & setsid sleep %[1]s & (setsid sh -c 'sleep %[1]s & sleep %[1]s' &) ; (trap '' TERM INT HUP; sleep %[1]s) & `

func TestNothingIsLeftWhenItEnds(t *testing.T) {
	_, _, err := sh(t, fmt.Sprintf(tree+"exit 0", "4711.1"))
	must(t, err)
	gone(t, "4711.1")
}

func TestNothingIsLeftWhenItIsEnded(t *testing.T) {
	root := t.TempDir()
	s := set(t, "sh")
	r := command.Run{Name: "sh", Args: []string{"-c", fmt.Sprintf(tree+"touch started; wait", "4711.2")}, Root: root, Write: true, Timeout: 500 * time.Millisecond}
	if _, err := s.Run(t.Context(), r); tool.CodeOf(err) != tool.ExecFailed || !strings.Contains(err.Error(), "500 ms") {
		t.Errorf("%v", err)
	}
	gone(t, "4711.2")
	must(t, os.Remove(filepath.Join(root, "started")))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(root, "started")); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	r.Timeout = 0
	if _, err := s.Run(ctx, r); tool.CodeOf(err) != tool.Cancelled {
		t.Errorf("%v", err)
	}
	gone(t, "4711.2")
}

func TestSignalsAndFailures(t *testing.T) {
	r, _, err := sh(t, "kill -9 $$")
	if err != nil || r.ExitCode != 137 {
		t.Errorf("%d %v", r.ExitCode, err)
	}
	s := set(t, "true")
	if _, err := s.Run(t.Context(), command.Run{Name: "true", Root: t.TempDir(), Dir: "missing"}); tool.CodeOf(err) != tool.ExecFailed {
		t.Errorf("%v", err)
	}
	for _, args := range [][]string{{"a\x00b"}, {strings.Repeat("x", 100<<10)}} {
		if _, err := s.Run(t.Context(), command.Run{Name: "true", Args: args}); tool.CodeOf(err) != tool.ExecFailed {
			t.Errorf("%v", err)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "toolroom-exec-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("temporary folders are left: %v %v", left, err)
	}
}

// subreaper makes this process what a room is: the heir of orphans.
func subreaper(t *testing.T) {
	t.Helper()
	must(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	t.Cleanup(func() { must(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)) })
}

// children lists the children of this process, those that only wait to be reaped included.
func children(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", os.Getpid(), unix.Gettid()))
	must(t, err)
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	must(t, err)
	all := strings.Fields(string(b))
	for _, task := range tasks {
		b, _ := os.ReadFile(task) // a thread may have ended
		all = append(all, strings.Fields(string(b))...)
	}
	return all
}

func TestNothingIsLeftWhenTheSupervisorIsKilled(t *testing.T) {
	subreaper(t)
	root := t.TempDir()
	s := set(t, "sh")
	go func() {
		for range 1000 {
			if _, err := os.Stat(filepath.Join(root, "started")); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // the double forks are done
		for _, pid := range children(t) {
			if b, err := os.ReadFile("/proc/" + pid + "/cmdline"); err == nil && strings.HasPrefix(string(b), "toolroom-exec-supervisor") {
				n, _ := strconv.Atoi(pid)
				if group, err := unix.Getpgid(n); err != nil || group != n {
					t.Errorf("the supervisor is of the room's group, which a terminal ends: %d, %v", group, err)
				}
				_ = unix.Kill(n, unix.SIGKILL)
			}
		}
	}()
	began := time.Now()
	_, err := s.Run(t.Context(), command.Run{Name: "sh", Args: []string{"-c", fmt.Sprintf(tree+"touch started; wait", "4711.3")}, Root: root, Write: true, Timeout: time.Minute})
	if tool.CodeOf(err) != tool.ExecFailed || time.Since(began) > 9*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	gone(t, "4711.3")
	if left := children(t); len(left) > 0 {
		t.Errorf("children are left, perhaps to be reaped: %v", left)
	}
}
