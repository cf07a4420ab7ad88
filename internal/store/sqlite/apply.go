package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"toolroom/internal/store"
	"toolroom/tool"
)

// Apply implements store.Tools.
func (s *Store) Apply(ctx context.Context, writes []store.Write) ([]store.Record, error) {
	out := make([]store.Record, len(writes))
	err := s.change(ctx, func(tx *sql.Tx) error {
		for i, w := range writes {
			r, err := apply(ctx, tx, w)
			if err != nil {
				return err
			}
			out[i] = r
		}
		return nil
	})
	if err != nil {
		return nil, s.failed("store the change", err)
	}
	return out, nil
}

// change runs f in a transaction that holds the write lock from its start.
func (s *Store) change(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		if back := tx.Rollback(); back != nil && !errors.Is(back, sql.ErrTxDone) {
			return errors.Join(err, back)
		}
		return err
	}
	return tx.Commit()
}

func apply(ctx context.Context, tx *sql.Tx, w store.Write) (store.Record, error) {
	old, err := head(ctx, tx, w)
	if err != nil {
		return store.Record{}, err
	}
	if !w.Deleted {
		if err := free(ctx, tx, w, old); err != nil {
			return store.Record{}, err
		}
	}
	id, err := writeHead(ctx, tx, w)
	if err != nil {
		return store.Record{}, err
	}
	w.ToolID = id
	if err := writeVersion(ctx, tx, w, old.Current.ID); err != nil {
		return store.Record{}, err
	}
	return byID(ctx, tx, w.Place.Workspace, id)
}

// head is the tool that w changes, still at the revision that w was made from.
func head(ctx context.Context, tx *sql.Tx, w store.Write) (store.Record, error) {
	if w.ToolID == 0 {
		return store.Record{}, nil
	}
	r, err := byID(ctx, tx, w.Place.Workspace, w.ToolID)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && r.Revision != w.Revision:
		return r, store.Stale(w.Name)
	}
	return r, err
}

// free refuses a live tool whose name is taken or for which there is no room.
func free(ctx context.Context, tx *sql.Tx, w store.Write, old store.Record) error {
	places := []string{w.Place.Workspace}
	if w.Avoid != nil {
		places = append(places, *w.Avoid)
	}
	for _, workspace := range places {
		if err := unclaimed(ctx, tx, w, workspace); err != nil {
			return err
		}
	}
	added := w.ToolID == 0 || old.Deleted || old.Place != w.Place
	if w.Max <= 0 || !added {
		return nil
	}
	var live int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM tools WHERE tenant = ? AND workspace = ? AND deleted = 0 AND id <> ?`,
		w.Place.Tenant, w.Place.Workspace, w.ToolID).Scan(&live)
	if err == nil && live >= w.Max {
		return store.Full(w.Max)
	}
	return err
}

// unclaimed refuses a name that a live tool of the workspace holds, or one that looks the same.
func unclaimed(ctx context.Context, tx *sql.Tx, w store.Write, workspace string) error {
	for _, c := range []struct{ column, key string }{{"fold", store.Fold(w.Name)}, {"look", store.Look(w.Name)}} {
		holder, err := record(tx.QueryRowContext(ctx, `SELECT `+headColumns+`, `+versionColumns+`, 0 FROM tools t`+versionJoin+
			`WHERE t.tenant = ? AND t.workspace = ? AND t.`+c.column+` = ? AND t.deleted = 0 AND t.id <> ?`,
			w.Place.Tenant, workspace, c.key, w.ToolID))
		if err == nil {
			return store.Taken(w.Name, holder)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

func writeHead(ctx context.Context, tx *sql.Tx, w store.Write) (int64, error) {
	if w.ToolID != 0 {
		_, err := tx.ExecContext(ctx, `UPDATE tools SET tenant = ?, workspace = ?, name = ?, fold = ?, look = ?, source = ?, enabled = ?,
			deleted = ?, updated = ? WHERE id = ?`, w.Place.Tenant, w.Place.Workspace, w.Name, store.Fold(w.Name), store.Look(w.Name),
			w.Source, w.Enabled, w.Deleted, w.At.UnixNano(), w.ToolID)
		return w.ToolID, err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO tools
			(tenant, workspace, name, fold, look, source, enabled, deleted, current, created, updated, revision)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, 0)`, w.Place.Tenant, w.Place.Workspace, w.Name, store.Fold(w.Name), store.Look(w.Name),
		w.Source, w.Enabled, w.Deleted, w.At.UnixNano(), w.At.UnixNano())
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// writeVersion adds the change to the feed and, if w has one, the version.
func writeVersion(ctx context.Context, tx *sql.Tx, w store.Write, current string) error {
	seen := w.Place
	if w.Wide {
		seen.Workspace = ""
	}
	revision, err := addChange(ctx, tx, seen, w, current)
	if err != nil {
		return err
	}
	if w.Version != nil {
		current = store.VersionID(revision)
		if err := insertVersion(ctx, tx, w, current); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `UPDATE tools SET current = ?, revision = ? WHERE id = ?`, current, revision, w.ToolID)
	return err
}

