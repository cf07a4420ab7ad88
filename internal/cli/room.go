package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"toolroom"
	"toolroom/tool"
)

// withWorkspace opens the room, does something in the workspace of --root and
// closes the room again. A room that does not open is exit code 3.
func (a *app) withWorkspace(ctx context.Context, kind tool.Kind, do func(*toolroom.Workspace) error) error {
	return a.withRoom(ctx, func(room *toolroom.Room, root string) error {
		w, err := room.Workspace(principal(kind, root), root)
		if err != nil {
			return startError{err}
		}
		return do(w)
	})
}

func (a *app) withRoom(ctx context.Context, do func(room *toolroom.Room, root string) error) (err error) {
	opts, err := a.options()
	if err != nil {
		return err
	}
	root, err := a.workspaceRoot()
	if err != nil {
		return startError{err}
	}
	if opts.Data, err = a.dataDir(); err != nil {
		return startError{err}
	}
	opts.SecretKey = a.secretKey()
	room, err := toolroom.Open(ctx, opts)
	if ctx.Err() != nil {
		return tool.AsError(errors.Join(ctx.Err(), closed(room)))
	}
	if tool.CodeOf(err) == tool.InvalidArguments {
		return usageError{err: err} // a choice that no machine could meet
	}
	if err != nil {
		return startError{err}
	}
	defer func() {
		if cerr := room.Close(); err == nil && cerr != nil {
			err = cerr
		}
	}()
	return do(room, root)
}

// closed closes a room that opened although its opener has left.
func closed(room *toolroom.Room) error {
	if room == nil {
		return nil
	}
	return room.Close()
}

// principal is who the command line acts as: of the one local tenant, in the
// workspace that its folder names. Bodies see that name, so it holds the folder's own
// name and a hash in place of the path.
func principal(kind tool.Kind, root string) tool.Principal {
	sum := sha256.Sum256([]byte(root))
	name := fmt.Sprintf("%s-%x", filepath.Base(root), sum[:4])
	return tool.Principal{Place: tool.Place{Tenant: "local", Workspace: name}, Kind: kind, ID: "cli"}
}

// workspaceRoot is --root as one folder always spells it, so that it names the
// same workspace from everywhere.
func (a *app) workspaceRoot() (string, error) {
	root := a.root
	if root == "" {
		root = "."
	}
	root, err := filepath.Abs(root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", tool.Errorf(tool.NotFound, "--root %s: there is no such folder", a.root).WithCause(err).WithHint("Make the folder first, or name another.")
	}
	return root, nil
}

// dataDir is --data, or the folder for a program's data on this system.
func (a *app) dataDir() (string, error) {
	if a.data != "" {
		return filepath.Abs(a.data)
	}
	if dir := a.getenv("XDG_DATA_HOME"); dir != "" && runtime.GOOS != "windows" {
		return filepath.Join(dir, "toolroom"), nil
	}
	if runtime.GOOS != "linux" {
		dir, err := os.UserConfigDir() // on macOS and Windows, this is where data goes too
		return filepath.Join(dir, "toolroom"), err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", tool.Errorf(tool.StorageFailed, "there is no home directory to keep data in").WithCause(err).WithHint("Say where with --data DIR.")
	}
	return filepath.Join(home, ".local", "share", "toolroom"), nil
}

// maxValue bounds what a flag reads from a file or standard input.
const maxValue = 16 << 20

// jsonValue is value for a flag that takes JSON.
func (a *app) jsonValue(flag, text string) (json.RawMessage, error) {
	given, err := a.value(flag, text)
	if err == nil && !json.Valid([]byte(given)) {
		err = usageError{err: fmt.Errorf("%s: this is not JSON", flag)}
	}
	return json.RawMessage(given), err
}

// value is what a flag means: itself, the content of a file after @, or
// standard input for -.
func (a *app) value(flag, text string) (string, error) {
	var from io.Reader
	switch {
	case text == "-":
		from = a.in
	case strings.HasPrefix(text, "@"):
		f, err := os.Open(text[1:])
		if err != nil {
			return "", usageError{err: fmt.Errorf("%s: %w", flag, err)}
		}
		defer f.Close()
		from = f
	default:
		return text, nil
	}
	b, err := io.ReadAll(io.LimitReader(from, maxValue+1))
	if err != nil {
		return "", usageError{err: fmt.Errorf("%s: %w", flag, err)}
	}
	if len(b) > maxValue {
		return "", usageError{err: fmt.Errorf("%s: more than %d bytes, the most that a value may have", flag, maxValue)}
	}
	return string(b), nil
}
