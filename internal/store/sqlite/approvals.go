package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"toolroom/internal/store"
	"toolroom/tool"
)

const approvalColumns = `id, tenant, workspace, key, state, question, asked, expires, by_whom, decided`

func approval(row scanner) (store.Approval, error) {
	var (
		a                       store.Approval
		question                string
		asked, expires, decided int64
	)
	err := row.Scan(&a.ID, &a.Place.Tenant, &a.Place.Workspace, &a.Key, &a.State, &question, &asked, &expires, &a.By, &decided)
	a.Question, a.Asked, a.Expires = []byte(question), at(asked), at(expires)
	if decided != 0 {
		a.Decided = at(decided)
	}
	return a, err
}

// AddApproval implements store.Approvals.
func (s *Store) AddApproval(ctx context.Context, a store.Approval) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO approvals (`+approvalColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 0)`,
		a.ID, a.Place.Tenant, a.Place.Workspace, a.Key, a.State, string(a.Question), a.Asked.UnixNano(), a.Expires.UnixNano())
	return s.failed("store the question", err)
}

// Approval implements store.Approvals.
func (s *Store) Approval(ctx context.Context, place tool.Place, id string) (store.Approval, error) {
	a, err := approval(s.read.QueryRowContext(ctx, `SELECT `+approvalColumns+` FROM approvals
		WHERE id = ? AND tenant = ? AND workspace = ?`,
		id, place.Tenant, place.Workspace))
	if errors.Is(err, sql.ErrNoRows) {
		return a, store.NoApproval(id)
	}
	return a, s.failed("read the question", err)
}

// ListApprovals implements store.Approvals.
func (s *Store) ListApprovals(ctx context.Context, place tool.Place, q store.ApprovalQuery) ([]store.Approval, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+approvalColumns+` FROM approvals WHERE tenant = ? AND workspace = ?
		AND (? = '' OR state = ?) AND (? = '' OR key = ?) AND (? = '' OR id < ?) ORDER BY id DESC LIMIT ?`,
		place.Tenant, place.Workspace, q.State, q.State, q.Key, q.Key, q.Before, q.Before, limit(q.Limit))
	out, err := all(rows, err, approval)
	return out, s.failed("list the questions", err)
}

// MoveApproval implements store.Approvals.
func (s *Store) MoveApproval(ctx context.Context, place tool.Place, id string, from, to store.ApprovalState, by string, at time.Time) error {
	res, err := s.write.ExecContext(ctx, `UPDATE approvals SET state = ?, by_whom = ?, decided = ?
		WHERE id = ? AND tenant = ? AND workspace = ? AND state = ?`, to, by, at.UnixNano(), id, place.Tenant, place.Workspace, from)
	if err != nil {
		return s.failed("store the answer", err)
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return s.failed("store the answer", err)
	}
	a, err := s.Approval(ctx, place, id)
	if err != nil {
		return err
	}
	return store.Answered(id, a.State)
}
