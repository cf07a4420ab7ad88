package mcpserver_test

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestEndOfInput shows what the end of a client's messages does: what can be answered in a
// moment still is, and a call that takes longer does not keep the program.
func TestEndOfInput(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"test","version":"1"},"capabilities":{}}}`
	const waits = "await new Promise(() => setTimeout(() => {}, 25000))"
	input := func(p *program) { p.in.Close() }
	signalled := func(p *program) { _ = p.cmd.Process.Signal(syscall.SIGTERM) }
	for _, c := range []struct {
		name, body, want string
		end              func(*program)
	}{
		{"a quick call is answered", "return 6 * 7", `"result":42`, input},
		{"a call that waits is ended", waits, "", input},
		{"a call that computes is ended", "for (;;) {}", "", input},
		{"a call that waits is ended by a signal", waits, "", signalled},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, t.TempDir())
			p.send(t, hello)
			p.next(t, "")
			p.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			p.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"body":"`+c.body+`"}}}`)
			if c.want == "" {
				time.Sleep(200 * time.Millisecond) // until it runs
			}
			began := time.Now()
			c.end(p)
			var said strings.Builder
			for line := range p.lines {
				said.Write(line)
			}
			if err := p.cmd.Wait(); err != nil {
				t.Errorf("the program ended with %v: %s", err, p.errs.String())
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("the program ended %v after its input", took)
			}
			if !strings.Contains(said.String(), c.want) {
				t.Errorf("the program said %q, want %q in it", said.String(), c.want)
			}
		})
	}
}
