package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolroom"
	"toolroom/internal/builtin"
	"toolroom/tool"
)

// call answers tools/call. Whatever goes wrong with the tool is a result that
// the model can read, never a protocol error.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
	s.active.Add(1)
	defer s.active.Add(-1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.calls, cancel)()
	ask := &questioner{req: req}
	hooks := toolroom.Hooks{Approver: ask}
	if token := req.Params.GetProgressToken(); token != nil {
		report := newReporter(ctx, req.Session, token)
		defer report.close()
		hooks.Progress = report.send
	}
	out, err := s.run(ctx, s.workspace.View(hooks), req.Params.Name, req.Params.Arguments)
	if ask.open != nil {
		return ask.open, nil
	}
	res := success(req.Params.Name, out)
	if err != nil {
		res = failure(tool.AsError(err), out)
	}
	if modern(req.Session) {
		return complete{res}, nil
	}
	return res, nil
}

func (s *Server) run(ctx context.Context, w *toolroom.Workspace, name string, args json.RawMessage) (tool.Outcome, error) {
	if builtin.Is(name) {
		return builtin.Invoke(ctx, w, name, args)
	}
	return w.Call(ctx, name, args)
}

// success is the value twice: whole for programs, and as text for a model.
func success(name string, out tool.Outcome) *mcp.CallToolResult {
	text := asText(out.Value)
	content := []mcp.Content{&mcp.TextContent{Text: cut(text, restOf(name))}}
	structured := make(json.RawMessage, 0, len(out.Value)+12)
	structured = append(append(append(structured, `{"result":`...), out.Value...), '}')
	return &mcp.CallToolResult{Content: append(content, logs(out)...), StructuredContent: structured}
}

// failure is an error in the shape that a model reads: code, message, what to do.
func failure(e *tool.Error, out tool.Outcome) *mcp.CallToolResult {
	text := e.Error()
	if e.Hint != "" {
		text += "\n" + e.Hint
	}
	content := []mcp.Content{&mcp.TextContent{Text: cut(text, "The whole error is in structuredContent.")}}
	return &mcp.CallToolResult{IsError: true, Content: append(content, logs(out)...), StructuredContent: e}
}

// asText is the value itself when it is a string, else its JSON.
func asText(value json.RawMessage) string {
	var s string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// maxText is how many characters of one text are handed to a model.
const maxText = 16_000

// cut shortens text to maxText characters and says how much is missing and how
// to get it.
func cut(text, rest string) string {
	if len(text) <= maxText || utf8.RuneCountInString(text) <= maxText {
		return text
	}
	end, seen := 0, 0
	for end = range text {
		if seen == maxText {
			break
		}
		seen++
	}
	return fmt.Sprintf("%s\n[cut: these are the first %d of %d characters. %s]", text[:end], maxText, utf8.RuneCountInString(text), rest)
}

func restOf(name string) string {
	switch name {
	case builtin.ReadTool:
		return "read_tool with from_line and to_line returns a part of the body; structuredContent.result holds everything."
	case builtin.ListTools, builtin.SearchTools:
		return "Ask for less with query; structuredContent.result holds everything."
	case builtin.RunCode, builtin.CallTool:
		return "structuredContent.result holds everything; or return less, such as a slice of it."
	}
	return fmt.Sprintf("structuredContent.result holds everything; or read a part with run_code: "+
		"const r = await ctx.callTool(%q, args); return (typeof r === 'string' ? r : JSON.stringify(r)).slice(%d, %d);", name, maxText, 2*maxText)
}

// logs is what the body wrote, as a text of its own after the value.
func logs(out tool.Outcome) []mcp.Content {
	if len(out.Logs) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("log:")
	for _, l := range out.Logs {
		fmt.Fprintf(&b, "\n%s %s", l.Level, l.Text)
	}
	if out.Dropped > 0 {
		fmt.Fprintf(&b, "\n(%d more bytes of log were dropped)", out.Dropped)
	}
	return []mcp.Content{&mcp.TextContent{Text: cut(b.String(), "Log less.")}}
}
