// Package wire is the language between a room and its workers: frames over two
// pipes. A room takes its workers for hostile; a Reader, at either end, never allocates for a
// length it has not accepted, and any frame out of order is an error that ends
// the connection.
//
//	room ──Hello, Load, Forget, Check, Call, Reply, Cancel──▶ worker
//	room ◀──Ready, Checked, Log, Progress, Request, Abort, Result── worker
//
// A frame on the wire, little endian:
//
//	uint32 size of the rest │ uint8 kind │ uint64 call │ uint32 request │ uint32 meta size │ meta │ data: bytes
//
// Meta is the JSON form of the Go type that Kind names, or for Call and Reply that type packed; data is raw bytes
// (arguments, results, bodies, file contents) so that large values are never
// escaped twice.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind is what a frame says.
type Kind uint8

// The kinds a room sends.
const (
	Hello  Kind = iota + 1 // Meta: HelloMeta, Data: the platform compiled, if the room has it. First frame, once
	Load                   // Meta: LoadMeta, Data: code. Makes Key callable
	Forget                 // Meta: ForgetMeta. Key will not be called again
	Check                  // Meta: CheckMeta, Data: code. Compile, run nothing; answered by Checked
	Call                   // Meta: CallMeta packed, Data: arguments as JSON
	Reply                  // Meta: ReplyMeta packed, Data: what was asked for. Answers a Request
	Cancel                 // ends a call: its signal aborts, then it is stopped
)

// The kinds a worker sends.
const (
	Ready    Kind = iota + 32 // first frame, once, after the sandbox is entered. Data: the platform compiled, if Hello had none
	Checked                   // Meta: CheckedMeta
	Log                       // Meta: LogMeta, Data: one line of text
	Progress                  // Meta: tool.Progress
	Request                   // Meta: RequestMeta, Data: bytes the capability takes
	Abort                     // takes a Request back; its Reply is no longer wanted
	Result                    // Meta: ResultMeta, Data: the value as JSON. Ends the call
)

// Frame is one message. Meta and Data are only valid until the next Read of the
// Reader that returned them.
type Frame struct {
	Kind    Kind
	Call    uint64
	Request uint32
	Meta    []byte
	Data    []byte
}

const (
	headSize = 1 + 8 + 4 + 4
	// MaxMeta bounds the meta of any frame, in bytes: the arguments that one
	// tool may give another, and room for what is said about them.
	MaxMeta = 1<<20 + 64<<10
	// MaxData bounds the raw part of any frame, in bytes: the largest result,
	// response chunk or argument that limits can be raised to, and room for the log.
	MaxData = 17 << 20
)

// ErrFrame is in the chain of every error that a malformed frame causes.
var ErrFrame = errors.New("malformed frame")

// MaxRequests bounds the Requests of one call, reading bodies included; how many are
// served is the room's to say (1,000, then rate_limited), and to tell the body. Beyond the bound a
// worker refuses the body's next one itself, and one that sends it all the same is ended.
const MaxRequests = 10_000

// Append appends f to dst as it goes over the wire. It refuses a frame that a
// Reader would refuse, and then returns dst as it was.
func Append(dst []byte, f Frame) ([]byte, error) {
	if len(f.Meta) > MaxMeta || len(f.Data) > MaxData {
		return dst, fmt.Errorf("%w: %d bytes of meta, %d of data", ErrFrame, len(f.Meta), len(f.Data))
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(headSize+len(f.Meta)+len(f.Data)))
	dst = append(dst, byte(f.Kind))
	dst = binary.LittleEndian.AppendUint64(dst, f.Call)
	dst = binary.LittleEndian.AppendUint32(dst, f.Request)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(f.Meta)))
	return append(append(dst, f.Meta...), f.Data...), nil
}

// Writer writes frames. It is not safe for concurrent use.
type Writer struct {
	w   io.Writer
	buf []byte
}

// NewWriter returns a Writer on w, which gets each frame in one piece.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes one frame. It refuses a frame that a Reader would refuse.
func (w *Writer) Write(f Frame) error {
	if cap(w.buf) > 4*step {
		w.buf = nil // one large frame does not pin its memory
	}
	var err error
	if w.buf, err = Append(w.buf[:0], f); err != nil {
		return err
	}
	if _, err := w.w.Write(w.buf); err != nil {
		return fmt.Errorf("writing a frame: %w", err)
	}
	return nil
}

// Reader reads frames. It is not safe for concurrent use.
type Reader struct {
	r    io.Reader
	max  int
	head [4 + headSize]byte
	buf  []byte
}

// step is how much is allocated ahead of bytes that really arrived, so that a
// peer which only claims a large frame makes nobody allocate one.
const step = 64 << 10

// NewReader returns a Reader on r that refuses frames whose meta and data
// together are larger than max bytes; at most MaxMeta+MaxData.
func NewReader(r io.Reader, max int) *Reader { return &Reader{r: r, max: min(max, MaxMeta+MaxData)} }

// Read returns the next frame, io.EOF at a clean end between frames,
// io.ErrUnexpectedEOF inside one, or an error with ErrFrame in its chain.
func (r *Reader) Read() (Frame, error) {
	if _, err := io.ReadFull(r.r, r.head[:4]); err != nil {
		return Frame{}, err
	}
	size := int64(binary.LittleEndian.Uint32(r.head[:])) - headSize
	if size < 0 || size > int64(r.max) {
		return Frame{}, fmt.Errorf("%w: %d bytes announced, %d allowed", ErrFrame, size, r.max)
	}
	if _, err := io.ReadFull(r.r, r.head[4:]); err != nil {
		return Frame{}, noEOF(err)
	}
	meta := int64(binary.LittleEndian.Uint32(r.head[17:]))
	if meta > size || meta > MaxMeta || size-meta > MaxData {
		return Frame{}, fmt.Errorf("%w: %d bytes of meta in %d", ErrFrame, meta, size)
	}
	if err := r.fill(int(size)); err != nil {
		return Frame{}, noEOF(err)
	}
	return Frame{
		Kind:    Kind(r.head[4]),
		Call:    binary.LittleEndian.Uint64(r.head[5:]),
		Request: binary.LittleEndian.Uint32(r.head[13:]),
		Meta:    r.buf[:meta:meta],
		Data:    r.buf[meta:size:size],
	}, nil
}

// fill reads n bytes into buf, growing it only as bytes arrive.
func (r *Reader) fill(n int) error {
	if cap(r.buf) > 4*step && n < step {
		r.buf = nil // one large frame does not pin its memory
	}
	r.buf = r.buf[:0]
	for len(r.buf) < n {
		have := len(r.buf)
		next := min(n, max(have*2, have+step))
		if cap(r.buf) < next {
			grown := make([]byte, have, next)
			copy(grown, r.buf)
			r.buf = grown
		}
		r.buf = r.buf[:next]
		if _, err := io.ReadFull(r.r, r.buf[have:next]); err != nil {
			return err
		}
	}
	return nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
