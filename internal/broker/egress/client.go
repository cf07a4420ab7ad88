package egress

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"toolroom/tool"
)

const (
	maxParallel = 64      // exchanges of one call between request and headers; more wait
	maxUpload   = 8 << 20 // bytes of a request's body
)

// Vault puts secrets into what goes out and takes them out of what comes back.
// Each of the first three refuses a stand-in whose secret is not bound to t.
type Vault interface {
	FillURL(host string, port uint16, text string) (string, error)
	FillHeader(host string, port uint16, name, value string) (string, error)
	FillBody(host string, port uint16, contentType string, body []byte) ([]byte, error)
	Redact(text string) string
	Reader(r io.Reader) io.Reader
}

// Request is what a body asks for.
type Request struct {
	URL       string   `json:"url"`
	Method    string   `json:"method"`
	Headers   []Header `json:"headers"`
	Redirect  string   `json:"redirect"`  // follow (default), manual, error
	TimeoutMS int64    `json:"timeoutMs"` // until the whole answer is there; 0: the call's own deadline
	MaxBytes  int64    `json:"maxBytes"`  // of the decoded response; may only tighten
	Body      []byte   `json:"-"`
}

// Response is the head of an answer. Stream names the rest of the body for
// Client.Read; with Done there is none.
type Response struct {
	URL        string   `json:"url"`
	Status     int      `json:"status"`
	StatusText string   `json:"statusText"`
	Headers    []Header `json:"headers"`
	Redirected bool     `json:"redirected"`
	Stream     uint64   `json:"stream"`
	Done       bool     `json:"done"`
}

// Sent is the record of one request that left, redirects included.
type Sent struct {
	Method string        `json:"method"`
	Host   string        `json:"host"` // with a port that is not the scheme's own
	Status int           `json:"status,omitempty"`
	Took   time.Duration `json:"took_ns"` // until the headers
}

// Client is the network of one call.
type Client struct {
	pool     *Pool
	allow    Hosts
	vault    Vault
	life     context.Context
	end      context.CancelFunc
	parallel chan struct{}
	in, out  atomic.Int64

	mu      sync.Mutex
	streams map[uint64]*stream
	last    uint64
	sent    []Sent
}

// NewClient opens the network for a call, which ends with ctx or Close. vault
// may be nil: then there are no secrets.
func (p *Pool) NewClient(ctx context.Context, allow Hosts, vault Vault) *Client {
	if vault == nil {
		vault = noVault{}
	}
	c := &Client{pool: p, allow: allow, vault: vault, parallel: make(chan struct{}, maxParallel), streams: map[uint64]*stream{}}
	c.life, c.end = context.WithCancel(ctx)
	return c
}

// Fetch makes a request and follows its redirects. It returns the head and the
// first part of the body. ctx is the request's; the rest of the body lives until
// it is read, closed, or the call ends.
func (c *Client) Fetch(ctx context.Context, r *Request) (*Response, []byte, error) {
	h, err := firstHop(r)
	if err != nil {
		return nil, nil, err
	}
	x := c.begin(ctx, time.Duration(r.TimeoutMS)*time.Millisecond)
	head, data, err := c.exchange(x, h, r)
	if !x.returned() && err == nil {
		err = tool.AsError(context.Cause(ctx))
	}
	if err != nil {
		x.finish()
		return nil, nil, c.hide(err)
	}
	return head, data, nil
}

// exchange is Fetch between taking and giving back the tokens.
func (c *Client) exchange(x *exchange, h *hop, r *Request) (*Response, []byte, error) {
	if err := x.admit(c); err != nil {
		return nil, nil, problem(h.method, h.target, err)
	}
	defer release(c.parallel)
	resp, h, err := c.follow(x, h, r.Redirect)
	if err != nil {
		return nil, nil, err
	}
	x.onFinish(func() { resp.Body.Close() })
	body, err := decoded(resp, c.limit(r.MaxBytes), &c.in)
	if err != nil {
		return nil, nil, err
	}
	s := newStream(c.vault.Reader(body), resp.ContentLength, x.finish, func(err error) error { return c.hide(problem(h.method, h.target, x.why(err))) })
	data, done, err := s.first(x.ctx)
	if err != nil {
		s.close()
		return nil, nil, err
	}
	return c.head(resp, h, s, done), data, nil
}

func (c *Client) limit(asked int64) int64 {
	if most := c.pool.guard.opts.MaxBody; asked <= 0 || asked > most {
		return most
	}
	return asked
}

// head describes resp, and keeps s if there is more to come.
func (c *Client) head(resp *http.Response, h *hop, s *stream, done bool) *Response {
	head := &Response{URL: c.vault.Redact(h.target.Href()), Status: resp.StatusCode, StatusText: c.vault.Redact(statusText(resp)),
		Headers: listHeaders(resp.Header, c.vault.Redact), Redirected: h.count > 0, Done: done}
	if !done {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last++
		head.Stream = c.last
		c.streams[c.last] = s
	}
	return head
}

// Read is the next part of a body, and whether it was the last.
func (c *Client) Read(ctx context.Context, id uint64) ([]byte, bool, error) {
	c.mu.Lock()
	s := c.streams[id]
	c.mu.Unlock()
	if s == nil {
		return nil, false, tool.Errorf(tool.FetchFailed, "there is no open body %d in this call", id)
	}
	data, done, err := s.next(ctx)
	if done || err != nil && ctx.Err() == nil {
		c.CloseStream(id)
	}
	return data, done, err
}

// CloseStream gives the rest of a body up. An unknown id is nothing to close.
func (c *Client) CloseStream(id uint64) {
	c.mu.Lock()
	s := c.streams[id]
	delete(c.streams, id)
	c.mu.Unlock()
	if s != nil {
		s.close()
	}
}

// Close ends every exchange of the call. The client refuses what comes after.
func (c *Client) Close() {
	c.end()
	c.mu.Lock()
	open := c.streams
	c.streams = map[uint64]*stream{}
	c.mu.Unlock()
	for _, s := range open {
		s.close()
	}
}

// Bytes is what came in and went out so far, bodies only.
func (c *Client) Bytes() (in, out int64) { return c.in.Load(), c.out.Load() }

// Sent lists the requests that left, at most 1,000 of them.
func (c *Client) Sent() []Sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Sent(nil), c.sent...)
}

func (c *Client) record(s Sent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sent) < 1000 {
		c.sent = append(c.sent, s)
	}
}

// hide takes secrets out of an error's text.
func (c *Client) hide(err error) error {
	var e *tool.Error
	if errors.As(err, &e) {
		e.Message = c.vault.Redact(e.Message)
		e.Hint = c.vault.Redact(e.Hint)
	}
	return err
}

// noVault has no secrets.
type noVault struct{}

func (noVault) FillURL(_ string, _ uint16, text string) (string, error)         { return text, nil }
func (noVault) FillHeader(_ string, _ uint16, _, value string) (string, error)  { return value, nil }
func (noVault) FillBody(_ string, _ uint16, _ string, b []byte) ([]byte, error) { return b, nil }
func (noVault) Redact(text string) string                                       { return text }
func (noVault) Reader(r io.Reader) io.Reader                                    { return r }
