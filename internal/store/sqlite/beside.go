package sqlite

import (
	"context"
	"fmt"
	"os"

	"toolroom/tool"
)

// OpenBeside opens the file of a room that may be running in another process, without taking its lock: SQLite
// keeps the two apart, change by change. It is for what a room looks up each time, such as the questions of the
// inbox; what a room keeps in memory would go stale. not_found: there is no such file, or it still
// has to be migrated, which only Open does.
func OpenBeside(ctx context.Context, path string) (*Store, error) {
	path, err := prepare(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if os.IsNotExist(err) {
		return nil, tool.Errorf(tool.NotFound, "there is no database %s", path)
	}
	if err != nil {
		return nil, unusable(path, err)
	}
	s := &Store{}
	if err := s.openBeside(ctx, path); err != nil {
		_ = s.Close() // what went wrong at opening is what matters
		return nil, unusable(path, err)
	}
	return s, nil
}

func (s *Store) openBeside(ctx context.Context, path string) (err error) {
	if s.write, err = connect(path, Options{}, "synchronous(full)", "foreign_keys(on)"); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	p, err := migrator(s.write)
	if err != nil {
		return err
	}
	switch have, known, err := p.GetVersions(ctx); {
	case err != nil:
		return err
	case have > known:
		return newer(have, known)
	case have < known:
		return tool.Errorf(tool.NotFound, "the database %s is of an older Toolroom", path)
	}
	return s.openReader(ctx, path, Options{})
}

func newer(have, known int64) error {
	return fmt.Errorf("%w (schema %d, this one knows %d)", errNewer, have, known)
}
