package sqlite

import (
	"os"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"toolroom/tool"
)

// lock keeps other processes out of a room. The kernel drops it when its holder ends,
// however that happens, so a lock file that was left behind holds nobody up. The file itself stays: removing it would
// let two processes lock two files of one name.
type lock struct{ file *flock.Flock }

// lockFile takes the lock at path, or says who has it.
func lockFile(path string) (*lock, error) {
	f := flock.New(path, flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err != nil {
		return nil, tool.Errorf(tool.StorageFailed, "cannot lock %s: %v", path, err).WithCause(err).
			WithHint("Nothing was changed. %s, or start with another --data directory.", remedy(err))
	}
	if !ok {
		_ = f.Close()
		return nil, tool.Errorf(tool.Locked, "%s is held by %s", path, holder(path)).
			WithHint("One room at a time may use a data directory: stop the other one, talk to it over HTTP, or choose another --data directory.")
	}
	// Who holds it is for people to read; failing to note it does no harm.
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	return &lock{file: f}, nil
}

func holder(path string) string {
	b, err := os.ReadFile(path)
	pid := strings.TrimSpace(string(b))
	if err != nil || pid == "" {
		return "another process"
	}
	return "the process " + pid
}

func (l *lock) release() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
