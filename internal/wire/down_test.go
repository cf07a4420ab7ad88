package wire

import (
	"bytes"
	"errors"
	"testing"

	"toolroom/tool"
)

func TestCallComesOutAsItWentIn(t *testing.T) {
	for _, m := range []CallMeta{
		{},
		{Key: "k", Env: []byte(`{"tool":"t"}`), TimeoutMS: 10_000, MemoryMB: 128, MaxResult: 1 << 20},
		{Key: string(bytes.Repeat([]byte("k"), 300)), TimeoutMS: 1<<63 - 1, MemoryMB: -1, MaxResult: 0},
	} {
		got, err := UnpackCall(m.Pack())
		if err != nil || got.Key != m.Key || !bytes.Equal(got.Env, m.Env) || got.TimeoutMS != m.TimeoutMS || got.MemoryMB != m.MemoryMB || got.MaxResult != m.MaxResult {
			t.Errorf("%+v came out as %+v, %v", m, got, err)
		}
	}
}

func TestUnpackCallRefuses(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":              nil,
		"an end in a number":   {2, 4, 0x80},
		"no key":               {2, 4, 6},
		"a key that is longer": {2, 4, 6, 4, 'k'},
		"a key below nothing":  {2, 4, 6, 1, 'k'},
		"a number too large":   bytes.Repeat([]byte{0xff}, 11),
	} {
		if m, err := UnpackCall(b); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestReplyComesOutAsItWentIn(t *testing.T) {
	refusal, err := Refusal(tool.Errorf(tool.EgressDenied, "no <way>"))
	if err != nil || string(refusal.Error) != `{"code":"egress_denied","message":"no <way>","retryable":false}` {
		t.Fatalf("%s %v", refusal.Error, err)
	}
	for _, m := range []ReplyMeta{{}, refusal, {Value: []byte("null")}, {Value: []byte(`{"a":1}`)}} {
		if got, err := UnpackReply(m.Pack()); err != nil || !bytes.Equal(got.Error, m.Error) || !bytes.Equal(got.Value, m.Value) {
			t.Errorf("%+v came out as %+v, %v", m, got, err)
		}
	}
	if _, err := UnpackReply([]byte("{}")); !errors.Is(err, ErrFrame) {
		t.Errorf("an answer of no kind: %v", err)
	}
}

// The room's reader must take what a worker puts together by hand.
func TestRequestByHandIsTheRequest(t *testing.T) {
	for _, m := range []RequestMeta{{Op: "net.fetch", Args: []byte(`{"url":"x"}`)}, {Op: "x"}, {Op: "a\"\\\n<é", Args: []byte(`[1]`)}} {
		b, err := m.Encode()
		var got RequestMeta
		if err != nil || Decode(b, &got) != nil || got.Op != m.Op || !bytes.Equal(got.Args, m.Args) {
			t.Errorf("%+v became %s, %v", m, b, err)
		}
	}
	if b, err := (RequestMeta{Op: "\xff"}).Encode(); err == nil {
		t.Errorf("%q was sent", b)
	}
}

// FuzzUnpack looks for bytes that make the worker's side panic, or that mean something else when they are packed again.
func FuzzUnpack(f *testing.F) {
	f.Add(CallMeta{Key: "k", Env: []byte("{}"), TimeoutMS: 1}.Pack())
	f.Add(ReplyMeta{Value: []byte("{}")}.Pack())
	f.Add(ReplyMeta{Error: []byte("{}")}.Pack())
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := UnpackCall(b); err == nil {
			if again, err := UnpackCall(m.Pack()); err != nil || again.Key != m.Key || !bytes.Equal(again.Env, m.Env) || again.TimeoutMS != m.TimeoutMS {
				t.Errorf("%+v became %+v, %v", m, again, err)
			}
		}
		if m, err := UnpackReply(b); err == nil && !bytes.Equal(m.Pack(), b) {
			t.Errorf("%q became %q", b, m.Pack())
		}
	})
}
