package files

import (
	"path"
	"strings"
	"unicode/utf8"

	"toolroom/tool"
)

const (
	maxPath  = 4096 // bytes
	maxName  = 255  // bytes
	maxDepth = 64   // names in a path
)

// split checks a path that a body wrote and cuts it into names. The folder
// itself, ".", has none.
func split(p string) ([]string, error) {
	switch {
	case p == "":
		return nil, deny(p, "is empty")
	case len(p) > maxPath:
		return nil, deny(p[:40], "is longer than any path")
	case strings.HasPrefix(p, "/"):
		return nil, deny(p, "is absolute").WithHint("Paths are relative to the workspace: notes/a.txt.")
	case !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return nil, deny(p, "has a character that file names cannot have")
	case strings.Contains(p, `\`):
		return nil, deny(p, "has a backslash").WithHint("Write / between folders.")
	}
	return cut(p)
}

func cut(p string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(p, "/") {
		switch {
		case name == "" || name == ".":
			continue
		case name == "..":
			return nil, deny(p, "has .. in it").WithHint("Paths are relative to the workspace and stay inside it.")
		case len(name) > maxName || len(names) == maxDepth:
			return nil, deny(p, "is longer than any path")
		}
		names = append(names, name)
	}
	return names, nil
}

// deny is path_denied, with the path as its author wrote it.
func deny(p, why string) *tool.Error {
	return tool.Errorf(tool.PathDenied, "%s %s", quote(p), why)
}

// invisible says whether the room keeps names, of a place in the folder, to itself.
func (f *Folder) invisible(names []string) bool {
	full := strings.ToLower(strings.Join(names, "/"))
	for _, h := range f.hidden {
		if full == h || strings.HasPrefix(full, h+"/") || strings.HasPrefix(full, h+"-") {
			return true // the dash: a database keeps its log in NAME-wal
		}
	}
	return strings.HasPrefix(strings.ToLower(names[len(names)-1]), tempPrefix)
}

// secret says whether the last of names looks like a place for secrets, which
// the workspace has not chosen to show.
func (f *Folder) secret(names []string) bool {
	name := strings.ToLower(names[len(names)-1])
	if !secretLike(name) {
		return false
	}
	full := strings.ToLower(strings.Join(names, "/"))
	for _, pattern := range f.opts.Show {
		if matches(pattern, name) || matches(pattern, full) {
			return false
		}
	}
	return true
}

func matches(pattern, name string) bool {
	ok, err := path.Match(strings.ToLower(pattern), name)
	return err == nil && ok
}

// secretLike knows the names, in lower case, under which tools of all trades
// keep credentials; and .git, whose hooks would run outside of any sandbox.
func secretLike(name string) bool {
	switch name {
	case ".env.example", ".env.sample", ".env.template":
		return false
	case ".env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".yarnrc.yml", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf",
		".dockercfg", ".boto", ".s3cfg", ".vault-token", ".terraformrc", "credentials.json", "service-account.json",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
		".git", ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".gcloud", ".toolroom":
		return true
	}
	for _, end := range []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".tfstate", ".env"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(name, ".env.")
}
