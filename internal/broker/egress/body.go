package egress

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"toolroom/tool"
)

// decoded is the body of resp without its content codings, of at most most
// bytes. One byte more is response_too_large: what was compressed small must not
// become large here.
func decoded(resp *http.Response, most int64, count *atomic.Int64) (io.Reader, error) {
	if resp.Body != http.NoBody && resp.Header.Get("Content-Encoding") == "" && resp.ContentLength > most {
		return nil, tooLarge(most)
	}
	var r io.Reader = counter{resp.Body, count}
	codings := strings.Split(strings.Join(resp.Header.Values("Content-Encoding"), ","), ",")
	if len(codings) > 3 {
		return nil, tool.Errorf(tool.FetchFailed, "the body is compressed %d times over", len(codings))
	}
	for i := len(codings) - 1; i >= 0; i-- {
		switch strings.ToLower(strings.TrimSpace(codings[i])) {
		case "gzip", "x-gzip":
			r = &lazy{from: r, open: openGzip}
		case "deflate":
			r = &lazy{from: r, open: openDeflate}
		case "", "identity":
		default: // not asked for: handed on as it came, as browsers do
			i = 0
		}
	}
	return &limited{r: r, left: most, most: most}, nil
}

func tooLarge(most int64) error {
	return tool.Errorf(tool.ResponseTooLarge, "the response is larger than the limit of %d bytes", most).
		WithHint("Ask the server for less: a page, a range, fewer fields.")
}

// counter counts what came over the network.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// lazy opens its decoder when the first byte is wanted, so that headers do not
// wait for the body. An empty body is an empty body in any coding.
type lazy struct {
	from io.Reader
	open func(*bufio.Reader) (io.Reader, error)
	r    io.Reader
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.r == nil {
		from := bufio.NewReader(l.from)
		if _, err := from.Peek(1); err != nil {
			return 0, err
		}
		r, err := l.open(from)
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	return l.r.Read(p)
}

func openGzip(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) }

// openDeflate takes both things that servers call deflate: zlib, and bare.
func openDeflate(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

// limited fails on the first byte after most.
type limited struct {
	r          io.Reader
	left, most int64
}

func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if int64(n) > l.left {
		return int(l.left), tooLarge(l.most)
	}
	l.left -= int64(n)
	return n, err
}

// isEOF says whether err is the good end of a body.
func isEOF(err error) bool { return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) }
