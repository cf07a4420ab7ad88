package tool

import (
	"encoding/json"
	"fmt"
)

// Names is a list of names, or "any" for all of them. A nil *Names is "not
// said": the default.
type Names struct {
	Any  bool
	List []string
}

// AnyName is the Names that holds every name.
func AnyName() *Names { return &Names{Any: true} }

// NameList is the Names that holds just these.
func NameList(names ...string) *Names { return &Names{List: names} }

// MarshalJSON writes "any" or the list.
func (n Names) MarshalJSON() ([]byte, error) {
	if n.Any {
		return []byte(`"any"`), nil
	}
	if n.List == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(n.List)
}

// UnmarshalJSON reads "any", "none" or a list of strings.
func (n *Names) UnmarshalJSON(b []byte) error {
	var word string
	if json.Unmarshal(b, &word) == nil {
		switch word {
		case "any":
			*n = Names{Any: true}
			return nil
		case "none":
			*n = Names{}
			return nil
		}
		return fmt.Errorf(`%q is neither "any" nor a list of names`, word)
	}
	*n = Names{}
	if err := json.Unmarshal(b, &n.List); err != nil {
		return fmt.Errorf(`want "any" or a list of names`)
	}
	return nil
}

// FileAccess is what a tool may do with the workspace's files.
type FileAccess string

// The kinds of file access. Unsaid, it follows from the scope: none for
// global, write for workspace.
const (
	NoFiles    FileAccess = "none"
	ReadFiles  FileAccess = "read"
	WriteFiles FileAccess = "write"
)

// Grant is the capabilities of a version. Fields that are not said take their
// defaults when a version is made, so a stored Grant says everything.
type Grant struct {
	Net     *Names     `json:"net,omitempty"`     // hosts, "*." only at a label border; default any
	Secrets []string   `json:"secrets,omitempty"` // names of secrets
	Exec    []string   `json:"exec,omitempty"`    // names of commands
	Call    *Names     `json:"call,omitempty"`    // names of tools; default any
	Files   FileAccess `json:"files,omitempty"`
}
