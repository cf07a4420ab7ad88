package cli

import "runtime/debug"

// Version is the version of the module this program was built from, "devel"
// when it was built from a working copy.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
