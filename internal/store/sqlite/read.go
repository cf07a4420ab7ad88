package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"toolroom/internal/store"
	"toolroom/tool"
)

const (
	headColumns    = `t.id, t.tenant, t.workspace, t.name, t.source, t.enabled, t.deleted, t.created, t.updated, t.revision, t.current`
	versionColumns = `v.id, v.number, v.definition, v.hash, v.author_kind, v.author_id, v.created, v.reason, v.changed, s.version IS NOT NULL`
	// A tool whose version is missing is still listed, as damaged: hence the left join.
	versionJoin = ` LEFT JOIN versions v ON v.id = t.current LEFT JOIN solo s ON s.version = v.id `
	// A global tool is shadowed where a live tool of the workspace has its name.
	shadowed = `t.workspace = '' AND EXISTS (SELECT 1 FROM tools o WHERE o.tenant = t.tenant AND o.workspace = ?
		AND o.workspace <> '' AND o.fold = t.fold AND o.deleted = 0)`
)

type scanner interface{ Scan(dest ...any) error }

// versionRow takes a version that may be missing.
type versionRow struct {
	id, definition, hash, kind, author, reason, changed sql.NullString
	number, created                                     sql.NullInt64
	solo                                                sql.NullBool
}

func (r *versionRow) dest() []any {
	return []any{&r.id, &r.number, &r.definition, &r.hash, &r.kind, &r.author, &r.created, &r.reason, &r.changed, &r.solo}
}

// version is the row as a version, with an error if it is damaged.
func (r *versionRow) version() (tool.Version, error) {
	v := tool.Version{
		ID: r.id.String, Number: r.number.Int64, Hash: r.hash.String,
		Author:  tool.Author{Kind: tool.Kind(r.kind.String), ID: r.author.String},
		Created: at(r.created.Int64), Reason: r.reason.String, Solo: r.solo.Bool,
	}
	if !r.id.Valid {
		return v, fmt.Errorf("its current version is missing")
	}
	if err := json.Unmarshal([]byte(r.changed.String), &v.Changed); err != nil {
		return v, fmt.Errorf("version %s does not say what changed: %w", v.ID, err)
	}
	d, err := store.Decode([]byte(r.definition.String), v.Hash)
	if err != nil {
		return v, fmt.Errorf("version %s cannot be read: %w", v.ID, err)
	}
	v.Definition = d
	return v, nil
}

// record reads headColumns, versionColumns and shadowed.
func record(row scanner) (store.Record, error) {
	var (
		r                store.Record
		v                versionRow
		created, updated int64
		current          string
	)
	dest := []any{&r.ID, &r.Place.Tenant, &r.Place.Workspace, &r.Name, &r.Source, &r.Enabled, &r.Deleted, &created, &updated, &r.Revision, &current}
	if err := row.Scan(append(append(dest, v.dest()...), &r.Shadowed)...); err != nil {
		return r, err
	}
	r.Created, r.Updated, r.Location = at(created), at(updated), tool.InWorkspace
	if r.Place.Workspace == "" {
		r.Location = tool.InTenant
	}
	var err error
	if r.Current, err = v.version(); err != nil {
		r.Current.ID, r.Broken = current, store.Damaged(r.Name, err)
	}
	return r, nil
}

