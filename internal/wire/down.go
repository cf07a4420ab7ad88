package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"toolroom/tool"
)

// What the room says to a worker with every call and every answer is packed: the worker has no reason to doubt it,
// and reading and writing it as JSON would cost a small call a tenth of its time. What workers say is JSON, read strictly.

// CallMeta starts a call of a loaded code.
type CallMeta struct {
	Key       string
	Env       json.RawMessage // what the body sees as env, and as the fields of ctx
	TimeoutMS int64           // wall clock left
	MemoryMB  int64
	MaxResult int64 // bytes
}

// Pack is m as bytes: three varints, the key after its length, the environment.
func (m CallMeta) Pack() []byte {
	b := make([]byte, 0, 4*binary.MaxVarintLen64+len(m.Key)+len(m.Env))
	for _, n := range []int64{m.TimeoutMS, m.MemoryMB, m.MaxResult, int64(len(m.Key))} {
		b = binary.AppendVarint(b, n)
	}
	return append(append(b, m.Key...), m.Env...)
}

// UnpackCall is the reverse of CallMeta.Pack. The environment is part of b.
func UnpackCall(b []byte) (CallMeta, error) {
	var n [4]int64
	for i := range n {
		v, size := binary.Varint(b)
		if size <= 0 {
			return CallMeta{}, fmt.Errorf("%w: a call that ends in its numbers", ErrFrame)
		}
		n[i], b = v, b[size:]
	}
	if n[3] < 0 || n[3] > int64(len(b)) {
		return CallMeta{}, fmt.Errorf("%w: a key of %d bytes in %d", ErrFrame, n[3], len(b))
	}
	return CallMeta{TimeoutMS: n[0], MemoryMB: n[1], MaxResult: n[2], Key: string(b[:n[3]]), Env: b[n[3]:]}, nil
}

// ReplyMeta answers a Request: an error, or a value beside the frame's data, or neither. Both are JSON.
type ReplyMeta struct {
	Error json.RawMessage // of a tool.Error
	Value json.RawMessage
}

const (
	packedError = 'E'
	packedValue = 'V'
)

// Refusal is the ReplyMeta that tells err.
func Refusal(err *tool.Error) (ReplyMeta, error) {
	b, encodeErr := Encode(err)
	return ReplyMeta{Error: b}, encodeErr
}

// Pack is m as bytes: a letter that says which it is, and the JSON.
func (m ReplyMeta) Pack() []byte {
	switch {
	case m.Error != nil:
		return append([]byte{packedError}, m.Error...)
	case m.Value != nil:
		return append([]byte{packedValue}, m.Value...)
	}
	return nil
}

// UnpackReply is the reverse of ReplyMeta.Pack. What it returns is part of b.
func UnpackReply(b []byte) (ReplyMeta, error) {
	switch {
	case len(b) == 0:
		return ReplyMeta{}, nil
	case b[0] == packedError:
		return ReplyMeta{Error: b[1:]}, nil
	case b[0] == packedValue:
		return ReplyMeta{Value: b[1:]}, nil
	}
	return ReplyMeta{}, fmt.Errorf("%w: an answer of kind %q", ErrFrame, b[0])
}
