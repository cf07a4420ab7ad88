package tool

import "time"

// Kind is what sort of principal asks.
type Kind string

// The kinds of principal.
const (
	User  Kind = "user"
	Model Kind = "model"
	Admin Kind = "admin"
)

// Place is one workspace of one tenant. Nothing crosses a tenant.
type Place struct {
	Tenant    string `json:"tenant"`
	Workspace string `json:"workspace"`
}

// Principal is who asks, always of one tenant and workspace.
type Principal struct {
	Place
	Kind Kind   `json:"kind"`
	ID   string `json:"id,omitempty"` // for people to read: a user's name, an agent's name
}

// Source is what a tool made by p is marked with.
func (p Principal) Source() Source {
	if p.Kind == Model {
		return ByModel
	}
	return ByUser
}

// Version is an immutable snapshot of a tool.
type Version struct {
	ID         string     `json:"id"`     // unique in the room, sorts by time
	Number     int64      `json:"number"` // 1, 2, 3 … within the tool
	Definition Definition `json:"definition"`
	Hash       string     `json:"hash"` // SHA-256 of the canonical definition, hex
	Author     Author     `json:"author"`
	Created    time.Time  `json:"created"`
	Reason     string     `json:"reason,omitempty"`  // why, in the author's words
	Changed    []string   `json:"changed,omitempty"` // field names that differ from the version before; "restored", "created" …
	Solo       bool       `json:"solo,omitempty"`    // had to be killed once: runs alone in its worker
}

// Author is who made a version.
type Author struct {
	Kind Kind   `json:"kind"`
	ID   string `json:"id,omitempty"`
}

// Tool is a named function and its current version.
type Tool struct {
	Name     string    `json:"name"`
	Source   Source    `json:"source"`
	Location Location  `json:"location"`
	Enabled  bool      `json:"enabled"`
	Deleted  bool      `json:"deleted,omitempty"`
	Current  Version   `json:"current"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Revision int64     `json:"revision"`         // of the change feed, at its last change
	Broken   *Error    `json:"broken,omitempty"` // why a stored tool cannot be offered
	Shadowed bool      `json:"shadowed,omitempty"`
}

// Warning is something an author should know about a definition that was
// accepted all the same.
type Warning struct {
	About   string `json:"about"` // a field, or a provider: "openai", "gemini", "body"
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

// Change is the answer to a change of a tool.
type Change struct {
	Tool     Tool      `json:"tool"`
	Warnings []Warning `json:"warnings,omitempty"`
}
