-- Who made each change, and why: changes without a version (enabled, disabled, deleted) have no other place for it.

-- +goose Up
ALTER TABLE changes ADD COLUMN author_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE changes ADD COLUMN author_id TEXT NOT NULL DEFAULT '';
ALTER TABLE changes ADD COLUMN reason TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE changes DROP COLUMN reason;
ALTER TABLE changes DROP COLUMN author_id;
ALTER TABLE changes DROP COLUMN author_kind;
