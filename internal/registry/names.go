package registry

import (
	"strings"

	"toolroom/internal/store"
	"toolroom/tool"
)

// maxName is the most characters of a name.
const maxName = 64

// Builtins are the names of the built-in tools, which no other tool may have.
func Builtins() []string {
	return []string{"create_tool", "update_tool", "delete_tool", "list_tools", "read_tool", "search_tools", "call_tool", "run_code"}
}

// checkName refuses what is no name, and names that are or look like a built-in tool's.
func checkName(name string) error {
	if problem := nameProblem(name); problem != "" {
		e := tool.Errorf(tool.InvalidName, "%q is not a tool's name: %s", cut(name, 80), problem)
		if better := suggestName(name); better != "" {
			return e.WithHint("A name that would do: %q.", better)
		}
		return e.WithHint("Use 1 to 64 letters, digits, _ and -, beginning with a letter.")
	}
	for _, b := range Builtins() {
		if store.Fold(b) == store.Fold(name) || store.Look(b) == store.Look(name) {
			return tool.Errorf(tool.NameConflict, "the name %q belongs to the built-in tool %q", name, b).
				WithHint("Choose another name.").WithDetails(map[string]any{"holder": b})
		}
	}
	return nil
}

func nameProblem(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > maxName:
		return "it is longer than 64 characters"
	case !letter(name[0]):
		return "it does not begin with a letter a to z"
	}
	for _, c := range name {
		if c > 127 || !nameByte(byte(c)) {
			return "it has the character " + quoteRune(c) + ", and only letters a to z, digits, _ and - may be in it"
		}
	}
	return ""
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func nameByte(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '_' || c == '-' }

// suggestName is the nearest valid name, or "" if nothing of name is of use.
func suggestName(name string) string {
	better := strings.Map(func(c rune) rune {
		if c > 127 || !nameByte(byte(c)) {
			return '_'
		}
		return c
	}, name)
	better = strings.TrimLeft(better, "_-0123456789")
	better = strings.TrimRight(cut(better, maxName), "_-")
	if nameProblem(better) != "" {
		return ""
	}
	return better
}
