package secrets

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"toolroom/tool"
)

// Key gives the age identities, one per line, that secrets are encrypted with:
// the first encrypts, all decrypt.
type Key func(ctx context.Context) ([]byte, error)

// KeyFile is a key in a file of mode 0600, which is made when it is first needed.
func KeyFile(path string) Key {
	return func(context.Context) ([]byte, error) {
		text, err := readKey(path)
		if errors.Is(err, fs.ErrNotExist) {
			if err = makeKey(path); err == nil {
				text, err = readKey(path)
			}
		}
		if err != nil {
			return nil, tool.Errorf(tool.StorageFailed, "the key of the secrets, %s, cannot be used: %w", path, err)
		}
		return text, nil
	}
}

func readKey(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if ownMode && info.Mode().Perm()&0o077 != 0 {
		return nil, tool.Errorf(tool.StorageFailed, "others may read it; run chmod 600")
	}
	return io.ReadAll(io.LimitReader(file, 64<<10))
}

// makeKey puts a new key at path, whole, unless somebody else was faster.
func makeKey(path string) error {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := writeTemp(filepath.Dir(path), []byte(identity.String()+"\n"))
	if err != nil {
		return err
	}
	defer os.Remove(temp) // it has its second name by then
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// KeyVariable is a key in an environment variable.
func KeyVariable(name string) Key {
	return func(context.Context) ([]byte, error) {
		if v := os.Getenv(name); v != "" {
			return []byte(v), nil
		}
		return nil, tool.Errorf(tool.StorageFailed, "the key of the secrets is not in the environment: %s is empty", name)
	}
}

// KeyCommand is a key that a command prints, such as a password manager's.
func KeyCommand(command string, args ...string) Key {
	return func(ctx context.Context) ([]byte, error) {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, command, args...)
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, tool.Errorf(tool.StorageFailed, "%s did not give the key of the secrets: %w %s", command, err, strings.TrimSpace(stderr.String()))
		}
		return out, nil
	}
}

// parse reads a key into what encrypts and what decrypts.
func parse(text []byte) (age.Recipient, []age.Identity, error) {
	identities, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil || len(identities) == 0 { // the error might quote the key: it is not passed on
		return nil, nil, tool.Errorf(tool.StorageFailed, "the key of the secrets is not an age identity").
			WithHint("Make one with age-keygen: a line that starts with AGE-SECRET-KEY-.")
	}
	switch first := identities[0].(type) {
	case *age.X25519Identity:
		return first.Recipient(), identities, nil
	case *age.HybridIdentity:
		return first.Recipient(), identities, nil
	}
	return nil, nil, tool.Errorf(tool.StorageFailed, "the key of the secrets is of a kind that cannot encrypt")
}
