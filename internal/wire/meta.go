package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	exp "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"toolroom/tool"
)

// HelloMeta tells a new worker what holds for its whole life.
type HelloMeta struct {
	Slots     int   `json:"slots"`      // isolates that may run at the same time
	MemoryMB  int64 `json:"memory_mb"`  // largest cap of one isolate, MiB
	LogBytes  int   `json:"log_bytes"`  // log kept of one call
	MaxCached int   `json:"max_cached"` // loaded codes
}

// LoadMeta names a code: everything under one Key is the same for ever.
type LoadMeta struct {
	Key  string `json:"key"`
	File string `json:"file"` // name shown in stacks
}

// ForgetMeta names a code that may be dropped.
type ForgetMeta struct {
	Key string `json:"key"`
}

// CheckMeta is a request to compile and run nothing.
type CheckMeta struct {
	File string `json:"file"`
}

// CheckedMeta answers a Check. Error is nil when the engine takes the code.
type CheckedMeta struct {
	Error *Failure `json:"error,omitempty"`
}

// LogMeta describes a line of log.
type LogMeta struct {
	Level string `json:"level"`
	AtNS  int64  `json:"at_ns"`
}

// RequestMeta asks the host for a capability.
type RequestMeta struct {
	Op   string          `json:"op"` // "net.fetch", "files.read", …
	Args json.RawMessage `json:"args,omitempty"`
}

// Encode is Encode of m, put together by hand: args are JSON as CheckRequest wants them, and need not be read again.
func (m RequestMeta) Encode() ([]byte, error) {
	b, err := jsontext.AppendQuote(append(make([]byte, 0, len(m.Op)+len(m.Args)+32), `{"op":`...), m.Op)
	if err != nil {
		return nil, fmt.Errorf("the operation of a request: %w", err)
	}
	if len(m.Args) > 0 {
		b = append(append(b, `,"args":`...), m.Args...)
	}
	return append(b, '}'), nil
}

// ResultMeta ends a call. Error is nil when there is a value.
type ResultMeta struct {
	Error   *Failure `json:"error,omitempty"`
	CPUNS   int64    `json:"cpu_ns"`
	Peak    int64    `json:"peak"`    // bytes
	Dropped int64    `json:"dropped"` // bytes of log
}

// Failure is how a worker says that a call or a check failed. It is not yet an
// Error: the host decides the code, and maps Stack to the author's lines.
type Failure struct {
	Code       tool.Code       `json:"code"`
	Message    string          `json:"message"`
	Hint       string          `json:"hint,omitempty"`
	Name       string          `json:"name,omitempty"`       // of what the body threw
	Stack      string          `json:"stack,omitempty"`      // engine lines
	Line       int             `json:"line,omitempty"`       // engine line, from 1
	Column     int             `json:"column,omitempty"`     // engine column, from 1
	Capability json.RawMessage `json:"capability,omitempty"` // the host's own error, when the body let one through
}

// Decode reads meta strictly: duplicate names, unknown names, names in the
// wrong case, invalid UTF-8 and values after the first are errors.
func Decode(meta []byte, into any) error {
	if err := exp.Unmarshal(meta, into, exp.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: %w", ErrFrame, err)
	}
	return nil
}

// CheckRequest says, to the body that makes a call's n-th request, why it cannot
// be made, or "". A worker asks before it sends one: the room ends a worker that sends
// what this refuses.
func CheckRequest(n int, op string, args, data []byte) string {
	const head = 256 // of the frame's meta, besides what varies
	switch {
	case n > MaxRequests:
		return fmt.Sprintf("a call may make %d requests to the outside, and this is one more", MaxRequests)
	case len(op)+len(args)+head > MaxMeta:
		return fmt.Sprintf("what is asked for is too large: %d bytes, at most %d can be passed", len(args), MaxMeta-head)
	case len(data) > MaxData:
		return fmt.Sprintf("the data is too large: %d bytes, at most %d can be passed", len(data), MaxData)
	}
	inside := append(append([]byte{'['}, args...), ']') // as deep as it will be in the frame
	if len(args) > 0 && !jsontext.Value(inside).IsValid() {
		return "what is asked for cannot be passed as JSON: it holds half of a surrogate pair, or is nested too deep"
	}
	return ""
}

// Encode is the JSON form of a meta value. It escapes only what JSON must have
// escaped, so that nothing grows on the way.
func Encode(meta any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(meta); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
