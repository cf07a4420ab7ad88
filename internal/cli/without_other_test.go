//go:build !linux

package cli_test

// programs are what scripts can run besides the system's.
func programs() map[string]func() { return map[string]func(){"toolroom": run} }
