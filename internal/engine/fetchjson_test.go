package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolroom/tool"
)

// scripted answers net.fetch with a head and a first chunk, and net.read with the chunks after it.
type scripted struct {
	noHost
	call   *Call
	status int
	chunks []string // the first comes with the head; nil: no data at all
	broken *tool.Error
	asked  []string
	read   int
}

func (s *scripted) Request(id uint32, op string, args, data []byte) {
	s.asked = append(s.asked, op+" "+string(bytes.Clone(args))+" "+string(data))
	if op == "net.fetch" {
		s.read = 0
	}
	if op == "net.close" {
		return
	}
	p := Reply{ID: id}
	if s.read < len(s.chunks) {
		p.Data = []byte(s.chunks[s.read])
	}
	s.read++
	done := s.read >= len(s.chunks) && s.broken == nil
	value := map[string]any{"done": done}
	if op == "net.fetch" {
		value = map[string]any{"url": "http://h/p#hash", "status": s.status, "statusText": "Text", "headers": [][2]string{{"X-A", "b"}}, "redirected": false, "stream": 3, "done": done}
	}
	p.Value, _ = json.Marshal(value)
	if s.broken != nil && s.read > len(s.chunks) {
		p = Reply{ID: id}
		p.Error, _ = json.Marshal(s.broken)
	}
	s.call.Reply(p)
}

// fetchJSONWays are ways to ask for one thing; "" is the short way, which has code of its own.
func fetchJSONWays() []string {
	return []string{"", ", undefined", ", null", ", {}", ", { method: 'GET' }", ", { method: 'get', redirect: 'follow' }", ", { headers: {} }", ", { body: undefined, query: undefined }", ", { query: {} }", ", { signal: undefined }", ", { signal: new AbortController().signal }", ", { headers: { Accept: 'application/json' } }"}
}

// TestFetchJSONWays: ctx.fetchJson(url) asks for the same and gives the same as with options that say nothing.
func TestFetchJSONWays(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of answers: not with -short")
	}
	e := newEngine(t)
	texts := [][]string{nil, {""}, {"", ""}, {`{"a":[1,"é"]}`}, {`{"a":`, `1}`}, {"", "", `[1]`}, {"\ufeff1"}, {" "}, {"null"}, {"{"}, {`{"a":1}x`}, {"\xff"}, {strings.Repeat("no json ", 100)}, {strings.Repeat("n", 400), strings.Repeat("o", 400)}}
	failures := []*tool.Error{nil, {Code: tool.ResponseTooLarge, Message: "too large", Hint: "less"}}
	for _, status := range []int{200, 201, 204, 205, 206, 304, 404, 500} {
		for _, chunks := range texts {
			for _, broken := range failures {
				var want string
				for _, options := range fetchJSONWays() {
					body := "try { const v = await ctx.fetchJson(args.url" + options + "); return ['gave', v] } catch (e) { return [e.name, e.message, e.status, e.body, e.code, e.hint, e.headers && [...e.headers], e instanceof Error] .map(v => v === undefined ? null : v) }"
					s := &scripted{status: status, chunks: chunks, broken: broken}
					job := s.job(compiled(t, e, body), `{"url":"http://h/p#hash"}`, 5*time.Second)
					job.Host = s
					s.call = e.Start(job)
					out, meta := ran(s.call)
					got := fmt.Sprintf("%s %+v %q", out, meta.Error, s.asked)
					if options == "" {
						want = got
					}
					if got != want {
						t.Errorf("status %d, %.40q, broken %t, options %s:\n got %s\nwant %s", status, chunks, broken != nil, options, got, want)
					}
				}
			}
		}
	}
}

// TestFetchJSON holds what the short way gives against what it must.
func TestFetchJSON(t *testing.T) {
	e := newEngine(t)
	for _, c := range []struct {
		status int
		chunks []string
		want   string
	}{
		{200, nil, `null`}, {200, []string{""}, `null`}, {200, []string{"", ""}, `null`}, {204, nil, `null`}, {204, []string{"1"}, `null`}, {201, []string{`{"a":1}`}, `{"a":1}`}, {200, []string{"[1", ",2]"}, `[1,2]`}, {200, []string{"\ufeff7"}, `7`},
		{200, []string{"{"}, `"SyntaxError"`}, {404, []string{"gone"}, `"GET http://h/p answered 404 Text: gone"`}, {500, nil, `"GET http://h/p answered 500 Text"`}, {304, []string{""}, `"GET http://h/p answered 304 Text"`},
	} {
		s := &scripted{status: c.status, chunks: c.chunks}
		job := s.job(compiled(t, e, "try { return await ctx.fetchJson(args.url) } catch (e) { return e.status ? e.message : e.name }"), `{"url":"http://h/p#hash"}`, 5*time.Second)
		job.Host = s
		s.call = e.Start(job)
		if out, meta := ran(s.call); string(out) != c.want {
			t.Errorf("%d %q: %s %+v, want %s", c.status, c.chunks, out, meta.Error, c.want)
		}
	}
}
