package cli_test

import (
	"bufio"
	"context"
	"flag"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"toolroom"
	"toolroom/internal/cli"
)

var update = flag.Bool("update", false, "write the expected outputs of scripts anew")

func TestMain(m *testing.M) {
	toolroom.WorkerMain()
	testscript.Main(m, map[string]func(){"toolroom": run})
}

// run is the program as cmd/toolroom has it.
func run() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}

// TestScripts runs the program as its users do, by the scripts in testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TOOLROOM_DATA", e.WorkDir+"/data")
			e.Setenv("NO_COLOR", "1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "eventually": eventually},
	})
}

// TestServe runs the program as an HTTP server and talks to it.
func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stderr, says := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		args := []string{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--root", t.TempDir()}
		ended <- cli.Run(ctx, args, strings.NewReader(""), io.Discard, says, func(string) string { return "" })
		says.Close()
	}()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	endpoint := strings.Fields(strings.TrimPrefix(line, "MCP at "))[0]

	res, err := http.Get(strings.TrimSuffix(endpoint, "/mcp") + "/healthz")
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("healthz: %v %v", res, err)
	}
	res.Body.Close()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: endpoint}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"body": "return 6 * 7"}})
	if err != nil || got.IsError {
		t.Errorf("a call over HTTP: %+v %v", got, err)
	}
	stop() // as Ctrl-C would, while the session is open
	select {
	case code := <-ended:
		if code != 0 {
			t.Errorf("the server ended with %d, want 0", code)
		}
	case <-time.After(30 * time.Second):
		t.Error("the server had not ended after 30 s")
	}
	_ = session.Close()
}

// exits CODE COMMAND…: the command ends with exactly this exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	if got := exitOf(ts, args[1:]); got != args[0] {
		ts.Fatalf("%v ended with %s, want %s", args[1:], got, args[0])
	}
}

func exitOf(ts *testscript.TestScript, command []string) string {
	if err := ts.Exec(command[0], command[1:]...); err != nil {
		return strings.TrimPrefix(err.Error(), "exit status ")
	}
	return "0"
}

// eventually CODE COMMAND…: the command ends with this exit code within a minute,
// tried again until it does. For what another process is about to do.
func eventually(ts *testscript.TestScript, _ bool, args []string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if exitOf(ts, args[1:]) == args[0] {
			return
		}
	}
	ts.Fatalf("%v did not end with %s within a minute", args[1:], args[0])
}
