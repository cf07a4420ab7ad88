package sqlite

import (
	"context"

	"toolroom/internal/store"
)

// Revision implements store.Feed.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	var r int64
	err := s.read.QueryRowContext(ctx, `SELECT coalesce(max(revision), 0) FROM changes`).Scan(&r)
	return r, s.failed("read the change feed", err)
}

// Changes implements store.Feed.
func (s *Store) Changes(ctx context.Context, after int64, n int) ([]store.Change, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT revision, tenant, workspace, name, action, version, at, author_kind, author_id, reason FROM changes
		WHERE revision > ? ORDER BY revision LIMIT ?`, after, limit(n))
	out, err := all(rows, err, func(row scanner) (store.Change, error) {
		var (
			c  store.Change
			ns int64
		)
		err := row.Scan(&c.Revision, &c.Place.Tenant, &c.Place.Workspace, &c.Name, &c.Action, &c.Version, &ns, &c.Author.Kind, &c.Author.ID, &c.Reason)
		c.At = at(ns)
		return c, err
	})
	return out, s.failed("read the change feed", err)
}
