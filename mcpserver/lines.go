package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds one message: arguments of 1 MB at their most escaped.
const maxLine = 8 << 20

// lineTransport is JSON-RPC a line at a time. The SDK's own ends the session at
// the first line that is no message; this one answers it and reads on. At the
// end of input it gives the requests that are under way a moment to be answered.
type lineTransport struct {
	in  io.Reader
	out io.Writer
	end <-chan struct{} // when it closes, the session ends as if the input had, at once
}

// Connect implements mcp.Transport.
func (t *lineTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{out: t.out, end: t.end, messages: make(chan jsonrpc.Message), closed: make(chan struct{}), open: map[string]bool{}, answered: make(chan struct{}, 1)}
	go c.readLines(bufio.NewReaderSize(t.in, 64<<10))
	return c, nil
}

// lineConn is one session. Its reading goroutine ends with the input; when only
// Close has been called it ends at the next line.
type lineConn struct {
	out      io.Writer
	messages chan jsonrpc.Message
	closed   chan struct{}
	end      <-chan struct{}
	once     sync.Once

	writing sync.Mutex

	mu       sync.Mutex
	open     map[string]bool // ids of requests that have no answer yet
	waiting  int             // how many requests have no answer written yet
	answered chan struct{}   // filled when one of them is answered
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
		case <-c.end:
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
	m, err := jsonrpc.DecodeMessage(line)
	if answer := refusal(line, err); answer != nil {
		_ = c.writeLine(answer) // a client that is gone ends the session by itself
		return
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && !c.begin(r.ID) {
		c.complain(jsonrpc.CodeInvalidRequest, idOf(line), "another request with this id is under way")
		return
	}
	select {
	case c.messages <- m:
	case <-c.closed:
	case <-c.end:
	}
}

// refusal is the answer to a line that is no message the SDK can take, nil for one that is. err is what decoding it gave.
func refusal(line []byte, err error) []byte {
	valid := json.Valid(line)
	if valid && err == nil {
		if message := members(line); answerable(message) {
			return oddParams(message)
		}
	}
	if answer := tooDeep(line); answer != nil {
		return answer
	}
	if !valid {
		return complaint(jsonrpc.CodeParseError, nil, "this is not JSON")
	}
	return complaint(jsonrpc.CodeInvalidRequest, idOf(line), noMessage(line))
}

func noMessage(line []byte) string {
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
		return "batches are not supported: send one message at a time"
	}
	return `this is no JSON-RPC 2.0 message: it takes "jsonrpc": "2.0", a method and, to be answered, an id that is a string or a whole number`
}

// members are the members of a message, nil for what is no object.
func members(line []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil {
		return nil
	}
	return m
}

// maxID is the largest id that is a number: of larger ones, several are the same to who reads numbers as floats.
const maxID = 1<<53 - 1

// answerable says whether the id of a message, if it has one, comes back as it was: the SDK
// would cut 1.5 to 1, which is another request's, and take null for no id.
func answerable(message map[string]json.RawMessage) bool {
	if message == nil {
		return false
	}
	id, given := message["id"]
	if !given || string(id) == "null" && message["error"] != nil { // the second answers a message that had no id to read
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && max(n, -n) <= maxID || id[0] == '"'
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
	_ = c.writeLine(complaint(code, id, message)) // a client that is gone ends the session by itself
}

// complaint is the answer to what is no message. id is JSON, nil when it could not be read.
func complaint(code int64, id json.RawMessage, message string) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		text = []byte(`""`)
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, text)
}

func (c *lineConn) begin(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := fmt.Sprintf("%T%v", id.Raw(), id.Raw())
	if c.open[key] {
		return false
	}
	c.open[key] = true
	c.waiting++
	return true
}

// patience is how long after the end of input, and after each answer since, the next
// answer may take. A client that pipes its requests in gets them answered; one that has gone
// leaves no call running. What is open when it ends is cancelled.
const patience = 700 * time.Millisecond

// drain waits until what was asked before the end of input is answered, as long as answers keep coming.
func (c *lineConn) drain() {
	late := time.NewTimer(patience)
	defer late.Stop()
	for c.unanswered() > 0 {
		select {
		case <-c.answered:
			late.Reset(patience)
		case <-c.closed:
			return
		case <-c.end:
			return
		case <-late.C:
			return
		}
	}
}

func (c *lineConn) unanswered() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting
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
	case <-c.end:
		return nil, io.EOF // the SDK cancels the calls under way
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection.
func (c *lineConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err // answers come with a context that does not end
	}
	r, answer := m.(*jsonrpc.Response)
	if answer {
		r.Error = withCode(r.Error)
		c.release(r.ID)
	}
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	err = c.writeLine(line)
	if answer {
		c.finish()
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

// release frees an id, before its answer is written: whoever has read the answer may use it again.
func (c *lineConn) release(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, fmt.Sprintf("%T%v", id.Raw(), id.Raw()))
}

func (c *lineConn) finish() {
	c.mu.Lock()
	c.waiting--
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default:
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
