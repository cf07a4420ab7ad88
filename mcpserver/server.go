// Package mcpserver shows one workspace of a room as an MCP server, over stdio
// and over streamable HTTP. It translates and never decides:
//
//	tools/list  ──▶ the built-in tools, then the workspace's own, page by page
//	tools/call  ──▶ builtin.Invoke or Workspace.Call, by name, looked up at the time of the call
//	change feed ──▶ notifications/tools/list_changed
//
// The protocol itself is the official SDK's. Requests for tools are answered in
// a middleware, so that what a client sees is never older than the registry.
package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolroom"
	"toolroom/internal/builtin"
)

// Options are what a Server may be told. The zero value is usable.
type Options struct {
	Version string       // of the program, shown to clients
	Logger  *slog.Logger // nil: silent
}

// Server is a workspace as an MCP server. It serves any number of sessions,
// over any number of transports, at the same time.
type Server struct {
	workspace *toolroom.Workspace
	mcp       *mcp.Server
	active    atomic.Int64    // calls under way
	calls     context.Context // ends when calls under way must
	endCalls  context.CancelFunc
}

// instructions are what a client may put into its model's context.
const instructions = "Tools of this workspace can be made, changed and undone while you work. Make one with create_tool when you would " +
	"do the same thing more than once; look with search_tools first. Try code with run_code. If a tool you made is not in your list, run it with call_tool. " +
	"Errors read \"code: message\" and then what to do."

// New returns a Server for w. Until ctx ends it follows the changes of w and
// tells its sessions of them. Whoever serves its Handler calls Close in the end.
func New(ctx context.Context, w *toolroom.Workspace, o Options) *Server {
	s := &Server{workspace: w}
	s.calls, s.endCalls = context.WithCancel(context.WithoutCancel(ctx))
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "toolroom", Title: "Toolroom", Version: o.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       o.Logger,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { *c = private() },
	})
	s.mcp.AddReceivingMiddleware(s.answer)
	after := w.Revision()
	go func() {
		if err := w.Watch(ctx, after, s.touch); err != nil && o.Logger != nil {
			o.Logger.Error("clients are no longer told of changes", "error", err)
		}
	}()
	return s
}

// private says that a list belongs to one workspace and is old at once.
func private() mcp.Cacheable { return mcp.Cacheable{CacheScope: "private"} }

// touch makes the SDK tell all sessions that the list of tools has changed: it
// does so when a tool is added, gathering changes that come close together. The tool itself is never looked at.
func (s *Server) touch(toolroom.Event) {
	s.mcp.AddTool(&mcp.Tool{Name: builtin.CallTool, InputSchema: map[string]any{"type": "object"}}, nil)
}

// answer takes the requests for tools away from the SDK's own registry.
func (s *Server) answer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch r := req.(type) {
		case *mcp.ListToolsRequest:
			return s.list(ctx, r)
		case *mcp.CallToolRequest:
			return s.call(ctx, r)
		}
		res, err := next(ctx, method, req)
		return res, withCode(err)
	}
}

// Serve speaks MCP on in and out, a message a line, until in ends, ctx does,
// or nobody reads out any more.
// A line that is no message is answered with a protocol error and does not end the session.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	err := s.mcp.Run(ctx, &lineTransport{in: in, out: out, end: ctx.Done()})
	if ctx.Err() != nil || errors.Is(err, errGone) {
		return nil
	}
	return err
}

// Close waits for the calls under way until ctx ends, cancels those that are left, and ends
// all sessions.
func (s *Server) Close(ctx context.Context) {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for s.active.Load() > 0 && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-look.C:
		}
	}
	s.endCalls()
	for session := range s.mcp.Sessions() {
		_ = session.Close() // what its client did not read is lost either way
	}
}

// maxRequest bounds the body of one HTTP request: arguments of 1 MB at their most escaped.
const maxRequest = 8 << 20

// Handler serves MCP over streamable HTTP. Who may reach it is the caller's
// affair: Handler checks neither keys nor origins.
func (s *Server) Handler() http.Handler {
	return checkBody(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		SessionTimeout: time.Hour, MaxRequestBodyBytes: maxRequest, PropagateRequestCancellation: true,
	}))
}

// oddBody is the answer to a body in which the SDK would not find messages as it takes them. It takes
// lists of messages as well, from clients of the versions that had them.
func oddBody(body []byte) []byte {
	if len(body) > maxRequest {
		return nil // which the SDK says
	}
	batch := []json.RawMessage{body}
	if list := []json.RawMessage(nil); bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) && json.Unmarshal(body, &list) == nil && len(list) > 0 {
		batch = list
	}
	for _, message := range batch {
		_, err := jsonrpc.DecodeMessage(message)
		if answer := refusal(message, err); answer != nil {
			return answer
		}
	}
	return nil
}

// checkBody answers what oddBody refuses. All else that is wrong with a request is left to next,
// which reads the body again.
func checkBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
		if err != nil {
			http.Error(w, "the body of the request did not arrive whole", http.StatusBadRequest)
			return
		}
		if answer := oddBody(body); answer != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(answer) // a client that left reads nothing
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}
