package registry

import (
	"slices"
	"strings"

	"toolroom/tool"
)

// completeGrant is g with everything said that its author left out.
func (r *Registry) completeGrant(g tool.Grant, scope tool.Scope) tool.Grant {
	if g.Net == nil {
		g.Net = r.opts.Net
	}
	if g.Call == nil {
		g.Call = tool.AnyName()
	}
	if g.Files == "" {
		g.Files = tool.NoFiles
		if scope == tool.ScopeWorkspace {
			g.Files = tool.WriteFiles
		}
	}
	g.Net, g.Call = setOf(g.Net, strings.ToLower), setOf(g.Call, nil)
	g.Secrets, g.Exec = sorted(g.Secrets), sorted(g.Exec)
	return g
}

// patchGrant is old with what patch says. What it does not say stays, so that
// naming one capability never changes another.
func patchGrant(old, patch tool.Grant) tool.Grant {
	if patch.Net != nil {
		old.Net = patch.Net
	}
	if patch.Call != nil {
		old.Call = patch.Call
	}
	if patch.Secrets != nil {
		old.Secrets = patch.Secrets
	}
	if patch.Exec != nil {
		old.Exec = patch.Exec
	}
	if patch.Files != "" {
		old.Files = patch.Files
	}
	return old
}

func setOf(n *tool.Names, form func(string) string) *tool.Names {
	if n.Any {
		return tool.AnyName()
	}
	list := slices.Clone(n.List)
	for i := range list {
		if form != nil {
			list[i] = form(list[i])
		}
	}
	return tool.NameList(sorted(list)...)
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

func checkGrant(g tool.Grant, scope tool.Scope) error {
	for _, host := range g.Net.List {
		if problem := hostProblem(host); problem != "" {
			return invalid("grant.net", "%q is not a host: %s", cut(host, 80), problem).
				WithHint(`Name hosts such as "api.example.com" or "*.example.com", or say "any" in place of the list.`)
		}
	}
	for _, name := range g.Call.List {
		if problem := nameProblem(name); problem != "" {
			return invalid("grant.call", "%q is not a tool's name: %s", cut(name, 80), problem)
		}
	}
	if err := checkNames("grant.secrets", g.Secrets); err != nil {
		return err
	}
	if err := checkNames("grant.exec", g.Exec); err != nil {
		return err
	}
	return checkFiles(g.Files, scope)
}

func checkFiles(f tool.FileAccess, scope tool.Scope) error {
	switch f {
	case tool.NoFiles:
		return nil
	case tool.ReadFiles, tool.WriteFiles:
		if scope == tool.ScopeWorkspace {
			return nil
		}
		return invalid("grant.files", "a tool of scope global has no files, and the grant says %q", f).
			WithHint("Say scope: workspace, or leave grant.files out.")
	}
	return invalid("grant.files", "%q is none of none, read, write", cut(string(f), 40))
}

func checkNames(field string, names []string) error {
	for _, n := range names {
		if n == "" || len(n) > 128 || visible(n, "") != n || strings.ContainsAny(n, " /\\") {
			return invalid(field, "%q is not a name: want 1 to 128 characters that show, without spaces and slashes", cut(n, 80))
		}
	}
	return nil
}

func hostProblem(host string) string {
	name := strings.TrimPrefix(host, "*.")
	switch {
	case name == "":
		return "it is empty"
	case strings.Contains(host, "://"):
		return "it is a URL"
	case strings.ContainsAny(name, "/\\@?# \t*") || control(name, "") >= 0:
		return "it has a character that no host has"
	case len(name) > 260:
		return "it is too long"
	case name == "any" || name == "none":
		return "that word stands in place of the list, not in it"
	}
	return ""
}

// Widening is one way in which a grant allows more than the one before.
type Widening struct {
	Field string   `json:"field"` // net, secrets, exec, call, files
	Added []string `json:"added"`
}

// widens lists what next allows and base does not.
func widens(base, next tool.Grant) []Widening {
	var out []Widening
	add := func(field string, added []string) {
		if len(added) > 0 {
			out = append(out, Widening{field, added})
		}
	}
	add("net", moreNames(base.Net, next.Net, hostCovered))
	add("secrets", moreNames(tool.NameList(base.Secrets...), tool.NameList(next.Secrets...), slices.Contains[[]string]))
	add("exec", moreNames(tool.NameList(base.Exec...), tool.NameList(next.Exec...), slices.Contains[[]string]))
	add("call", moreNames(base.Call, next.Call, slices.Contains[[]string]))
	if fileRank(next.Files) > fileRank(base.Files) {
		add("files", []string{string(next.Files)})
	}
	return out
}

func moreNames(base, next *tool.Names, covered func([]string, string) bool) (added []string) {
	switch {
	case base != nil && base.Any, next == nil:
		return nil
	case next.Any:
		return []string{"any"}
	}
	for _, n := range next.List {
		if base == nil || !covered(base.List, n) {
			added = append(added, n)
		}
	}
	return added
}

// hostCovered says whether host is in the list, or under one of its wildcards.
func hostCovered(list []string, host string) bool {
	for _, allowed := range list {
		if allowed == host {
			return true
		}
		if suffix, ok := strings.CutPrefix(allowed, "*"); ok && strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}

func fileRank(f tool.FileAccess) int {
	return slices.Index([]tool.FileAccess{tool.NoFiles, tool.ReadFiles, tool.WriteFiles}, f)
}
