//go:build !unix

package files

import "io/fs"

// noWait has no meaning here: opening a file does not wait.
const noWait = 0

// links is how many names a file has, as far as this system tells.
func links(fs.FileInfo) uint64 { return 1 }
