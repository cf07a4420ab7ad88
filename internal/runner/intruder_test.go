package runner

import (
	"encoding/binary"
	"strings"
	"time"

	"toolroom/internal/wire"
)

// intrusion is what a taken-over worker does when it gets call id.
type intrusion func(p *puppet, id uint64)

// intrude is a worker that waits for a call, does what it is named for, and
// then reads on as if nothing had been: the room must end it.
func (p *puppet) intrude(name string) error {
	if name == "a result before ready" {
		p.send(result(1, `1`))
	}
	p.send(wire.Frame{Kind: wire.Ready})
	if name == "ready twice" {
		p.send(wire.Frame{Kind: wire.Ready})
	}
	if name == "a word before any call" {
		p.send(result(9, `1`))
	}
	return p.onCall(intrusions()[name])
}

func (p *puppet) intrudeBy(do intrusion) error {
	p.send(wire.Frame{Kind: wire.Ready})
	return p.onCall(do)
}

func (p *puppet) onCall(do intrusion) error {
	for {
		f, err := p.in.Read()
		if err != nil {
			return err
		}
		if do != nil && (f.Kind == wire.Call || f.Kind == wire.Check) {
			do(p, f.Call)
		}
	}
}

// unconfined claims to be ready without having entered the sandbox.
func (p *puppet) unconfined() error {
	p.out = wire.NewWriter(p.conn)
	p.in = wire.NewReader(p.conn, wire.MaxMeta+wire.MaxData)
	return p.intrudeBy(func(p *puppet, id uint64) { p.send(result(id, `"I was never confined"`)) })
}

func result(id uint64, value string) wire.Frame {
	return wire.Frame{Kind: wire.Result, Call: id, Meta: []byte(`{"cpu_ns":1,"peak":1,"dropped":0}`), Data: []byte(value)}
}

func frame(kind wire.Kind, request uint32, meta, data string) intrusion {
	return func(p *puppet, id uint64) {
		p.send(wire.Frame{Kind: kind, Call: id, Request: request, Meta: []byte(meta), Data: []byte(data)})
	}
}

// raw writes a head that says what it wants, and then some bytes.
func raw(size uint32, meta uint32, rest string) intrusion {
	return func(p *puppet, id uint64) {
		head := binary.LittleEndian.AppendUint32(nil, size)
		head = append(head, byte(wire.Result))
		head = binary.LittleEndian.AppendUint64(head, id)
		head = binary.LittleEndian.AppendUint32(head, 0)
		head = binary.LittleEndian.AppendUint32(head, meta)
		_, _ = p.conn.Write(append(head, rest...))
	}
}

func then(all ...intrusion) intrusion {
	return func(p *puppet, id uint64) {
		for _, do := range all {
			do(p, id)
		}
	}
}

func many(n int, do func(i int) intrusion) intrusion {
	return func(p *puppet, id uint64) {
		for i := range n {
			do(i)(p, id)
		}
	}
}

const okRequest = `{"op":"test"}`

// intrusions are those that must end the worker at once, by name.
func intrusions() map[string]intrusion {
	return map[string]intrusion{
		"a length of 4 GiB":               raw(1<<32-1, 0, ""),
		"a length below the head":         raw(3, 0, ""),
		"more meta than frame":            raw(17, 1, ""),
		"more meta than allowed":          raw(17+wire.MaxMeta+2, wire.MaxMeta+1, strings.Repeat("x", 100)),
		"a result for an unknown call":    func(p *puppet, id uint64) { p.send(result(id+1, `1`)) },
		"a result for no call":            func(p *puppet, id uint64) { p.send(result(0, `1`)) },
		"a log line of another call":      func(p *puppet, id uint64) { frame(wire.Log, 0, `{"level":"info","at_ns":1}`, "x")(p, id+7) },
		"a request of another call":       func(p *puppet, id uint64) { frame(wire.Request, 1, okRequest, "")(p, id-1) },
		"a kind of the room":              frame(wire.Call, 0, `{}`, ""),
		"a kind that is none":             frame(0, 0, `{}`, ""),
		"another kind that is none":       frame(255, 0, `{}`, ""),
		"ready again":                     frame(wire.Ready, 0, "", ""),
		"checked for a call":              frame(wire.Checked, 0, `{}`, ""),
		"duplicate keys":                  frame(wire.Result, 0, `{"peak":1,"peak":2}`, `1`),
		"case-folded keys":                frame(wire.Result, 0, `{"Peak":1}`, `1`),
		"unknown keys":                    frame(wire.Result, 0, `{"tool":"other"}`, `1`),
		"two values":                      frame(wire.Result, 0, `{}{}`, `1`),
		"no meta":                         frame(wire.Result, 0, ``, `1`),
		"meta of another type":            frame(wire.Result, 0, `[]`, `1`),
		"invalid UTF-8":                   frame(wire.Log, 0, "{\"level\":\"\xff\"}", ""),
		"depth 10,000":                    frame(wire.Request, 1, `{"op":"x","args":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+`}`, ""),
		"duplicate keys in args":          frame(wire.Request, 1, `{"op":"x","args":{"url":"a","url":"b"}}`, ""),
		"a result that is not JSON":       frame(wire.Result, 0, `{}`, `{"a":`),
		"an empty result":                 frame(wire.Result, 0, `{}`, ``),
		"two results in one":              frame(wire.Result, 0, `{}`, `1 2`),
		"an error and a value":            frame(wire.Result, 0, `{"error":{"code":"call_failed","message":"x"}}`, `1`),
		"a result over the limit":         frame(wire.Result, 0, `{}`, `"`+strings.Repeat("x", 2<<20)+`"`),
		"a result with a request id":      frame(wire.Result, 1, `{}`, `1`),
		"an unknown log level":            frame(wire.Log, 0, `{"level":"fatal","at_ns":1}`, "x"),
		"progress that is no number":      frame(wire.Progress, 0, `{"done":"all"}`, ""),
		"progress with data":              frame(wire.Progress, 0, `{"done":1}`, "x"),
		"a request twice":                 then(frame(wire.Request, 1, okRequest, ""), frame(wire.Request, 1, okRequest, "")),
		"requests out of order":           then(frame(wire.Request, 2, okRequest, ""), frame(wire.Request, 1, okRequest, "")),
		"an abort of nothing":             frame(wire.Abort, 5, "", ""),
		"an abort that talks":             then(frame(wire.Request, 1, okRequest, ""), frame(wire.Abort, 1, "", "x")),
		"more requests than the limit":    many(wire.MaxRequests+1, func(i int) intrusion { return frame(wire.Request, uint32(i), okRequest, "") }),
		"a frame that stops halfway":      then(raw(17+100, 0, "x"), func(*puppet, uint64) { panic("the process ends in the middle of a frame") }),
		"a request of another kind":       frame(wire.Request, 1, `{"op":1}`, ""),
		"a result that claims too little": raw(17+1, 0, `12345678901234567890`),
	}
}

// trickle sends an honest result, far too slowly.
func trickle(p *puppet, id uint64) {
	bytes, _ := wire.Append(nil, result(id, `1`)) // small enough
	for i := range bytes {
		if _, err := p.conn.Write(bytes[i : i+1]); err != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
