package files

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"toolroom/tool"
)

func missing(p string) *tool.Error {
	return tool.Errorf(tool.NotAFile, "%s does not exist", quote(p))
}

func notFile(p, why string) *tool.Error {
	return tool.Errorf(tool.NotAFile, "%s %s", quote(p), why)
}

// explain is an error of the system in words that name the path as its author
// wrote it, and no other path of this machine. A nil error stays nil.
func explain(p string, err error) error {
	var known *tool.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, fs.ErrNotExist):
		return missing(p)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return tool.Errorf(tool.QuotaExceeded, "%s was not written: the disk is full", quote(p)).WithCause(err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return tool.Errorf(tool.Overloaded, "%s could not be opened: too many files are open in this room", quote(p)).WithCause(err)
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, fs.ErrExist):
		return deny(p, "is not empty").WithHint("Remove a folder and all that is in it with {recursive: true}.").WithCause(err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return notFile(p, "is not what it was a moment ago").WithCause(err)
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV):
		return notFile(p, "is not a regular file").WithCause(err)
	}
	return deny(p, "is not accessible to the room").WithCause(err)
}

// quote shows a path in a message: on one line, and not too much of it.
func quote(p string) string {
	const most = 120
	if len(p) > most {
		p = strings.ToValidUTF8(p[:most], "") + "..."
	}
	return strconv.Quote(p)
}
