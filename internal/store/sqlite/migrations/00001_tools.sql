-- +goose Up
CREATE TABLE tools (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant    TEXT NOT NULL,
    workspace TEXT NOT NULL, -- empty: global to the tenant
    name      TEXT NOT NULL,
    fold      TEXT NOT NULL,
    look      TEXT NOT NULL,
    source    TEXT NOT NULL,
    enabled   INTEGER NOT NULL,
    deleted   INTEGER NOT NULL,
    current   TEXT NOT NULL,
    created   INTEGER NOT NULL, -- times are nanoseconds since 1970
    updated   INTEGER NOT NULL,
    revision  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tools_fold ON tools (tenant, workspace, fold) WHERE deleted = 0;
CREATE UNIQUE INDEX tools_look ON tools (tenant, workspace, look) WHERE deleted = 0;
CREATE INDEX tools_page ON tools (tenant, workspace, fold, id);

CREATE TABLE versions (
    id          TEXT PRIMARY KEY,
    tool        INTEGER NOT NULL REFERENCES tools (id),
    number      INTEGER NOT NULL,
    definition  TEXT NOT NULL,
    hash        TEXT NOT NULL,
    author_kind TEXT NOT NULL,
    author_id   TEXT NOT NULL,
    created     INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    changed     TEXT NOT NULL,
    UNIQUE (tool, number)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER versions_never_change BEFORE UPDATE ON versions
BEGIN
    SELECT RAISE(ABORT, 'a version never changes');
END;
-- +goose StatementEnd

CREATE TABLE solo (version TEXT PRIMARY KEY REFERENCES versions (id)) STRICT;

CREATE TABLE changes (
    revision  INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant    TEXT NOT NULL,
    workspace TEXT NOT NULL, -- empty: the whole tenant sees it
    name      TEXT NOT NULL,
    action    TEXT NOT NULL,
    version   TEXT NOT NULL,
    at        INTEGER NOT NULL
) STRICT;

CREATE TABLE approvals (
    id        TEXT PRIMARY KEY,
    tenant    TEXT NOT NULL,
    workspace TEXT NOT NULL,
    key       TEXT NOT NULL,
    state     TEXT NOT NULL,
    question  TEXT NOT NULL,
    asked     INTEGER NOT NULL,
    expires   INTEGER NOT NULL,
    by_whom   TEXT NOT NULL,
    decided   INTEGER NOT NULL
) STRICT;
CREATE INDEX approvals_inbox ON approvals (tenant, workspace, id);
CREATE INDEX approvals_key ON approvals (tenant, workspace, key);

CREATE VIRTUAL TABLE words USING fts5 (name, description, parameters, tokenize = 'porter unicode61 remove_diacritics 2');
