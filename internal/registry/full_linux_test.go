package registry_test

import (
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"toolroom/internal/registry"
	"toolroom/tool"
)

// TestAFullDiskLeavesTheOldVersionCallable lets no file grow any further, which the kernel
// reports to every writer as it reports a full disk.
func TestAFullDiskLeavesTheOldVersionCallable(t *testing.T) {
	r := open(t)
	made := create(t, r, user(), definition("add"))
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var usual syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &usual); err != nil {
		t.Fatal(err)
	}
	limit := func(n uint64) {
		t.Helper()
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: usual.Max}); err != nil {
			t.Fatal(err)
		}
	}
	limit(4096)
	defer limit(usual.Cur)
	body := "return '" + strings.Repeat("x", 30_000) + "';"
	_, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: &body}, registry.ChangeOptions{})
	wantCode(t, err, tool.StorageFailed)
	_, err = r.Create(t.Context(), user(), definition("other"), registry.CreateOptions{})
	wantCode(t, err, tool.StorageFailed)
	if text := fmt.Sprint(err); strings.Contains(text, "/") {
		t.Errorf("the error names a path of the host: %s", text)
	}
	got, err := r.Resolve(t.Context(), place(), "add")
	if err != nil || got.Tool.Current.ID != made.Current.ID {
		t.Fatalf("the old version: %+v, %v", got, err)
	}
	if r.Revision() != made.Revision {
		t.Errorf("the feed tells of a change that was not made")
	}
	limit(usual.Cur)
	if _, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: &body}, registry.ChangeOptions{}); err != nil {
		t.Fatalf("with room again: %v", err)
	}
}
