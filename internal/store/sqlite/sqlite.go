// Package sqlite keeps a room in one SQLite file, in WAL mode with every commit
// synced. One process at a time may have the file open, held to by a lock file beside it;
// inside that process there is one connection that writes and a few that read.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/pressly/goose/v3"
	driver "modernc.org/sqlite" // also registers the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"toolroom/internal/store"
	"toolroom/tool"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is a room's SQLite file. Its methods may be called concurrently.
type Store struct {
	write  *sql.DB // one connection
	read   *sql.DB
	lock   *lock
	closed atomic.Bool
}

var _ store.Store = (*Store)(nil)

// Options are the choices at opening. The zero value suits a room.
type Options struct {
	VFS string // a file system registered with SQLite under this name; empty for the system's own
}

// Open opens the room kept in the file path, made if need be together with its
// directory. locked: another process, which the error names, has it open.
// storage_failed: the file is damaged or was made by a newer Toolroom; the error names
// the file.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	path, err := prepare(path)
	if err != nil {
		return nil, unusable(path, err)
	}
	held, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	s := &Store{lock: held}
	if err := s.open(ctx, path, opts); err != nil {
		_ = s.Close() // what went wrong at opening is what matters
		return nil, unusable(path, err)
	}
	return s, nil
}

// prepare makes the directory and resolves links, so that one file has one lock.
func prepare(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return path, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path, err
	}
	path = filepath.Join(dir, filepath.Base(path))
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Abs(path)
}

func (s *Store) open(ctx context.Context, path string, opts Options) (err error) {
	if s.write, err = connect(path, opts, "synchronous(full)", "journal_mode(wal)", "foreign_keys(on)"); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	if err := check(ctx, s.write); err != nil {
		return err
	}
	if err := migrate(ctx, s.write); err != nil {
		return err
	}
	return s.openReader(ctx, path, opts)
}

func (s *Store) openReader(ctx context.Context, path string, opts Options) (err error) {
	if s.read, err = connect(path, opts, "query_only(on)"); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(max(4, runtime.NumCPU()))
	s.read.SetMaxIdleConns(max(4, runtime.NumCPU()))
	return s.read.PingContext(ctx)
}

func connect(path string, opts Options, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_txlock": {"immediate"}, "_busy_timeout": {"5000"}, "_pragma": pragmas}
	if opts.VFS != "" {
		q.Set("vfs", opts.VFS)
	}
	parts := strings.Split(filepath.ToSlash(path), "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return sql.Open("sqlite", "file:"+strings.Join(parts, "/")+"?"+q.Encode())
}

// check reads through the whole file. It costs about a second for each GB, and saves
// a room from building on damage.
func check(ctx context.Context, db *sql.DB) error {
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, found)
	}
	return nil
}

func migrator(db *sql.DB) (*goose.Provider, error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithDisableGlobalRegistry(true))
}

func migrate(ctx context.Context, db *sql.DB) error {
	p, err := migrator(db)
	if err != nil {
		return err
	}
	have, known, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if have > known {
		return newer(have, known)
	}
	_, err = p.Up(ctx)
	return err
}

// What is wrong with a file itself.
const (
	errDamaged = fault("it is damaged") // it does not hold together
	errNewer   = fault("it was made by a newer Toolroom")
)

type fault string

func (f fault) Error() string { return string(f) }

// broken says whether the file itself is to blame, not the disk or the directory it is in.
func broken(cause error) bool {
	var e *driver.Error
	if errors.As(cause, &e) {
		return e.Code()&0xff == sqlite3.SQLITE_CORRUPT || e.Code()&0xff == sqlite3.SQLITE_NOTADB
	}
	return errors.Is(cause, errDamaged)
}

// unusable says which file a room cannot start on, and why.
func unusable(path string, cause error) error {
	if code := tool.CodeOf(cause); code != tool.Internal {
		return cause
	}
	e := tool.Errorf(tool.StorageFailed, "cannot open the room's database %s: %v", path, reasonOf(cause)).WithCause(cause).WithHint("Nothing was changed. %s, or start with another --data directory.", remedy(cause))
	e.Retryable = false
	return e
}

// reasonOf is what SQLite said, without what was being done, if it was SQLite that said it.
func reasonOf(cause error) error {
	var e *driver.Error
	if errors.As(cause, &e) {
		return e
	}
	return cause
}

// remedy is the next step after a file that could not be opened.
func remedy(cause error) string {
	var e *driver.Error
	full := errors.As(cause, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL
	switch {
	case broken(cause):
		return "Move the file away and put a backup in its place"
	case errors.Is(cause, errNewer):
		return "Start it with the version that made it, or a later one"
	case full || errors.Is(cause, syscall.ENOSPC):
		return "Free space on the disk that it is on"
	case errors.Is(cause, fs.ErrPermission) || errors.Is(cause, syscall.EROFS):
		return "Let this user write there"
	}
	return "Free space, mend what stands in the way"
}

// Close waits for the change that is being made, closes the file and gives up
// the lock. What is asked for afterwards gets the answer stopped.
func (s *Store) Close() error {
	s.closed.Store(true)
	var errs []error
	if s.write != nil {
		// Whoever has the only connection makes a change: having it means that
		// nobody does, and closing while it is held that nobody will.
		if last, err := s.write.Conn(context.Background()); err == nil {
			defer last.Close()
		}
		errs = append(errs, s.write.Close())
	}
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	return errors.Join(append(errs, s.lock.release())...)
}

// failed is the answer when something could not be done.
func (s *Store) failed(doing string, cause error) error {
	if cause != nil && s.closed.Load() && tool.CodeOf(cause) == tool.Internal {
		return tool.Errorf(tool.Stopped, "the room has stopped").WithCause(cause)
	}
	return store.Failed(doing, cause)
}
