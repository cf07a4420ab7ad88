package builtin

import (
	"fmt"
	"strings"

	"toolroom/tool"
)

// Grants says in plain words what a body with this definition may do.
func Grants(d tool.Definition) []string {
	g := d.Grant
	words := []string{names(g.Net, "It may reach any public host.", "It may not use the network.", "It may reach only these hosts: %s.")}
	words = append(words, files(d))
	words = append(words, names(g.Call, "It may call any other tool of the workspace.", "It may call no other tool.", "It may call only these tools: %s."))
	if len(g.Secrets) > 0 {
		words = append(words, fmt.Sprintf("It may use these secrets without seeing their values: %s.", strings.Join(g.Secrets, ", ")))
	}
	if len(g.Exec) > 0 {
		words = append(words, fmt.Sprintf("It may run these commands, if the room allows them: %s.", strings.Join(g.Exec, ", ")))
	}
	return words
}

// names puts a list that defaults to "any" into words.
func names(n *tool.Names, all, none, some string) string {
	switch {
	case n == nil || n.Any:
		return all
	case len(n.List) == 0:
		return none
	}
	return fmt.Sprintf(some, strings.Join(n.List, ", "))
}

func files(d tool.Definition) string {
	access := d.Grant.Files
	if access == "" && d.Scope == tool.ScopeWorkspace {
		access = tool.WriteFiles
	}
	switch access {
	case tool.ReadFiles:
		return "It may read the workspace's files."
	case tool.WriteFiles:
		return "It may read and write the workspace's files."
	}
	return "It may not touch files."
}

func lineRange(from, to, of int) string { return fmt.Sprintf("%d to %d of %d", from, to, of) }
