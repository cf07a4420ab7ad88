package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds one message: arguments of 1 MB at their most escaped.
const maxLine = 8 << 20

// lineTransport is JSON-RPC a line at a time. The SDK's own ends the session at
// the first line that is no message; this one answers it and reads on. At the
// end of input it lets the requests that are under way be answered.
type lineTransport struct {
	in  io.Reader
	out io.Writer
}

// Connect implements mcp.Transport.
func (t *lineTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{out: t.out, messages: make(chan jsonrpc.Message), closed: make(chan struct{}), open: map[string]bool{}, idle: make(chan struct{}, 1)}
	go c.readLines(bufio.NewReaderSize(t.in, 64<<10))
	return c, nil
}

// lineConn is one session. Its reading goroutine ends with the input; when only
// Close has been called it ends at the next line.
type lineConn struct {
	out      io.Writer
	messages chan jsonrpc.Message
	closed   chan struct{}
	once     sync.Once

	writing sync.Mutex

	mu    sync.Mutex
	open  map[string]bool // ids of requests that have no answer yet
	ended bool            // the input has ended
	idle  chan struct{}   // filled when ended and open is empty
}

func (c *lineConn) readLines(in *bufio.Reader) {
	defer close(c.messages)
	for {
		line, err := readLine(in)
		if len(bytes.TrimSpace(line)) > 0 && !errors.Is(err, errTooLong) {
			c.take(line)
		}
		switch {
		case errors.Is(err, errTooLong):
			c.complain(jsonrpc.CodeInvalidRequest, nil, fmt.Sprintf("a message is at most %d bytes", maxLine))
		case err != nil:
			c.drain()
			return
		}
		select {
		case <-c.closed:
			return
		default:
		}
	}
}

var (
	errTooLong = errors.New("line too long")
	errGone    = errors.New("the client reads no more")
)

// readLine returns the next line. Of one that is too long it reads all and
// keeps nothing.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, skipLine(in, err)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func skipLine(in *bufio.Reader, err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	if err != nil {
		return err
	}
	return errTooLong
}

// take hands a message to the SDK, or answers what is none.
func (c *lineConn) take(line []byte) {
	if !json.Valid(line) {
		c.complain(jsonrpc.CodeParseError, nil, "this line is not JSON")
		return
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		c.complain(jsonrpc.CodeInvalidRequest, idOf(line), noMessage(line))
		return
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !c.begin(r.ID) {
		c.complain(jsonrpc.CodeInvalidRequest, idOf(line), "another request with this id is under way")
		return
	}
	select {
	case c.messages <- m:
	case <-c.closed:
	}
}

func noMessage(line []byte) string {
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
		return "batches are not supported: send one message a line"
	}
	return `this is no JSON-RPC 2.0 message: it takes "jsonrpc": "2.0", a method and, to be answered, an id that is a string or a whole number`
}

// idOf is the id of a message that is wrong in some other way, nil when it has none.
func idOf(line []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 || m.ID[0] == '{' || m.ID[0] == '[' {
		return nil
	}
	return m.ID
}

func (c *lineConn) complain(code int64, id json.RawMessage, message string) {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message}})
	if err == nil {
		_ = c.writeLine(line) // a client that is gone ends the session by itself
	}
}

func (c *lineConn) begin(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := fmt.Sprintf("%T%v", id.Raw(), id.Raw())
	if c.open[key] {
		return false
	}
	c.open[key] = true
	return true
}

// patience is how long the answers to the last requests may take after the end
// of input: a client that still waits for them has not gone.
const patience = time.Minute

// drain waits until what was asked before the end of input is answered.
func (c *lineConn) drain() {
	c.mu.Lock()
	c.ended = true
	waiting := len(c.open) > 0
	c.mu.Unlock()
	if !waiting {
		return
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-c.idle:
	case <-c.closed:
	case <-late.C:
	}
}

// Read implements mcp.Connection.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-c.messages:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection.
func (c *lineConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err // answers come with a context that does not end
	}
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	err = c.writeLine(line)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.finish(r.ID)
	}
	return err
}

func (c *lineConn) writeLine(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

func (c *lineConn) finish(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, fmt.Sprintf("%T%v", id.Raw(), id.Raw()))
	if c.ended && len(c.open) == 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
}

// Close implements mcp.Connection. It does not close the input or the output,
// which belong to the caller.
func (c *lineConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID implements mcp.Connection: stdio has one session.
func (c *lineConn) SessionID() string { return "" }
