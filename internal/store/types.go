package store

import (
	"encoding/json"
	"time"

	"toolroom/tool"
)

// Record is a tool as it is kept. Place.Workspace is empty for a tool that is
// global to its tenant. A record that cannot be read has Broken set and only
// its head is to be trusted.
type Record struct {
	ID    int64
	Place tool.Place
	tool.Tool
}

// Query says which page of a list. The zero value is the first enabled, live
// tools.
type Query struct {
	Text     string // only tools whose name or description contains this, without regard to case
	Disabled bool   // disabled ones too
	Deleted  bool   // deleted ones too
	After    Cursor
	Limit    int
}

// Cursor is a place in a list: the last tool of the page before. The zero
// Cursor is the beginning.
type Cursor struct {
	Fold string
	ID   int64
}

// Write is one change of one tool.
type Write struct {
	ToolID   int64 // 0 makes a new tool
	Revision int64 // the one the tool was read at; the write happens only if it still is there
	Place    tool.Place
	Name     string
	Source   tool.Source
	Enabled  bool
	Deleted  bool
	// Version, if there is one, becomes the current version. The store gives it
	// its ID and Number. Without one the current version stays.
	Version *tool.Version
	Words   Words // what Search finds the tool by, when there is a Version
	Action  Action
	Author  tool.Author // who makes the change, and why, also when there is no Version
	Reason  string
	At      time.Time
	Max     int  // most live tools in Place after a new or undeleted one; 0: no limit
	Wide    bool // seen by the whole tenant, though Place is one workspace: the tool was global before
	// Avoid is a second workspace (or "" for the global tools) whose live names
	// the tool must not take; nil: none. Live names of its own place it never may.
	Avoid *string
}

// Words is the text that Search looks in.
type Words struct {
	Name, Description, Parameters string
}

// Action is what a change did.
type Action string

// The actions.
const (
	Created  Action = "created"
	Updated  Action = "updated"
	Restored Action = "restored"
	Enabled  Action = "enabled"
	Disabled Action = "disabled"
	Deleted  Action = "deleted"
	Soloed   Action = "solo"
)

// Change is one entry of the feed. Place.Workspace is empty when every
// workspace of the tenant sees the change.
type Change struct {
	Revision int64       `json:"revision"`
	Place    tool.Place  `json:"place"`
	Name     string      `json:"name"`
	Action   Action      `json:"action"`
	Version  string      `json:"version"`
	Author   tool.Author `json:"author"`
	Reason   string      `json:"reason,omitempty"`
	At       time.Time   `json:"at"`
}

// SeenBy says whether the change concerns a workspace.
func (c Change) SeenBy(p tool.Place) bool {
	return c.Place.Tenant == p.Tenant && (c.Place.Workspace == "" || c.Place.Workspace == p.Workspace)
}

// ApprovalState is how far a question has come.
type ApprovalState string

// The states. Pending goes to Approved, Declined or Expired; Approved goes to
// Used when the change it allowed was made.
const (
	Pending  ApprovalState = "pending"
	Approved ApprovalState = "approved"
	Declined ApprovalState = "declined"
	Expired  ApprovalState = "expired"
	Used     ApprovalState = "used"
)

// Approval is a stored question. Key is what the answer is bound to; Question is
// what the person who answers is shown.
type Approval struct {
	ID       string          `json:"id"`
	Place    tool.Place      `json:"place"`
	Key      string          `json:"key"`
	State    ApprovalState   `json:"state"`
	Question json.RawMessage `json:"question"`
	Asked    time.Time       `json:"asked"`
	Expires  time.Time       `json:"expires"`
	By       string          `json:"by,omitempty"`
	Decided  time.Time       `json:"decided,omitzero"`
}

// ApprovalQuery says which page of the inbox. Zero fields do not filter.
type ApprovalQuery struct {
	State  ApprovalState
	Key    string
	Before string // ID: only older ones
	Limit  int
}
