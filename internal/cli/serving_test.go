package cli_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"toolroom/internal/cli"
)

// server is the program serving HTTP in this process.
type server struct {
	endpoint string // of MCP
	data     string // its directory
	stop     context.CancelFunc
	ended    chan int
}

func serve(t *testing.T) *server {
	t.Helper()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		goleak.VerifyNone(t)
	})
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	s := &server{data: t.TempDir(), stop: stop, ended: make(chan int, 1)}
	stderr, says := io.Pipe()
	args := []string{"serve", "--addr", "127.0.0.1:0", "--data", s.data, "--root", t.TempDir()}
	go func() {
		s.ended <- cli.Run(ctx, args, strings.NewReader(""), io.Discard, says, func(string) string { return "" })
		says.Close()
	}()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	s.endpoint = strings.Fields(strings.TrimPrefix(line, "MCP at "))[0]
	return s
}

func (s *server) connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.endpoint}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// end is the exit code of the server, and how long it took to end.
func (s *server) end(t *testing.T) (int, time.Duration) {
	t.Helper()
	began := time.Now()
	s.stop() // as Ctrl-C would
	select {
	case code := <-s.ended:
		return code, time.Since(began)
	case <-time.After(30 * time.Second):
		t.Fatal("the server had not ended after 30 s")
		return 0, 0
	}
}

func runCode(t *testing.T, s *mcp.ClientSession, body string) (*mcp.CallToolResult, error) {
	return s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"body": body}})
}

// TestServe runs the program as an HTTP server and talks to it.
func TestServe(t *testing.T) {
	s := serve(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		res, err := http.Get(strings.TrimSuffix(s.endpoint, "/mcp") + path)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v %v", path, res, err)
		}
		res.Body.Close()
	}
	session := s.connect(t)
	if got, err := runCode(t, session, "return 6 * 7"); err != nil || got.IsError {
		t.Errorf("a call over HTTP: %+v %v", got, err)
	}
	code, took := s.end(t) // while the session and its stream are open
	if code != 0 || took > 4*time.Second {
		t.Errorf("the server ended with %d after %v, want 0 and no wait for the open stream", code, took)
	}
	_ = session.Close()
}

// TestServeLetsCallsBeAnswered ends the server while one call has a moment left and another has much.
func TestServeLetsCallsBeAnswered(t *testing.T) {
	s := serve(t)
	session := s.connect(t)
	short, long := make(chan string, 1), make(chan string, 1)
	wait := func(ms, answer string, to chan string) {
		got, err := runCode(t, session, "await new Promise((go) => setTimeout(go, "+ms+")); return "+answer)
		switch {
		case err != nil:
			to <- "none"
		case got.IsError:
			to <- "error"
		default:
			to <- got.Content[0].(*mcp.TextContent).Text
		}
	}
	go wait("1500", "'whole'", short)
	go wait("25000", "'late'", long)
	time.Sleep(500 * time.Millisecond) // until both run
	code, took := s.end(t)
	if code != 0 || took > 15*time.Second {
		t.Errorf("the server ended with %d after %v", code, took)
	}
	if got := <-short; got != "whole" {
		t.Errorf("the call that had a moment left got %q", got)
	}
	if got := <-long; got == "late" {
		t.Errorf("the call that had much left was waited for")
	}
	_ = session.Close()
}

// TestOddMessagesOverHTTP sends what is no message of MCP; the server answers each and goes on.
func TestOddMessagesOverHTTP(t *testing.T) {
	s := serve(t)
	for _, c := range []struct {
		name, kind, body string
		want             int
	}{
		{"not JSON", "application/json", "{bad", 400},
		{"nothing", "application/json", "", 400},
		{"an id that is cut", "application/json", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400},
		{"an id that is null", "application/json", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400},
		{"an id that is true", "application/json", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, 400},
		{"an unknown method", "application/json", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, 400},
		{"invalid UTF-8", "application/json", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", 400},
		{"plain text, as a form can send", "text/plain", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 415},
		{"more than a request may have", "application/json", strings.Repeat(" ", 9<<20), 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), "POST", s.endpoint, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", c.kind)
			req.Header.Set("Accept", "application/json, text/event-stream")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != c.want {
				t.Errorf("got %d, want %d", res.StatusCode, c.want)
			}
		})
	}
	session := s.connect(t)
	if got, err := runCode(t, session, "return 1"); err != nil || got.IsError {
		t.Errorf("a call afterwards: %+v %v", got, err)
	}
	_ = session.Close()
	if code, _ := s.end(t); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
}
