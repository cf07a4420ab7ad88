package cli_test

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"toolroom"
	"toolroom/internal/cli"
)

var update = flag.Bool("update", false, "write the expected outputs of scripts anew")

func TestMain(m *testing.M) {
	toolroom.WorkerMain()
	testscript.Main(m, programs())
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
