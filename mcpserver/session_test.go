package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolroom"
	"toolroom/mcpserver"
	"toolroom/tool"
)

// open is a room's workspace for a model, and a server for it.
func open(t *testing.T, opts toolroom.Options) (*toolroom.Workspace, *mcpserver.Server) {
	t.Helper()
	return openAt(t, t.TempDir(), opts)
}

// openAt is open for a room in the directory data.
func openAt(t *testing.T, data string, opts toolroom.Options) (*toolroom.Workspace, *mcpserver.Server) {
	t.Helper()
	opts.Data = data
	w := within(t, roomWith(t, opts), "w")
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	return w, mcpserver.New(ctx, w, mcpserver.Options{Version: "test"})
}

func roomWith(t *testing.T, opts toolroom.Options) *toolroom.Room {
	t.Helper()
	room, err := toolroom.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := room.Close(); err != nil {
			t.Error(err)
		}
	})
	return room
}

// within is a model in a workspace of a room.
func within(t *testing.T, room *toolroom.Room, workspace string) *toolroom.Workspace {
	t.Helper()
	w, err := room.Workspace(tool.Principal{Place: tool.Place{Tenant: "t", Workspace: workspace}, Kind: tool.Model, ID: "m"}, "")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// overStdio connects a client by two pipes.
func overStdio(t *testing.T, s *mcpserver.Server, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- s.Serve(context.Background(), toServer, fromServer)
		fromServer.Close()
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, opts).Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if err := <-done; err != nil {
			t.Errorf("the session ended with %v", err)
		}
	})
	return session
}

// overHTTP connects a client by streamable HTTP.
func overHTTP(t *testing.T, s *mcpserver.Server, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, opts).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		server.Close()
	})
	return session
}

// both runs a test over each transport.
func both(t *testing.T, test func(t *testing.T, connect func(*testing.T, *mcpserver.Server, *mcp.ClientOptions) *mcp.ClientSession)) {
	t.Run("stdio", func(t *testing.T) { test(t, overStdio) })
	t.Run("http", func(t *testing.T) { test(t, overHTTP) })
}

func call(t *testing.T, s *mcp.ClientSession, name, args string) *mcp.CallToolResult {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

func text(res *mcp.CallToolResult) string {
	if len(res.Content) == 0 {
		return ""
	}
	return res.Content[0].(*mcp.TextContent).Text
}

const globalTool = `{"name":"everywhere","description":"For all.","parameters":{"type":"object"},"body":"return 1","location":"global"}`

// answering is a client whose user answers every question with action.
func answering(action string, asked *[]string) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		*asked = append(*asked, r.Params.Message)
		return &mcp.ElicitResult{Action: action}, nil
	}}
}

func TestApprovalByElicitation(t *testing.T) {
	both(t, func(t *testing.T, connect func(*testing.T, *mcpserver.Server, *mcp.ClientOptions) *mcp.ClientSession) {
		for action, want := range map[string]tool.Code{"accept": "", "decline": tool.ApprovalDeclined, "cancel": tool.ApprovalDeclined} {
			t.Run(action, func(t *testing.T) {
				w, s := open(t, toolroom.Options{})
				var asked []string
				res := call(t, connect(t, s, answering(action, &asked)), "create_tool", globalTool)
				if len(asked) != 1 || !strings.Contains(asked[0], "everywhere") || !strings.Contains(asked[0], "return 1") {
					t.Errorf("the user was asked %q, want one question that shows the name and the body", asked)
				}
				if res.IsError != (want != "") || !strings.HasPrefix(text(res), string(want)) {
					t.Errorf("got %q, want %q", text(res), want)
				}
				if _, err := w.Tool(t.Context(), "everywhere"); (err == nil) != (want == "") {
					t.Errorf("after %s the tool is there: %v", action, err == nil)
				}
			})
		}
	})
}

func TestNobodyToAsk(t *testing.T) {
	w, s := open(t, toolroom.Options{})
	res := call(t, overStdio(t, s, nil), "create_tool", globalTool)
	if !res.IsError || !strings.HasPrefix(text(res), string(tool.ApprovalUnavailable)) {
		t.Errorf("got %q, want approval_unavailable", text(res))
	}
	kept, _, err := w.Approvals(t.Context(), toolroom.Pending, "")
	if err != nil || len(kept) != 1 {
		t.Errorf("the inbox holds %d questions, want 1: %v", len(kept), err)
	}
}

func TestListChangedReachesEverySession(t *testing.T) {
	both(t, func(t *testing.T, connect func(*testing.T, *mcpserver.Server, *mcp.ClientOptions) *mcp.ClientSession) {
		_, s := open(t, toolroom.Options{})
		told := make(chan struct{}, 8)
		listening := connect(t, s, &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} }})
		if res := call(t, connect(t, s, nil), "create_tool", `{"name":"a","description":"A.","parameters":{"type":"object"},"body":"return 1"}`); res.IsError {
			t.Fatal(text(res))
		}
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Fatal("the other session was not told within 10 s")
		}
		if res := call(t, listening, "a", "{}"); text(res) != "1" {
			t.Errorf("the new tool answers %q", text(res))
		}
	})
}

func TestCancelledCallEnds(t *testing.T) {
	_, s := open(t, toolroom.Options{})
	session := overStdio(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	began := time.Now()
	_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "run_code", Arguments: json.RawMessage(`{"body":"for (;;);"}`)})
	if err == nil || time.Since(began) > 15*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	if res := call(t, session, "run_code", `{"body":"return 2"}`); text(res) != "2" {
		t.Errorf("after a cancelled call: %q", text(res))
	}
}

func TestLongTextIsCutAndStructuredContentIsWhole(t *testing.T) {
	_, s := open(t, toolroom.Options{})
	res := call(t, overStdio(t, s, nil), "run_code", `{"body":"return '\u00e9'.repeat(20000)"}`)
	if got := []rune(text(res)); len(got) < 16000 || len(got) > 16400 || !strings.Contains(text(res), "first 16000 of 20000 characters") {
		t.Errorf("the text has %d characters and ends %q", len(got), string(got[len(got)-120:]))
	}
	whole, _ := res.StructuredContent.(map[string]any)
	if value, _ := whole["result"].(string); len([]rune(value)) != 20000 {
		t.Errorf("structured content has %d characters, want 20000", len([]rune(value)))
	}
}

func TestListIsPagedAndPrivate(t *testing.T) {
	w, s := open(t, toolroom.Options{MaxTools: 200})
	for i := range 130 {
		name := "t" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		_, err := w.Create(t.Context(), tool.Definition{Name: name, Description: "x", Parameters: json.RawMessage(`{"type":"object"}`), Body: "return 1"}, toolroom.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	session := overStdio(t, s, nil)
	seen := map[string]bool{}
	for cursor := ""; ; {
		page, err := session.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if page.CacheScope != "private" {
			t.Errorf("the list is marked %q, want private", page.CacheScope)
		}
		for _, x := range page.Tools {
			if seen[x.Name] {
				t.Errorf("%s is listed twice", x.Name)
			}
			seen[x.Name] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != 130+8 {
		t.Errorf("%d tools are listed, want 138", len(seen))
	}
}
