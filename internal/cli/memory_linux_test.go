package cli_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const (
	gigabyte = 1 << 30
	enough   = 300 << 10 // KiB that the program may have in memory meanwhile: it has about 60 MiB to begin with
)

// letters is a gigabyte of JSON text that nobody has to keep: it is made as it is read.
func letters() io.Reader { return io.LimitReader(endless{}, gigabyte) }

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestAGigabyteOfArgumentsOverStdio: the line is refused, its memory is not taken, and the session goes on.
func TestAGigabyteOfArgumentsOverStdio(t *testing.T) {
	if testing.Short() {
		t.Skip("a gigabyte: not with -short")
	}
	cmd := program(t, "mcp", "--data", t.TempDir(), "--root", t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(in, io.MultiReader(
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","arguments":{"body":"return 1","args":{"a":"`), letters(),
		strings.NewReader(`"}}}}`+"\n"+`{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for _, want := range []string{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message is at most 8388608 bytes"}}`,
		`{"jsonrpc":"2.0","id":2,"result":{}}`,
	} {
		if got, err := lines.ReadString('\n'); err != nil || got != want+"\n" {
			t.Errorf("got %.300q %v, want %s", got, err, want)
		}
	}
	peak := peakOf(t, cmd.Process.Pid)
	t.Logf("the program had %d MiB in memory at most", peak>>10)
	if peak > enough {
		t.Errorf("that is more than %d MiB", enough>>10)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}

// TestAGigabyteOfArgumentsOfCall: it is refused before a room is opened, from standard input and from a file.
func TestAGigabyteOfArgumentsOfCall(t *testing.T) {
	if testing.Short() {
		t.Skip("a gigabyte: not with -short")
	}
	for _, args := range []string{"-", "@/dev/zero"} {
		var out bytes.Buffer
		cmd := program(t, "call", "absent", "--args", args, "--data", t.TempDir(), "--root", t.TempDir())
		cmd.Stdin, cmd.Stdout, cmd.Stderr = io.MultiReader(strings.NewReader(`{"a":"`), letters(), strings.NewReader(`"}`)), &out, &out
		_ = cmd.Run() // how it ended is looked at below; that it did not read all is what is wanted
		if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.HasPrefix(out.String(), "toolroom: --args: more than 16777216 bytes, the most that a value may have") {
			t.Errorf("--args %s: exit code %d: %s", args, code, out.String())
		}
		if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); !ok || used.Maxrss > enough {
			t.Errorf("--args %s: the program had %d MiB in memory", args, used.Maxrss>>10)
		}
	}
}

// peakOf is the most memory that a process ever had resident, in KiB.
func peakOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib
}