func addChange(ctx context.Context, tx *sql.Tx, seen tool.Place, w store.Write, version string) (int64, error) {
	res, err := tx.ExecContext(ctx, `INSERT INTO changes (tenant, workspace, name, action, version, at, author_kind, author_id, reason)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		seen.Tenant, seen.Workspace, w.Name, w.Action, version, w.At.UnixNano(), w.Author.Kind, w.Author.ID, w.Reason)
	if err != nil {
		return 0, err
	}
	revision, err := res.LastInsertId()
	if err != nil || w.Version == nil {
		return revision, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE changes SET version = ? WHERE revision = ?`, store.VersionID(revision), revision)
	return revision, err
}

func insertVersion(ctx context.Context, tx *sql.Tx, w store.Write, id string) error {
	v := w.Version
	definition, err := store.Encode(v.Definition)
	if err != nil {
		return err
	}
	changed, err := json.Marshal(v.Changed)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO versions (id, tool, number, definition, hash, author_kind, author_id, created, reason, changed)
		SELECT ?, ?, coalesce(max(number), 0) + 1, ?, ?, ?, ?, ?, ?, ? FROM versions WHERE tool = ?`,
		id, w.ToolID, string(definition), store.Hash(definition), v.Author.Kind, v.Author.ID, w.At.UnixNano(), v.Reason, string(changed), w.ToolID)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO words (rowid, name, description, parameters) VALUES (?, ?, ?, ?)`,
		w.ToolID, w.Words.Name, w.Words.Description, w.Words.Parameters)
	return err
}

// MarkSolo implements store.Tools.
func (s *Store) MarkSolo(ctx context.Context, versionID string, at time.Time) error {
	err := s.change(ctx, func(tx *sql.Tx) error {
		var (
			id int64
			w  = store.Write{Action: store.Soloed, At: at}
		)
		err := tx.QueryRowContext(ctx, `SELECT t.id, t.tenant, t.workspace, t.name FROM versions v JOIN tools t ON t.id = v.tool WHERE v.id = ?`,
			versionID).Scan(&id, &w.Place.Tenant, &w.Place.Workspace, &w.Name)
		if errors.Is(err, sql.ErrNoRows) {
			return store.NoVersion(versionID)
		}
		if err != nil {
			return err
		}
		return solo(ctx, tx, id, w, versionID)
	})
	return s.failed("mark the version", err)
}

func solo(ctx context.Context, tx *sql.Tx, id int64, w store.Write, versionID string) error {
	res, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO solo (version) VALUES (?)`, versionID)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err // marked before: nothing changed
	}
	_, err = addChange(ctx, tx, w.Place, w, versionID)
	return err
}
