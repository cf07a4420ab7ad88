//go:build !linux

package toolroom_test

// role does nothing here: the tests that want another process are Linux's.
func role() {}
