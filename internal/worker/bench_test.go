//go:build unix

package worker

import (
	"bufio"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"toolroom/internal/wire"
)

// A worker's whole path for a trivial call, sixteen in flight over one UNIX socket.
func BenchmarkServe(b *testing.B) {
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	there, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	here, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = Serve(there) }()
	out := bufio.NewWriterSize(here, 64<<10)
	w, r := wire.NewWriter(out), wire.NewReader(bufio.NewReaderSize(here, 64<<10), wire.MaxMeta+wire.MaxData)
	send := func(kind wire.Kind, call uint64, meta any, data string) {
		m, _ := wire.Encode(meta)
		if call, ok := meta.(wire.CallMeta); ok {
			m = call.Pack()
		}
		if err := w.Write(wire.Frame{Kind: kind, Call: call, Meta: m, Data: []byte(data)}); err != nil {
			b.Fatal(err)
		}
	}
	send(wire.Hello, 0, wire.HelloMeta{Slots: 32, MemoryMB: 128, LogBytes: 64 << 10, MaxCached: 16}, "")
	send(wire.Load, 0, wire.LoadMeta{Key: "k", File: "t.js"}, "(async function execute(args, ctx) { return {sum: args.a + args.b} })")
	meta := wire.CallMeta{Key: "k", Env: []byte(`{"tool":"t"}`), TimeoutMS: 10_000, MemoryMB: 128, MaxResult: 1 << 20}
	out.Flush()
	if f, err := r.Read(); err != nil || f.Kind != wire.Ready {
		b.Fatal(err, f.Kind)
	}
	const inFlight = 16
	sent := 0
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu()
	for n := range b.N {
		for sent < b.N && sent < n+inFlight {
			send(wire.Call, uint64(sent+1), meta, `{"a":1,"b":2}`)
			sent++
		}
		out.Flush()
		f, err := r.Read()
		if err != nil || f.Kind != wire.Result || string(f.Data) != `{"sum":3}` {
			b.Fatalf("%v %+v %s %s", err, f.Kind, f.Meta, f.Data)
		}
	}
	b.ReportMetric(float64(cpu()-before)/float64(b.N)/1e3, "cpu-µs/op") // steadier than the clock on a busy machine
}

// cpu is the processor time this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
