package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toolroom"
	"toolroom/mcpserver"
	"toolroom/tool"
)

// crowd is a workspace with n tools, made by one import, which is how so many come.
func crowd(b *testing.B, n int) *toolroom.Workspace {
	b.Helper()
	room, err := toolroom.Open(context.Background(), toolroom.Options{Data: b.TempDir(), MaxTools: 10_000})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { room.Close() })
	w, err := room.Workspace(tool.Principal{Place: tool.Place{Tenant: "bench", Workspace: "crowd"}, Kind: tool.User}, "")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for i := range n {
		write(b, dir, i)
	}
	plan, err := w.Import(context.Background(), dir, "")
	if err == nil {
		err = plan.Apply(context.Background(), nil)
	}
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// write makes the files of one tool, of a usual size.
func write(b *testing.B, dir string, i int) {
	b.Helper()
	name := fmt.Sprintf("tool_%05d", i)
	definition := fmt.Sprintf(`{"name":%q,"description":"Looks up entry %d of the register and says when it was last changed, by whom, and which of its fields differ from the draft.",
		"parameters":{"type":"object","properties":{"id":{"type":"string","description":"Number of the entry"},"fields":{"type":"array","items":{"type":"string"}},"since_%d":{"type":"string"}}},
		"code":"%s.js"}`, name, i, i, name)
	for file, text := range map[string]string{name + ".json": definition, name + ".js": fmt.Sprintf("return %d", i)} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// wire is a client that writes and reads lines, so that what is measured is the server.
type wire struct {
	b   *testing.B
	to  io.Writer
	in  *bufio.Reader
	ids int
}

func connect(b *testing.B, w *toolroom.Workspace) *wire {
	b.Helper()
	ctx, stop := context.WithCancel(context.Background())
	toServer, to := io.Pipe()
	from, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- mcpserver.New(ctx, w, mcpserver.Options{}).Serve(ctx, toServer, fromServer) }()
	c := &wire{b: b, to: to, in: bufio.NewReaderSize(from, 1<<20)}
	b.Cleanup(func() {
		to.Close()
		go func() { _, _ = io.Copy(io.Discard, from) }()
		<-done
		stop()
	})
	c.ask("initialize", `{"protocolVersion":"2025-06-18","clientInfo":{"name":"bench","version":"1"},"capabilities":{}}`)
	fmt.Fprintln(to, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// ask sends a request and returns its result.
func (c *wire) ask(method, params string) json.RawMessage {
	c.ids++
	if _, err := fmt.Fprintf(c.to, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.ids, method, params); err != nil {
		c.b.Fatal(err)
	}
	for {
		line, err := c.in.ReadBytes('\n')
		if err != nil {
			c.b.Fatal(err)
		}
		var m struct {
			ID            int
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			c.b.Fatal(err)
		}
		if m.ID != c.ids {
			continue // a notification
		}
		if m.Error != nil {
			c.b.Fatalf("%s: %s", method, m.Error)
		}
		return m.Result
	}
}

// What a client waits for in a workspace of 10, 1,000 and 10,000 tools, over MCP: a page of the list,
// the page in the middle of it, a call, and a search.
func BenchmarkManyTools(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		c := connect(b, crowd(b, n))
		cursor := c.pages(n)
		name := fmt.Sprintf("tool_%05d", n/2)
		for _, job := range []struct{ name, method, params string }{
			{"list/first", "tools/list", `{}`},
			{"list/middle", "tools/list", cursor},
			{"call", "tools/call", `{"name":"` + name + `","arguments":{"id":"7"}}`},
			{"search", "tools/call", `{"name":"search_tools","arguments":{"query":"since_` + fmt.Sprint(n/2) + `"}}`},
		} {
			b.Run(fmt.Sprintf("%s/%d", job.name, n), func(b *testing.B) {
				c.b = b
				c.ask(job.method, job.params)
				var took []time.Duration
				for b.Loop() {
					t := time.Now()
					c.ask(job.method, job.params)
					took = append(took, time.Since(t))
				}
				quantiles(b, took)
			})
		}
	}
}

// pages reads the whole list, and returns the params of the page in its middle.
func (c *wire) pages(n int) string {
	params, middle := `{}`, `{}`
	for seen, page := 0, 0; ; page++ {
		var list struct {
			Tools      []struct{ Name string }
			NextCursor string
		}
		if err := json.Unmarshal(c.ask("tools/list", params), &list); err != nil {
			c.b.Fatal(err)
		}
		if seen += len(list.Tools); seen < n/2 {
			middle = fmt.Sprintf(`{"cursor":%q}`, list.NextCursor)
		}
		if list.NextCursor == "" {
			if seen != n+8 {
				c.b.Fatalf("%d tools are listed, want %d and the 8 built-in ones", seen, n)
			}
			return middle
		}
		params = fmt.Sprintf(`{"cursor":%q}`, list.NextCursor)
	}
}
