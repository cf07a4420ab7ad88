package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestIsolationOfServe looks at the processes beneath the running program while it answers calls one after the
// other: with --isolation process no two calls have the same worker.
func TestIsolationOfServe(t *testing.T) {
	for isolation, enough := range map[string]func(workers int) bool{
		"process": func(workers int) bool { return workers >= 4 }, // one for each call, and perhaps a spare
		"isolate": func(workers int) bool { return workers < 4 },  // of the workspace, and perhaps a spare
	} {
		t.Run(isolation, func(t *testing.T) {
			cmd := program(t, "mcp", "--isolation", isolation, "--data", t.TempDir(), "--root", t.TempDir())
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for range 4 {
				answered := make(chan error, 1)
				go func() {
					res, err := runCode(t, session, "await new Promise((go) => setTimeout(go, 300)); return 1")
					if err == nil && res.IsError {
						err = fmt.Errorf("%+v", res.Content)
					}
					answered <- err
				}()
				if err := watch(t, cmd.Process.Pid, seen, answered); err != nil {
					t.Fatal(err)
				}
			}
			if !enough(len(seen)) {
				t.Errorf("four calls had %d worker processes", len(seen))
			}
			if err := session.Close(); err != nil {
				t.Errorf("the program ended with %v", err)
			}
		})
	}
}

// workersOf are the worker processes that a room has.
func workersOf(t *testing.T, room int) []string {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var pids []string
	for _, path := range found {
		stat, err := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest) // state, parent …
		args, aerr := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err == nil && aerr == nil && len(fields) > 1 && fields[1] == fmt.Sprint(room) && strings.HasPrefix(string(args), "toolroom-worker\x00") {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

// watch notes the workers that a room has until a call is answered, and returns how it was.
func watch(t *testing.T, room int, seen map[string]bool, answered <-chan error) error {
	t.Helper()
	for {
		for _, pid := range workersOf(t, room) {
			seen[pid] = true
		}
		select {
		case err := <-answered:
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}
