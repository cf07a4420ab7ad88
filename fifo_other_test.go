//go:build !unix

package toolroom_test

import "errors"

// mkfifo says that this system has no such files.
func mkfifo(string) error { return errors.ErrUnsupported }
