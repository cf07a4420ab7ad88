package toolroom

import (
	"context"
	"path/filepath"

	"toolroom/internal/broker"
	"toolroom/internal/broker/egress"
	"toolroom/internal/broker/files"
	"toolroom/internal/broker/secrets"
	"toolroom/tool"
)

// Secret is what may be told about a secret. Its value is never given back.
type Secret = secrets.Info

// SecretKey gives the age identities that secrets are encrypted with, one a
// line: the first encrypts, all decrypt.
type SecretKey = secrets.Key

// SecretKeyVariable is a key in an environment variable.
func SecretKeyVariable(name string) SecretKey { return secrets.KeyVariable(name) }

// SecretKeyCommand is a key that a command prints.
func SecretKeyCommand(command string, args ...string) SecretKey {
	return secrets.KeyCommand(command, args...)
}

// openBroker gives the operator's choices to the broker. The room's own data
// is hidden from tools even where it lies inside a workspace.
func openBroker(o Options) (*broker.Broker, error) {
	data, err := filepath.Abs(o.Data)
	if err != nil {
		return nil, tool.Errorf(tool.StorageFailed, "the data directory %q has no absolute path", o.Data).WithCause(err)
	}
	key := o.SecretKey
	if key == nil {
		key = secrets.KeyFile(filepath.Join(data, "secrets.key"))
	}
	return broker.Open(broker.Options{
		Net:     egress.Options{None: o.NoNet, AllowPrivate: o.AllowPrivate},
		Files:   files.Options{Hidden: []string{data}, Show: o.ExposeSecretFiles},
		Usage:   filepath.Join(data, "usage"),
		Exec:    o.Exec,
		Secrets: secrets.NewStore(filepath.Join(data, "secrets"), key),
		Log:     o.Logger,
	})
}

// SetSecret keeps a secret of this workspace, bound to hosts, in place of an
// older one of that name. Without hosts it can sign and is sent nowhere. A model may not.
func (w *Workspace) SetSecret(ctx context.Context, name string, value []byte, hosts []string) error {
	return w.secret(func(b *broker.Broker) error { return b.SetSecret(ctx, w.principal.Place, name, value, hosts) })
}

// DeleteSecret forgets a secret. A model may not.
func (w *Workspace) DeleteSecret(ctx context.Context, name string) error {
	return w.secret(func(b *broker.Broker) error { return b.DeleteSecret(ctx, w.principal.Place, name) })
}

// Secrets lists the secrets of this workspace by name, without their values.
func (w *Workspace) Secrets(ctx context.Context) (found []Secret, err error) {
	err = w.secret(func(b *broker.Broker) error {
		found, err = b.Secrets(ctx, w.principal.Place)
		return err
	})
	return found, err
}

func (w *Workspace) secret(do func(*broker.Broker) error) error {
	if w.principal.Kind == tool.Model {
		return tool.Errorf(tool.Forbidden, "a model does not manage secrets").WithHint("Ask the user: toolroom secret set NAME --host HOST.")
	}
	if err := w.room.enter(); err != nil {
		return err
	}
	defer w.room.work.Done()
	return wrap(do(w.room.broker))
}
