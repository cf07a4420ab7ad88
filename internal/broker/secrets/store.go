package secrets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"filippo.io/age"

	"toolroom/tool"
)

const (
	minValue = 4        // bytes: what is shorter cannot be found again in what comes back
	maxValue = 16 << 10 // bytes
	ending   = ".age"
)

// Info is what may be told about a secret. Its value is never given back.
type Info struct {
	Name    string    `json:"name"`
	Hosts   []string  `json:"hosts"`
	Updated time.Time `json:"updated"`
}

// secret is the content of an encrypted file. Place and name are in it, so that
// a file that was renamed is not taken for another secret.
type secret struct {
	tool.Place
	Info
	Value []byte `json:"value"`
}

// Store keeps secrets in a directory, one encrypted file each. Several
// processes may use the same directory.
type Store struct {
	dir string
	key Key

	mu         sync.Mutex
	recipient  age.Recipient
	identities []age.Identity
}

// NewStore is a store in dir, which is made when it is needed, as is the key.
func NewStore(dir string, key Key) *Store { return &Store{dir: dir, key: key} }

// Set keeps a secret, in place of an older one of that name. Without hosts it
// can sign and is sent nowhere. Bad input is invalid_arguments; the hosts are the caller's to check.
func (s *Store) Set(ctx context.Context, at tool.Place, name string, value []byte, hosts []string) error {
	switch {
	case !validName(name):
		return tool.Errorf(tool.InvalidArguments, "%q cannot be the name of a secret", name).
			WithHint("A name begins with a letter and goes on with letters, digits and _ . -, 64 at most.")
	case len(value) < minValue || len(value) > maxValue:
		return tool.Errorf(tool.InvalidArguments, "the value of %s has %d bytes; %d to %d are possible", name, len(value), minValue, maxValue)
	}
	if hosts == nil {
		hosts = []string{}
	}
	content, err := json.Marshal(secret{Place: at, Info: Info{Name: name, Hosts: hosts, Updated: time.Now().UTC()}, Value: value})
	if err != nil {
		return failed("writing", name, err)
	}
	sealed, err := s.seal(ctx, content)
	if err != nil {
		return failed("encrypting", name, err)
	}
	return failed("writing", name, s.put(s.file(at, name), sealed))
}

func (s *Store) put(path string, content []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	temp, err := writeTemp(s.dir, content)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(temp) // the first error is the one to tell
		return err
	}
	return nil
}

// writeTemp writes a file that only its owner may read, down to the disk.
func writeTemp(dir string, content []byte) (string, error) {
	file, err := os.CreateTemp(dir, ".new-*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the first error is the one to tell
		return "", err
	}
	return file.Name(), nil
}

// List names the secrets of a workspace, in order.
func (s *Store) List(ctx context.Context, at tool.Place) ([]Info, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("listing", "all secrets", err)
	}
	list := []Info{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ending) || !strings.HasPrefix(e.Name(), prefix(at)) {
			continue
		}
		one, err := s.read(ctx, filepath.Join(s.dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, failed("reading", e.Name(), err)
		}
		if one.Place == at {
			list = append(list, one.Info)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list, nil
}

// Delete forgets a secret; one that is not there is not_found.
func (s *Store) Delete(_ context.Context, at tool.Place, name string) error {
	err := os.Remove(s.file(at, name))
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Errorf(tool.NotFound, "there is no secret %q in this workspace", name)
	}
	return failed("deleting", name, err)
}

// get is a secret with its value; fs.ErrNotExist if there is none.
func (s *Store) get(ctx context.Context, at tool.Place, name string) (*secret, error) {
	one, err := s.read(ctx, s.file(at, name))
	if err == nil && (one.Place != at || one.Name != name) {
		return nil, fs.ErrNotExist
	}
	return one, err
}

func (s *Store) read(ctx context.Context, path string) (*secret, error) {
	sealed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	content, err := s.unseal(ctx, sealed)
	if err != nil {
		return nil, err
	}
	one := new(secret)
	return one, json.Unmarshal(content, one)
}

func (s *Store) seal(ctx context.Context, content []byte) ([]byte, error) {
	if err := s.unlock(ctx); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, s.recipient)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil { // writes the last of it
		return nil, err
	}
	return out.Bytes(), nil
}

func (s *Store) unseal(ctx context.Context, sealed []byte) ([]byte, error) {
	if err := s.unlock(ctx); err != nil {
		return nil, err
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), s.identities...)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, 2*maxValue+64<<10))
}

// unlock loads the key the first time that it is needed.
func (s *Store) unlock(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recipient != nil {
		return nil
	}
	text, err := s.key(ctx)
	if err != nil {
		return err
	}
	s.recipient, s.identities, err = parse(text)
	return err
}

// file is where a secret is kept. Names are hashed: a case-insensitive disk and
// a name with odd characters must not bring two secrets together.
func (s *Store) file(at tool.Place, name string) string {
	return filepath.Join(s.dir, prefix(at)+digestOf(name)+ending)
}

func prefix(at tool.Place) string { return digestOf(at.Tenant, at.Workspace) + "-" }

func digestOf(parts ...string) string {
	text, _ := json.Marshal(parts) // strings always encode, and no two lists alike
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

func validName(name string) bool {
	for i, c := range []byte(name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789_.-", rune(c))) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// failed is a failure of the storage; nil stays nil.
func failed(doing, name string, err error) error {
	var known *tool.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	}
	return tool.Errorf(tool.StorageFailed, "%s %s failed: %w", doing, name, err)
}
