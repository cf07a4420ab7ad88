package egress

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toolroom/tool"
)

// maxRedirects is how many redirects one fetch follows.
const maxRedirects = 20

// hop is one request of a chain of redirects.
type hop struct {
	method  string
	target  *Target
	headers []Header
	body    []byte
	count   int // redirects before it
}

func firstHop(r *Request) (*hop, error) {
	if err := checkMethod(r.Method, r.Body); err != nil {
		return nil, err
	}
	if len(r.Body) > maxUpload {
		return nil, tool.Errorf(tool.FetchFailed, "the request's body has %d bytes, %d are allowed", len(r.Body), maxUpload)
	}
	switch r.Redirect {
	case "", "follow", "manual", "error":
	default:
		return nil, tool.Errorf(tool.FetchFailed, "redirect is follow, manual or error, not %s", quote(r.Redirect))
	}
	t, err := Parse(r.URL)
	if err != nil {
		return nil, err
	}
	return &hop{method: r.Method, target: t, headers: r.Headers, body: r.Body}, nil
}

// follow sends h and whatever it is redirected to, each checked as if it were
// the first, and returns the last answer with the hop that got it.
func (c *Client) follow(x *exchange, h *hop, mode string) (*http.Response, *hop, error) {
	for {
		resp, err := c.send(x, h)
		if err != nil {
			return nil, nil, err
		}
		location := resp.Header.Get("Location")
		if !isRedirect(resp.StatusCode) || location == "" || mode == "manual" {
			return resp, h, nil
		}
		drain(resp)
		if mode == "error" {
			return nil, nil, tool.Errorf(tool.FetchFailed, "%s answered with a redirect, and redirect is \"error\"", h.target.authority())
		}
		// With the secrets taken out, the location gets only those that the next host is bound to.
		if h, err = h.next(resp.StatusCode, c.vault.Redact(text(location))); err != nil {
			return nil, nil, err
		}
	}
}

// text is a header's value as UTF-8 if it is that, else byte by byte.
func text(value string) string {
	if utf8.ValidString(value) {
		return value
	}
	return codePoints(value)
}

func isRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// drain reads a short rest so that the connection can be used again.
func drain(resp *http.Response) {
	if resp.ContentLength >= 0 && resp.ContentLength <= 4<<10 {
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // whatever goes wrong, Close is next
	}
	_ = resp.Body.Close()
}

// next is the hop after h, by the rules of the fetch standard; credentials, and
// whatever could be one, stay with the origin they were meant for.
func (h *hop) next(status int, location string) (*hop, error) {
	if h.count == maxRedirects {
		return nil, tool.Errorf(tool.EgressDenied, "%s went on redirecting after %d redirects", h.target.authority(), maxRedirects)
	}
	t, err := h.target.Resolve(location)
	if err != nil {
		return nil, err
	}
	n := &hop{method: h.method, target: t, headers: h.headers, body: h.body, count: h.count + 1}
	if status <= 302 && h.method == "POST" || status == 303 && h.method != "GET" && h.method != "HEAD" {
		n.method, n.body = "GET", nil
		n.headers = keep(n.headers, func(name string) bool { return !strings.HasPrefix(strings.ToLower(name), "content-") })
	}
	if !h.target.sameOrigin(t) {
		n.headers = keep(n.headers, harmless)
	}
	return n, nil
}

// send checks a hop and makes its request.
func (c *Client) send(x *exchange, h *hop) (*http.Response, error) {
	if err := c.check(h.target); err != nil {
		return nil, err
	}
	req, err := c.request(h)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	resp, err := c.pool.transport.RoundTrip(req.WithContext(x.ctx))
	c.out.Add(int64(len(h.body)))
	sent := Sent{Method: h.method, Host: h.target.authority(), Took: time.Since(began)}
	if err == nil {
		sent.Status = resp.StatusCode
	}
	c.record(sent)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		_ = resp.Body.Close()
		err = errProtocol{}
	}
	if err != nil {
		return nil, problem(h.method, h.target, x.why(err))
	}
	return resp, nil
}

// errProtocol is an answer in another protocol than was spoken.
type errProtocol struct{}

func (errProtocol) Error() string { return "malformed answer: switching protocols" }

// check holds a target against the grant and the guard.
func (c *Client) check(t *Target) error {
	if c.pool.guard.opts.None {
		return c.pool.guard.Check(t) // not for the grant to change, so its hint would mislead
	}
	if !c.allow.Allow(t.Host, t.Port) {
		return tool.Errorf(tool.EgressDenied, "%s is not among the hosts this tool may reach (%s)", t.authority(), c.allow).
			WithHint("Its grant needs net: [%q]; widening a grant needs an approval.", t.Host)
	}
	return c.pool.guard.Check(t)
}

// request is a hop with its secrets put in.
func (c *Client) request(h *hop) (*http.Request, error) {
	host, port := h.target.Host, h.target.Port
	path, err := c.vault.FillURL(host, port, h.target.parsed.Pathname())
	if err != nil {
		return nil, err
	}
	query, err := c.vault.FillURL(host, port, h.target.parsed.Query())
	if err != nil {
		return nil, err
	}
	headers, contentType, err := c.fillHeaders(h)
	if err != nil {
		return nil, err
	}
	body, err := c.vault.FillBody(host, port, contentType, h.body)
	if err != nil {
		return nil, err
	}
	return newRequest(h, path, query, headers, body), nil
}

func newRequest(h *hop, path, query string, headers http.Header, body []byte) *http.Request {
	req := &http.Request{Method: h.method, URL: h.target.wireURL(path, query), Host: h.target.authority(), Header: headers,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody}
	if len(body) > 0 {
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return req
}

func (c *Client) fillHeaders(h *hop) (http.Header, string, error) {
	list, contentType := make([]Header, len(h.headers)), ""
	for i, header := range h.headers {
		value, err := c.vault.FillHeader(h.target.Host, h.target.Port, header[0], header[1])
		if err != nil {
			return nil, "", err
		}
		list[i] = Header{header[0], value}
		if strings.EqualFold(header[0], "content-type") {
			contentType = value
		}
	}
	headers, err := wireHeaders(list, h.target)
	return headers, contentType, err
}

// statusText is the phrase after the status, as the server wrote it.
func statusText(resp *http.Response) string {
	text := strings.TrimPrefix(resp.Status, strconv.Itoa(resp.StatusCode))
	return codePoints(strings.TrimSpace(text))
}
