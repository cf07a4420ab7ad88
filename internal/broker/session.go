package broker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"toolroom/internal/broker/egress"
	"toolroom/internal/broker/secrets"
	"toolroom/internal/wire"
	"toolroom/tool"
)

// Call says for whom a session is: what was decided when the call was resolved.
type Call struct {
	Place tool.Place
	Root  string     // the workspace's folder, an absolute path
	Scope tool.Scope // only ScopeWorkspace has files
	Grant tool.Grant // complete: what it does not say is not granted
	Show  []string   // secret-like files that this workspace shows, beside the room's Files.Show; read when its first file is
}

// maxRequests is how many requests one call may make, beside reading bodies.
const maxRequests = 1000

// Session serves one call.
type Session struct {
	broker *Broker
	call   Call
	space  *space
	net    *egress.Client
	wallet *secrets.Wallet

	life     context.Context
	end      context.CancelFunc
	requests atomic.Int64

	mu      sync.Mutex
	closed  bool
	serving sync.WaitGroup
}

// Session opens what a call may use. It ends with ctx or Close, which waits
// for what is under way. Errors: stopped, or invalid_definition for a grant that cannot be read.
func (b *Broker) Session(ctx context.Context, c Call) (*Session, error) {
	allow, err := egress.ParseHosts(c.Grant.Net)
	if err != nil {
		return nil, err
	}
	space, err := b.space(c.Place, c.Root)
	if err != nil {
		return nil, err
	}
	s := &Session{broker: b, call: c, space: space, wallet: secrets.NewWallet(b.opts.Secrets, c.Place, c.Grant.Secrets, bound)}
	s.life, s.end = context.WithCancel(ctx)
	s.net = space.pool.NewClient(s.life, allow, s.wallet)
	return s, nil
}

// bound reads the hosts that a secret is bound to.
func bound(list []string) (secrets.Hosts, error) { return egress.ParseHosts(tool.NameList(list...)) }

// Serve answers one request of the call's body. It returns soon after ctx or
// the session ends. Values are JSON; out is raw bytes, or JSON that may be too large for a value.
func (s *Session) Serve(ctx context.Context, op string, args json.RawMessage, data []byte) (value json.RawMessage, out []byte, fail *tool.Error) {
	answer, out, err := s.serve(ctx, op, args, data)
	if err == nil && answer != nil {
		value, err = json.Marshal(answer)
	}
	if err != nil {
		return nil, nil, s.failure(op, err)
	}
	return value, out, nil
}

// failure is err as the body may see it: without secrets, and without what
// only the room's log may hold.
func (s *Session) failure(op string, err error) *tool.Error {
	e := *tool.AsError(err)
	if cause := errors.Unwrap(&e); cause != nil && !errors.Is(cause, context.Canceled) {
		s.broker.opts.Log.Debug("a request failed", "op", op, "code", e.Code, "cause", s.wallet.Redact(cause.Error()))
	}
	e.Message, e.Hint = s.wallet.Redact(e.Message), s.wallet.Redact(e.Hint)
	return &e
}

func (s *Session) serve(ctx context.Context, op string, args json.RawMessage, data []byte) (any, []byte, error) {
	if !s.enter() {
		return nil, nil, tool.Errorf(tool.Cancelled, "the call is over")
	}
	defer s.serving.Done()
	handle, takesData := s.operation(op)
	switch {
	case handle == nil:
		return nil, nil, tool.Errorf(tool.CapabilityDenied, "there is no capability %.40q", op)
	case len(data) > 0 && !takesData:
		return nil, nil, tool.Errorf(tool.CapabilityDenied, "%s takes no data", op)
	}
	if err := s.Count(op); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })()
	return handle(ctx, args, data)
}

// enter says whether the session is open, and keeps Close waiting.
func (s *Session) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.serving.Add(1)
	return true
}

// Count holds the call to its number of requests, with those that others serve for
// it: rate_limited. Reading on in a body that was counted already is free.
func (s *Session) Count(op string) error {
	if op == "net.read" || op == "net.close" {
		return nil
	}
	if s.requests.Add(1) > maxRequests {
		e := tool.Errorf(tool.RateLimited, "this call has made %d requests to the room, and more are not allowed", maxRequests)
		e.Retryable = false
		return e
	}
	return nil
}

// handler serves one operation.
type handler func(ctx context.Context, args json.RawMessage, data []byte) (value any, out []byte, err error)

// operation finds what serves op, and whether op takes data.
func (s *Session) operation(op string) (serve handler, takesData bool) {
	switch op {
	case "net.fetch":
		return s.fetch, true
	case "net.read":
		return s.readBody, false
	case "net.close":
		return s.closeBody, false
	case "files.read":
		return withFiles(s, false, readFile), false
	case "files.write":
		return withFiles(s, true, writeFile), true
	case "files.list":
		return withFiles(s, false, listFiles), false
	case "files.stat":
		return withFiles(s, false, statFile), false
	case "files.remove":
		return withFiles(s, true, removeFile), false
	case "files.mkdir":
		return withFiles(s, true, makeFolder), false
	case "exec.run":
		return s.runCommand, true
	case "secrets.standin":
		return s.standIn, false
	case "secrets.hmac":
		return s.sign, true
	}
	return nil, false
}

// decode reads arguments strictly into a T: what it does not know, what comes
// twice and what is written in another case is an error.
func decode[T any](args json.RawMessage) (T, error) {
	var into T
	if len(args) > wire.MaxMeta {
		return into, tool.Errorf(tool.CapabilityDenied, "the request has %d bytes of arguments", len(args))
	}
	if err := wire.Decode(args, &into); err != nil {
		return into, tool.Errorf(tool.CapabilityDenied, "the request's arguments cannot be read").WithCause(err)
	}
	return into, nil
}

// Redactor takes the secrets of this call out of logs, results and errors, also
// after Close.
func (s *Session) Redactor() *secrets.Redactor { return s.wallet.Redactor() }

// Reader is r without this call's secrets.
func (s *Session) Reader(r io.Reader) io.Reader { return s.wallet.Reader(r) }

// Report is what a call did outside, for its record.
type Report struct {
	Requests int64         `json:"requests"` // to the broker, reading bodies apart
	BytesIn  int64         `json:"bytes_in"` // of network bodies, as they came
	BytesOut int64         `json:"bytes_out"`
	Egress   []egress.Sent `json:"egress,omitempty"`
}

// Report tells what the call did so far.
func (s *Session) Report() Report {
	in, out := s.net.Bytes()
	return Report{Requests: min(s.requests.Load(), maxRequests), BytesIn: in, BytesOut: out, Egress: s.net.Sent()}
}

// Close ends the call: its streams and sockets are closed, its commands killed,
// and what it asks for from now on is refused. It waits until that is so. Closing twice is fine.
func (s *Session) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.net.Close()
	s.serving.Wait()
	s.net.Close() // a stream that was opened while the first was closing them
}
