package secrets

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"sync"

	"toolroom/tool"
)

// Hosts says where a secret may be sent.
type Hosts interface {
	Allow(host string, port uint16) bool
}

// Wallet is the secrets of one call: those that its grant names.
type Wallet struct {
	store   *Store
	at      tool.Place
	granted []string
	hosts   func([]string) (Hosts, error)
	out     *Redactor

	mu   sync.Mutex
	held map[string]*held // by name
}

// held is a secret that the body has a stand-in for.
type held struct {
	name, standin, value string
	hosts                Hosts
}

// NewWallet opens the secrets of a call. store may be nil: there are none. hosts
// reads the hosts that a secret is bound to.
func NewWallet(store *Store, at tool.Place, granted []string, hosts func([]string) (Hosts, error)) *Wallet {
	return &Wallet{store: store, at: at, granted: granted, hosts: hosts, out: &Redactor{}, held: map[string]*held{}}
}

// StandIn is what a body gets instead of a secret: letters and digits that mean
// nothing, and come through URLs, JSON and forms unchanged. Refusals are secret_denied.
func (w *Wallet) StandIn(ctx context.Context, name string) (string, error) {
	h, err := w.take(ctx, name)
	if err != nil {
		return "", err
	}
	return h.standin, nil
}

func (w *Wallet) take(ctx context.Context, name string) (*held, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.held[name]; h != nil {
		return h, nil
	}
	one, err := w.load(ctx, name)
	if err != nil {
		return nil, err
	}
	hosts, err := w.hosts(one.Hosts)
	if err != nil {
		return nil, tool.Errorf(tool.SecretDenied, "the secret %s is bound to something that is no host", name).WithCause(err)
	}
	h := &held{name: name, standin: "trsecret" + strings.ToLower(rand.Text()), value: string(one.Value), hosts: hosts}
	w.held[name] = h
	w.out.add(h.value, h.standin)
	return h, nil
}

func (w *Wallet) load(ctx context.Context, name string) (*secret, error) {
	for _, g := range w.granted {
		if g == name && w.store != nil {
			one, err := w.store.get(ctx, w.at, name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil, tool.Errorf(tool.SecretDenied, "there is no secret %q in this workspace", name).
					WithHint("A person can add it: toolroom secret set %s.", name)
			case err != nil:
				return nil, tool.Errorf(tool.SecretDenied, "the secret %q cannot be read", name).WithCause(err)
			}
			return one, nil
		}
	}
	return nil, tool.Errorf(tool.SecretDenied, "this tool was not granted the secret %.64q", name).
		WithHint("Its grant must name the secret; widening a grant needs an approval.")
}

// Sign is the HMAC of data under a secret. algorithm is sha1, sha256, sha384 or
// sha512, also written SHA-256.
func (w *Wallet) Sign(ctx context.Context, name, algorithm string, data []byte) ([]byte, error) {
	with, err := digest(algorithm)
	if err != nil {
		return nil, err
	}
	h, err := w.take(ctx, name)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(with, []byte(h.value))
	mac.Write(data)
	return mac.Sum(nil), nil
}

func digest(algorithm string) (func() hash.Hash, error) {
	switch strings.ToLower(strings.ReplaceAll(algorithm, "-", "")) {
	case "sha1":
		return sha1.New, nil
	case "sha256":
		return sha256.New, nil
	case "sha384":
		return sha512.New384, nil
	case "sha512":
		return sha512.New, nil
	}
	return nil, tool.Errorf(tool.SecretDenied, "%.20q is no algorithm to sign with", algorithm).WithHint("There are sha1, sha256, sha384 and sha512.")
}

// fill swaps the stand-ins in text for encoded values. A secret that is not
// bound to the host is secret_denied, and nothing is sent.
func (w *Wallet) fill(host string, port uint16, text string, encode func(string) string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.held {
		if !strings.Contains(text, h.standin) {
			continue
		}
		if !h.hosts.Allow(host, port) {
			return "", tool.Errorf(tool.SecretDenied, "the secret %s may not be sent to %s", h.name, host).
				WithHint("A person can bind it to that host: toolroom secret set %s.", h.name)
		}
		text = strings.ReplaceAll(text, h.standin, encode(h.value))
	}
	return text, nil
}

// FillURL puts secrets into a path or a query, percent-encoded.
func (w *Wallet) FillURL(host string, port uint16, text string) (string, error) {
	return w.fill(host, port, text, percent)
}

// FillHeader puts secrets into a header's value; also into the user and
// password of Basic authorization, which the body has encoded already.
func (w *Wallet) FillHeader(host string, port uint16, _, value string) (string, error) {
	scheme, coded, found := strings.Cut(value, " ")
	if found && strings.EqualFold(scheme, "Basic") {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(coded)); err == nil {
			filled, err := w.fill(host, port, string(plain), same)
			if err != nil || filled == string(plain) {
				return value, err
			}
			sent := base64.StdEncoding.EncodeToString([]byte(filled))
			w.out.addForm(sent, strings.TrimSpace(coded))
			return scheme + " " + sent, nil
		}
	}
	return w.fill(host, port, value, same)
}

// FillBody puts secrets into a request's body, encoded as its type wants it.
func (w *Wallet) FillBody(host string, port uint16, contentType string, body []byte) ([]byte, error) {
	if len(body) == 0 || !w.any() {
		return body, nil
	}
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	encode := same
	switch kind = strings.TrimSpace(kind); {
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		encode = inJSON
	case kind == "application/x-www-form-urlencoded":
		encode = url.QueryEscape
	}
	filled, err := w.fill(host, port, string(body), encode)
	return []byte(filled), err
}

func (w *Wallet) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.held) > 0
}

// Redactor takes this call's secrets out of anything; it goes on working after
// the call.
func (w *Wallet) Redactor() *Redactor { return w.out }

// Redact takes secrets out of a text that came back.
func (w *Wallet) Redact(text string) string { return w.out.String(text) }

// Reader takes secrets out of a body that comes back.
func (w *Wallet) Reader(r io.Reader) io.Reader { return w.out.Reader(r) }

func same(s string) string { return s }

func percent(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// inJSON is s as the inside of a JSON string.
func inJSON(s string) string {
	quoted, _ := json.Marshal(s) // a string always encodes
	return string(quoted[1 : len(quoted)-1])
}
