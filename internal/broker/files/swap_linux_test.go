package files_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"toolroom/internal/broker/files"
)

// swap exchanges the folder d and the link evil, over and over, until the test ends.
func swap(t *testing.T, dir string) {
	d, evil := filepath.Join(dir, "d"), filepath.Join(dir, "evil")
	if err := unix.Renameat2(unix.AT_FDCWD, d, unix.AT_FDCWD, evil, unix.RENAME_EXCHANGE); err != nil {
		t.Skipf("this disk cannot exchange two names at once: %v", err)
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, d, unix.AT_FDCWD, evil, unix.RENAME_EXCHANGE)
			}
		}
	})
	t.Cleanup(func() { close(stop); swapping.Wait() })
}

// TestLinkSwappedWhileInUse has a folder that is sometimes a link: out of the
// workspace, or to something inside that is hidden.
func TestLinkSwappedWhileInUse(t *testing.T) {
	for name, target := range map[string]string{"out": "../outside", "hidden": ".ssh"} {
		t.Run(name, func(t *testing.T) {
			f, dir := open(t, files.Options{MaxFiles: 1 << 40})
			behind := filepath.Join(dir, target)
			put(t, filepath.Join(behind, "f"), "behind")
			put(t, filepath.Join(dir, "d", "f"), "inside")
			must(t, os.Symlink(target, filepath.Join(dir, "evil")))
			swap(t, dir)
			for range 2000 {
				if b, err := f.Read("d/f"); err == nil && string(b) != "inside" {
					t.Fatal("read what the link leads to")
				}
				_, _ = f.Write("d/f", []byte("inside")) // may fail while it is swapped
				_, _ = f.Append("d/g", []byte("inside"))
			}
			entries, err := os.ReadDir(behind)
			if err != nil || len(entries) != 1 {
				t.Errorf("behind the link are %v now, %v", entries, err)
			}
			if b, err := os.ReadFile(filepath.Join(behind, "f")); err != nil || string(b) != "behind" {
				t.Errorf("written through the link: %q %v", b, err)
			}
		})
	}
}
