package broker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"toolroom/internal/broker/command"
	"toolroom/internal/broker/egress"
	"toolroom/internal/broker/files"
	"toolroom/internal/broker/secrets"
	"toolroom/tool"
)

// Options are what a room allows. The zero value has the public network, files
// within the default quota, no command and no secret.
type Options struct {
	Net     egress.Options
	Files   files.Options
	Usage   string         // directory that keeps how much of its quota each workspace has used; "": nowhere
	Exec    []string       // names of commands
	Secrets *secrets.Store // nil: there are none
	Log     *slog.Logger   // what went wrong inside; nil: slog.Default()
}

// Broker serves the capabilities of all calls of a room.
type Broker struct {
	opts     Options
	guard    *egress.Guard
	commands *command.Set

	mu     sync.Mutex
	spaces map[key]*space
	closed bool
}

// key is a workspace with the folder it has.
type key struct {
	tool.Place
	root string
}

// space is what the calls of one workspace share, and no other workspace sees.
type space struct {
	pool *egress.Pool

	opening sync.Mutex
	folder  *files.Folder
}

// Open checks the options. Errors are the operator's: invalid_arguments.
func Open(o Options) (*Broker, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	guard, err := egress.NewGuard(o.Net)
	if err != nil {
		return nil, err
	}
	commands, err := command.NewSet(o.Exec)
	if err != nil {
		return nil, err
	}
	return &Broker{opts: o, guard: guard, commands: commands, spaces: map[key]*space{}}, nil
}

// CheckGrant says whether a grant can be served: today, whether the hosts it
// names are hosts. The error is invalid_definition.
func CheckGrant(g tool.Grant) error {
	_, err := egress.ParseHosts(g.Net)
	return err
}

// SetSecret keeps a secret of a workspace, bound to hosts, in place of an older
// one of that name.
func (b *Broker) SetSecret(ctx context.Context, at tool.Place, name string, value []byte, hosts []string) error {
	if b.opts.Secrets == nil {
		return noSecrets()
	}
	if _, err := egress.ParseHosts(tool.NameList(hosts...)); err != nil {
		return err
	}
	return b.opts.Secrets.Set(ctx, at, name, value, hosts)
}

// Secrets lists what may be told about the secrets of a workspace.
func (b *Broker) Secrets(ctx context.Context, at tool.Place) ([]secrets.Info, error) {
	if b.opts.Secrets == nil {
		return []secrets.Info{}, nil
	}
	return b.opts.Secrets.List(ctx, at)
}

// DeleteSecret forgets a secret; one that is not there is not_found.
func (b *Broker) DeleteSecret(ctx context.Context, at tool.Place, name string) error {
	if b.opts.Secrets == nil {
		return noSecrets()
	}
	return b.opts.Secrets.Delete(ctx, at, name)
}

// usageFile is where the quota of a call's workspace is kept, in a name that no
// tenant can choose.
func (b *Broker) usageFile(c Call) string {
	if b.opts.Usage == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", c.Place.Tenant, c.Place.Workspace, c.Root))
	return filepath.Join(b.opts.Usage, hex.EncodeToString(sum[:16])+".json")
}

func noSecrets() error {
	return tool.Errorf(tool.NotFound, "this room keeps no secrets")
}

// space is the one of a workspace, made when it is first asked for.
func (b *Broker) space(at tool.Place, root string) (*space, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, tool.Errorf(tool.Stopped, "the room is closing")
	}
	k := key{at, root}
	s := b.spaces[k]
	if s == nil {
		s = &space{pool: b.guard.NewPool()}
		b.spaces[k] = s
	}
	return s, nil
}

// files is the workspace's folder, opened when a tool first wants it.
func (s *space) files(c Call, o files.Options, usage string) (*files.Folder, error) {
	o.Show = slices.Concat(o.Show, c.Show)
	o.Usage = usage
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.folder != nil {
		return s.folder, nil
	}
	folder, err := files.Open(c.Root, o)
	if err != nil {
		return nil, tool.Errorf(tool.CapabilityDenied, "the folder of this workspace cannot be opened").WithCause(err)
	}
	s.folder = folder
	return folder, nil
}

func (s *space) close() error {
	s.pool.Close()
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.folder == nil {
		return nil
	}
	return s.folder.Close()
}

// Forget closes what a workspace holds open: its connections and its folder. Its
// sessions are closed before.
func (b *Broker) Forget(at tool.Place) error {
	b.mu.Lock()
	var gone []*space
	for k, s := range b.spaces {
		if k.Place == at {
			gone = append(gone, s)
			delete(b.spaces, k)
		}
	}
	b.mu.Unlock()
	return closeAll(gone)
}

// Close closes everything; sessions are closed before. Closing twice is fine.
func (b *Broker) Close() error {
	b.mu.Lock()
	b.closed = true
	var gone []*space
	for k, s := range b.spaces {
		gone = append(gone, s)
		delete(b.spaces, k)
	}
	b.mu.Unlock()
	return closeAll(gone)
}

func closeAll(spaces []*space) error {
	var first error
	for _, s := range spaces {
		if err := s.close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
