package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"toolroom/tool"
)

func TestFramesComeOutAsTheyWentIn(t *testing.T) {
	frames := []Frame{
		{Kind: Ready},
		{Kind: Call, Call: 1<<64 - 1, Meta: []byte(`{"key":"k"}`), Data: []byte(`{}`)},
		{Kind: Reply, Call: 7, Request: 1<<32 - 1, Data: bytes.Repeat([]byte{0}, 3*step)},
		{Kind: Log, Meta: bytes.Repeat([]byte("m"), MaxMeta), Data: []byte("x")},
		{Kind: Cancel, Call: 3},
	}
	var wire bytes.Buffer
	w := NewWriter(&wire)
	for _, f := range frames {
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	r := NewReader(iotest.HalfReader(&wire), MaxMeta+MaxData)
	for _, want := range frames {
		got, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		if got.Kind != want.Kind || got.Call != want.Call || got.Request != want.Request || !bytes.Equal(got.Meta, want.Meta) || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("kind %d came out as kind %d", want.Kind, got.Kind)
		}
	}
	if _, err := r.Read(); err != io.EOF {
		t.Errorf("after the last frame: %v", err)
	}
}

func TestAppendRefusesWhatAReaderWould(t *testing.T) {
	for _, f := range []Frame{{Meta: make([]byte, MaxMeta+1)}, {Data: make([]byte, MaxData+1)}} {
		dst, err := Append([]byte("before"), f)
		if !errors.Is(err, ErrFrame) || string(dst) != "before" {
			t.Errorf("%d and %d bytes: %v", len(f.Meta), len(f.Data), err)
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	head := func(size, meta uint32) []byte {
		b, _ := Append(nil, Frame{Kind: Log}) // empty: it fits
		b[0], b[1], b[2], b[3] = byte(size), byte(size>>8), byte(size>>16), byte(size>>24)
		b[17], b[18], b[19], b[20] = byte(meta), byte(meta>>8), byte(meta>>16), byte(meta>>24)
		return b
	}
	for name, test := range map[string]struct {
		bytes []byte
		max   int
		want  error
	}{
		"a length of 4 GiB":        {head(1<<32-1, 0), MaxMeta + MaxData, ErrFrame},
		"one byte over the limit":  {head(headSize+11, 0), 10, ErrFrame},
		"a length below the head":  {head(headSize-1, 0), 10, ErrFrame},
		"no length":                {head(0, 0), 10, ErrFrame},
		"meta longer than frame":   {head(headSize+1, 2), 10, ErrFrame},
		"meta over its limit":      {head(headSize+MaxMeta+1, MaxMeta+1), MaxMeta + MaxData, ErrFrame},
		"data over its limit":      {head(headSize+MaxData+1, 0), MaxMeta + MaxData, ErrFrame},
		"an end inside the length": {head(0, 0)[:2], 10, io.ErrUnexpectedEOF},
		"an end inside the head":   {head(headSize, 0)[:9], 10, io.ErrUnexpectedEOF},
		"an end inside the data":   {append(head(headSize+5, 0), "abc"...), 10, io.ErrUnexpectedEOF},
	} {
		if _, err := NewReader(bytes.NewReader(test.bytes), test.max).Read(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A peer that announces the largest frame and sends little of it makes nobody
// allocate much.
func TestAnAnnouncementAllocatesLittle(t *testing.T) {
	claim := []byte{0, 0, 0, 1} // 16 MiB
	claim = append(claim, make([]byte, headSize+100)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := NewReader(bytes.NewReader(claim), MaxMeta+MaxData).Read()
	runtime.ReadMemStats(&after)
	if err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes were allocated", got)
	}
}

func TestALargeFrameDoesNotPinItsMemory(t *testing.T) {
	var wire bytes.Buffer
	w := NewWriter(&wire)
	for _, size := range []int{8 << 20, 1} {
		if err := w.Write(Frame{Kind: Log, Data: make([]byte, size)}); err != nil {
			t.Fatal(err)
		}
	}
	r := NewReader(&wire, MaxData)
	for range 2 {
		if _, err := r.Read(); err != nil {
			t.Fatal(err)
		}
	}
	if cap(r.buf) > 4*step || cap(w.buf) > 4*step {
		t.Errorf("%d and %d bytes are kept", cap(r.buf), cap(w.buf))
	}
}

func TestDecodeIsStrict(t *testing.T) {
	for name, meta := range map[string]string{
		"nothing":               ``,
		"not JSON":              `{`,
		"another type":          `[]`,
		"an unknown name":       `{"op":"x","as":"admin"}`,
		"a name twice":          `{"op":"x","op":"y"}`,
		"a name in upper case":  `{"OP":"x"}`,
		"a name twice, deep":    `{"op":"x","args":{"a":{"b":1,"b":2}}}`,
		"two values":            `{"op":"x"}{"op":"y"}`,
		"invalid UTF-8":         "{\"op\":\"\xc3\"}",
		"a lone surrogate":      `{"op":"\ud800"}`,
		"10,000 levels":         `{"op":"x","args":` + strings.Repeat(`[`, 10_001) + strings.Repeat(`]`, 10_001) + `}`,
		"a comment":             `{"op":"x"/**/}`,
		"a number for a string": `{"op":1}`,
	} {
		var m RequestMeta
		if err := Decode([]byte(meta), &m); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzReader looks for bytes that make a Reader panic, give more than it was
// allowed, or give a frame that does not go over the wire again as the same bytes.
func FuzzReader(f *testing.F) {
	for _, frame := range []Frame{{Kind: Ready}, {Kind: Call, Call: 1, Meta: []byte("{}"), Data: []byte("[1]")}, {Kind: Request, Call: 2, Request: 3}} {
		b, err := Append(nil, frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(append(b, b[:len(b)-1]...))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const most = 1 << 10
		r := NewReader(bytes.NewReader(in), most)
		var out []byte
		for {
			frame, err := r.Read()
			if err != nil {
				break
			}
			if len(frame.Meta)+len(frame.Data) > most {
				t.Fatalf("%d bytes were let through", len(frame.Meta)+len(frame.Data))
			}
			if out, err = Append(out, frame); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(in, out) {
			t.Fatal("the frames are not what was sent")
		}
	})
}

// metas is one of each type that a peer may send.
func metas() []any {
	return []any{new(HelloMeta), new(LoadMeta), new(ForgetMeta), new(CheckMeta), new(CheckedMeta),
		new(LogMeta), new(RequestMeta), new(ResultMeta), new(tool.Progress)}
}

// FuzzDecode looks for meta that makes Decode panic, that JSON as everybody
// knows it does not accept, or that changes when it is sent on.
func FuzzDecode(f *testing.F) {
	for i := range metas() {
		for _, seed := range []string{`{}`, `{"op":"net.fetch","args":{"url":"x"}}`, `{"error":{"code":"timeout","message":"m"},"cpu_ns":1}`, `{"level":"info","at_ns":-1}`, `{"done":1e9}`, `{"key":"k","env":{}}`, `null`} {
			f.Add(i, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, i int, meta []byte) {
		all := metas()
		into := all[uint(i)%uint(len(all))]
		if Decode(meta, into) != nil {
			return
		}
		if !json.Valid(meta) {
			t.Fatalf("%q was taken for JSON", meta)
		}
		sent, err := Encode(into)
		if err != nil {
			t.Fatalf("%q cannot be sent on: %v", meta, err)
		}
		again := reflect.New(reflect.TypeOf(into).Elem()).Interface()
		if err := Decode(sent, again); err != nil {
			t.Fatalf("%q became %q, which is refused: %v", meta, sent, err)
		}
	})
}