func at(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// all reads every row with one function.
func all[T any](rows *sql.Rows, err error, one func(scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		t, err := one(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, rows.Err()
}

// Find implements store.Tools.
func (s *Store) Find(ctx context.Context, place tool.Place, name string) (store.Record, error) {
	r, err := record(s.read.QueryRowContext(ctx, `SELECT `+headColumns+`, `+versionColumns+`, `+shadowed+` FROM tools t`+versionJoin+
		`WHERE t.tenant = ? AND t.workspace IN (?, '') AND t.fold = ?
		ORDER BY t.deleted, CASE t.deleted WHEN 0 THEN t.workspace = '' ELSE -t.revision END LIMIT 1`,
		place.Workspace, place.Tenant, place.Workspace, store.Fold(name)))
	if err == sql.ErrNoRows {
		return r, store.NoTool(name)
	}
	return r, s.failed("read the tool", err)
}

// List implements store.Tools.
func (s *Store) List(ctx context.Context, place tool.Place, q store.Query) ([]store.Record, error) {
	// Two ordered halves that SQLite merges: sorting all tools for every page
	// would make a page cost as much as the list.
	half := `SELECT t.* FROM tools t` + textJoin(q) + ` WHERE t.tenant = ? AND t.workspace = ? AND (t.fold, t.id) > (?, ?)` + filter(q)
	query := `SELECT ` + headColumns + `, ` + versionColumns + `, ` + shadowed + ` FROM (` + half + ` UNION ALL ` + half +
		` ORDER BY fold, id LIMIT ?) t` + versionJoin + `ORDER BY t.fold, t.id`
	args := []any{place.Workspace}
	for _, workspace := range []string{place.Workspace, ""} {
		args = append(args, place.Tenant, workspace, q.After.Fold, q.After.ID)
		if q.Text != "" {
			args = append(args, store.Fold(q.Text))
		}
	}
	rows, err := s.read.QueryContext(ctx, query, append(args, limit(q.Limit))...)
	out, err := all(rows, err, record)
	return out, s.failed("list the tools", err)
}

func textJoin(q store.Query) string {
	if q.Text == "" {
		return ""
	}
	return ` JOIN words w ON w.rowid = t.id`
}

func filter(q store.Query) (sql string) {
	if !q.Deleted {
		sql += ` AND t.deleted = 0`
	}
	if !q.Disabled {
		sql += ` AND (t.enabled = 1 OR t.deleted = 1)`
	}
	if q.Text != "" {
		sql += ` AND instr(lower(t.name || char(10) || w.description), ?) > 0`
	}
	return sql
}

// limit keeps a page between one row and a thousand.
func limit(n int) int {
	if n <= 0 {
		return 100
	}
	return min(n, 1000)
}

// Search implements store.Tools.
func (s *Store) Search(ctx context.Context, place tool.Place, words []string, n int) ([]store.Record, error) {
	terms := match(words)
	if terms == "" {
		return nil, nil
	}
	// The best are picked first: only they are worth reading versions for.
	rows, err := s.read.QueryContext(ctx, `SELECT `+headColumns+`, `+versionColumns+`, `+shadowed+`
		FROM (SELECT t.id AS found, bm25(words, 10, 3, 1) AS score FROM words JOIN tools t ON t.id = words.rowid
			WHERE words MATCH ? AND t.tenant = ? AND t.workspace IN (?, '') AND t.deleted = 0 AND t.enabled = 1
			ORDER BY score, t.fold LIMIT ?) JOIN tools t ON t.id = found`+versionJoin+`ORDER BY score, t.fold`,
		place.Workspace, terms, place.Tenant, place.Workspace, limit(n))
	out, err := all(rows, err, record)
	return out, s.failed("search the tools", err)
}

// Versions implements store.Tools.
func (s *Store) Versions(ctx context.Context, toolID, before int64, n int) ([]tool.Version, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+versionColumns+` FROM versions v LEFT JOIN solo s ON s.version = v.id
		WHERE v.tool = ? AND (? = 0 OR v.number < ?) ORDER BY v.number DESC LIMIT ?`, toolID, before, before, limit(n))
	out, err := all(rows, err, func(row scanner) (tool.Version, error) {
		var r versionRow
		if err := row.Scan(r.dest()...); err != nil {
			return tool.Version{}, err
		}
		v, _ := r.version() // a damaged one still has its number and author
		return v, nil
	})
	return out, s.failed("read the history", err)
}

// Version implements store.Tools.
func (s *Store) Version(ctx context.Context, place tool.Place, id string) (store.Record, tool.Version, error) {
	var (
		v    versionRow
		fold string
		tid  int64
	)
	row := s.read.QueryRowContext(ctx, `SELECT `+versionColumns+`, t.id, t.fold FROM versions v JOIN tools t ON t.id = v.tool
		LEFT JOIN solo s ON s.version = v.id WHERE v.id = ? AND t.tenant = ? AND t.workspace IN (?, '')`, id, place.Tenant, place.Workspace)
	if err := row.Scan(append(v.dest(), &tid, &fold)...); err == sql.ErrNoRows {
		return store.Record{}, tool.Version{}, store.NoVersion(id)
	} else if err != nil {
		return store.Record{}, tool.Version{}, s.failed("read the version", err)
	}
	r, err := byID(ctx, s.read, place.Workspace, tid)
	if err != nil {
		return r, tool.Version{}, s.failed("read the version's tool", err)
	}
	version, err := v.version()
	if err != nil {
		return r, version, store.Damaged(r.Name, err)
	}
	return r, version, nil
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func byID(ctx context.Context, q queryer, workspace string, id int64) (store.Record, error) {
	return record(q.QueryRowContext(ctx, `SELECT `+headColumns+`, `+versionColumns+`, `+shadowed+` FROM tools t`+versionJoin+
		`WHERE t.id = ?`, workspace, id))
}
