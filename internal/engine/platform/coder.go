package platform

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"iter"
)

// coders are the compressors and decompressors that a call has open.
type coders struct {
	open map[float64]coder
	last float64
}

// coder turns bytes into other bytes, piece by piece.
type coder interface {
	write(b []byte) error
	finish() error               // no more will be written
	read() (b []byte, err error) // a piece of at most pieceSize; nil: there is none now
	close()
}

const (
	maxCoders = 64 // each holds up to a megabyte outside of the isolate
	pieceSize = 64 << 10
)

func (c *coders) natives() map[string]Func {
	return map[string]Func{"coder.open": c.start, "coder.write": c.write, "coder.finish": c.finish, "coder.read": c.read}
}

func (c *coders) reset() {
	for _, one := range c.open {
		one.close()
	}
	*c = coders{}
}

// start(format, decode) → id.
func (c *coders) start(args Args) (any, error) {
	if len(c.open) >= maxCoders {
		return nil, Throw("QuotaExceededError", "a call can have %d compression streams open at a time", maxCoders)
	}
	one, err := newCoder(args.Text(0), args.Bool(1))
	if err != nil {
		return nil, err
	}
	if c.open == nil {
		c.open = map[float64]coder{}
	}
	c.last++
	c.open[c.last] = one
	return c.last, nil
}

func newCoder(format string, decode bool) (coder, error) {
	switch format {
	case "gzip", "deflate", "deflate-raw":
	default:
		return nil, Throw("TypeError", "the format of a compression stream is gzip, deflate or deflate-raw, not %s", quoted(format))
	}
	if decode {
		return newDecompressor(format), nil
	}
	return newCompressor(format), nil
}

func (c *coders) find(args Args) (coder, error) {
	one, ok := c.open[args.Number(0)]
	if !ok {
		return nil, Throw("TypeError", "the compression stream has ended")
	}
	return one, nil
}

// write(id, bytes).
func (c *coders) write(args Args) (any, error) {
	one, err := c.find(args)
	if err != nil {
		return nil, err
	}
	return nil, one.write(args.Bytes(1))
}

// finish(id).
func (c *coders) finish(args Args) (any, error) {
	one, err := c.find(args)
	if err != nil {
		return nil, err
	}
	return nil, one.finish()
}

// read(id) → bytes, or nil when more must be written first or all was read.
func (c *coders) read(args Args) (any, error) {
	one, err := c.find(args)
	if err != nil {
		return nil, nil
	}
	b, err := one.read()
	if err != nil && err != io.EOF {
		err = Throw("TypeError", "the data is not valid: %v", err)
	}
	if err != nil {
		one.close()
		delete(c.open, args.Number(0))
	}
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if b == nil {
		return nil, err
	}
	return b, err
}

type compressor struct {
	out  bytes.Buffer
	w    io.WriteCloser
	done bool
}

func newCompressor(format string) *compressor {
	c := &compressor{}
	switch format {
	case "gzip":
		c.w = gzip.NewWriter(&c.out)
	case "deflate":
		c.w = zlib.NewWriter(&c.out)
	default:
		c.w, _ = flate.NewWriter(&c.out, flate.DefaultCompression) // fails for unknown levels only
	}
	return c
}

func (c *compressor) write(b []byte) error {
	_, err := c.w.Write(b)
	return err
}

func (c *compressor) finish() error {
	c.done = true
	return c.w.Close()
}

func (c *compressor) read() ([]byte, error) {
	if c.out.Len() > 0 {
		return bytes.Clone(c.out.Next(pieceSize)), nil
	}
	if c.done {
		return nil, io.EOF
	}
	return nil, nil
}

func (c *compressor) close() {}

// decompressor runs Go's reader, which pulls its input, as a coroutine that is
// pushed: whenever the reader finds no input, the coroutine yields nothing.
type decompressor struct {
	in       bytes.Buffer
	finished bool
	yield    func([]byte, error) bool
	next     func() ([]byte, error, bool)
	stop     func()
}

func newDecompressor(format string) *decompressor {
	d := &decompressor{}
	d.next, d.stop = iter.Pull2(func(yield func([]byte, error) bool) {
		d.yield = yield
		d.run(format)
	})
	return d
}

func (d *decompressor) run(format string) {
	in := bufio.NewReaderSize(feed{d}, 512)
	r, err := openReader(format, in)
	for err == nil {
		piece := make([]byte, pieceSize)
		var n int
		n, err = r.Read(piece)
		if n > 0 && !d.yield(piece[:n], nil) {
			return
		}
	}
	if err == io.EOF && d.trailing(in) {
		err = errors.New("there is more data after its end")
	}
	if err == io.ErrUnexpectedEOF {
		err = errors.New("it ends too early")
	}
	d.yield(nil, err)
}

// trailing says whether anything follows the compressed data.
func (d *decompressor) trailing(in *bufio.Reader) bool {
	_, err := in.Peek(1)
	return err == nil
}

func openReader(format string, in *bufio.Reader) (io.Reader, error) {
	switch format {
	case "gzip":
		r, err := gzip.NewReader(in)
		if err != nil {
			return nil, early(err)
		}
		r.Multistream(false)
		return r, nil
	case "deflate":
		r, err := zlib.NewReader(in)
		return r, early(err)
	}
	return flate.NewReader(in), nil
}

// early is err; data that ends before it began ends too early as well.
func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// feed gives the reader what was written so far.
type feed struct{ d *decompressor }

func (f feed) Read(p []byte) (int, error) {
	for f.d.in.Len() == 0 {
		if f.d.finished {
			return 0, io.EOF
		}
		if !f.d.yield(nil, nil) {
			return 0, errors.New("the stream was dropped")
		}
	}
	return f.d.in.Read(p)
}

func (d *decompressor) write(b []byte) error {
	d.in.Write(b) // never fails
	return nil
}

func (d *decompressor) finish() error {
	d.finished = true
	return nil
}

func (d *decompressor) read() ([]byte, error) {
	b, err, ok := d.next()
	if !ok {
		return nil, io.EOF
	}
	return b, err
}

func (d *decompressor) close() { d.stop() }
