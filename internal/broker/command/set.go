package command

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"toolroom/tool"
)

const (
	maxOutput = 1 << 20  // of stdout and of stderr, in bytes
	maxArgs   = 64 << 10 // bytes of all arguments
	maxAtOnce = 16       // commands of one room; more wait
)

// Set is the commands that a room may run: names, and the files that they meant
// when the room was opened.
type Set struct {
	paths map[string]string
	turns chan struct{}
}

// Run is one command to run.
type Run struct {
	Name    string
	Args    []string
	Root    string // the workspace's folder; empty: none
	Dir     string // in Root, where it runs
	Write   bool   // whether it may change the workspace
	Input   []byte
	Timeout time.Duration // zero: until ctx ends
}

// Result is how a command ended. A command that a signal ended has 128 and the
// signal as its exit code, as shells say it.
type Result struct {
	ExitCode  int
	Stdout    []byte
	Stderr    []byte
	Truncated bool // an output was longer than 1 MiB
}

// NewSet resolves names, which have no path in them, once. The error is
// invalid_arguments: a command that is not there, or a system that cannot confine it.
func NewSet(names []string) (*Set, error) {
	s := &Set{paths: map[string]string{}, turns: make(chan struct{}, maxAtOnce)}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil || name != filepath.Base(name) {
			return nil, tool.Errorf(tool.InvalidArguments, "%q is not a command of this machine", name).
				WithHint("Name commands as they are found in PATH, without a path: --exec git.")
		}
		s.paths[name] = path
	}
	if len(names) == 0 {
		return s, nil
	}
	return s, confinable()
}

// Start-up errors apart, Run gives exec_denied for what may not run and
// exec_failed for what did not run to its end.
func (s *Set) Run(ctx context.Context, r Run) (Result, error) {
	path, ok := s.paths[r.Name]
	switch {
	case len(s.paths) == 0:
		return Result{}, tool.Errorf(tool.ExecDenied, "this room runs no commands").WithHint("The operator can name some with --exec COMMAND.")
	case !ok:
		return Result{}, tool.Errorf(tool.ExecDenied, "%.64q is not among the commands of this room", r.Name)
	}
	if err := checkArgs(r.Args); err != nil {
		return Result{}, err
	}
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return Result{}, tool.AsError(context.Cause(ctx))
	}
	return run(ctx, path, r)
}

func checkArgs(args []string) error {
	size := 0
	for _, a := range args {
		if size += len(a) + 1; size > maxArgs {
			return tool.Errorf(tool.ExecFailed, "the arguments are longer than %d bytes", maxArgs)
		}
		if strings.ContainsRune(a, 0) {
			return tool.Errorf(tool.ExecFailed, "an argument has a NUL character")
		}
	}
	return nil
}

// capped keeps the first maxOutput bytes and lets the rest go by.
type capped struct {
	kept []byte
	cut  bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := min(len(p), maxOutput-len(c.kept))
	c.kept = append(c.kept, p[:room]...)
	c.cut = c.cut || room < len(p)
	return len(p), nil
}
