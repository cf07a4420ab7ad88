package sandbox_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"

	"toolroom/internal/sandbox"
)

// TestMain lets the test binary be a worker: what Args name is what it does.
func TestMain(m *testing.M) {
	if sandbox.Started(os.Args) {
		if err := beWorker(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func beWorker(what string) error {
	if what == "unconfined" { // a worker that never enters the sandbox, and says it is ready
		conn := os.NewFile(3, "room")
		_, err := io.Copy(conn, conn)
		return err
	}
	conn, err := sandbox.Enter()
	if err != nil {
		return err
	}
	switch what {
	case "echo":
		_, err = io.Copy(conn, conn)
		return err
	}
	return fmt.Errorf("no such stand-in: %q", what)
}

// start starts the test binary as a worker that does what is named.
func start(t *testing.T, what ...string) *sandbox.Process {
	t.Helper()
	l, err := sandbox.NewLauncher(sandbox.Command{Args: what, Required: true})
	if err != nil {
		t.Fatalf("this machine cannot confine a worker: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	p, err := l.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); p.Wait() })
	return p
}

// say sends a line to an echoing worker and waits for it.
func say(t *testing.T, p *sandbox.Process) {
	t.Helper()
	got := make([]byte, 5)
	if _, err := io.WriteString(p.Conn, "hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(p.Conn, got); err != nil {
		t.Fatalf("the worker does not answer (%v): %s", err, p.Complaint())
	}
}

func TestAWorkerThatEnteredIsVerified(t *testing.T) {
	p := start(t, "echo")
	say(t, p)
	if err := p.Verify(); err != nil {
		t.Fatal(err)
	}
}

func TestAWorkerThatDidNotEnterIsRefused(t *testing.T) {
	p := start(t, "unconfined")
	say(t, p)
	if err := p.Verify(); err == nil {
		t.Fatal("an unconfined worker passed verification")
	}
}
