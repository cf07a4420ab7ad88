package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"toolroom"
	"toolroom/internal/cli"
)

var update = flag.Bool("update", false, "write the expected transcripts anew")

// asProgram makes this test binary the program: its value is not looked at.
const asProgram = "TOOLROOM_TEST_PROGRAM"

func TestMain(m *testing.M) {
	toolroom.WorkerMain()
	if os.Getenv(asProgram) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// TestTranscripts plays what clients say to the real program, and compares what
// it answers. In a transcript, lines after > are sent as they are and wait for their answer, lines after >> do
// not wait, = waits for a message of that method (an answer, when none is named), ! starts the program again on the same data, and # says something to the reader. All else is the
// program's, made anew by -update.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.transcript")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".transcript"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s differs; after a look, go test -update writes it anew. Got:\n%s", file, firstDifference(got, string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			from, to := max(0, i-3), min(len(g), i+12)
			return fmt.Sprintf("line %d:\n%s", i+1, strings.Join(g[from:to], "\n"))
		}
	}
	return "the beginning of what was expected"
}

// play runs the client's side of a transcript and returns it with both sides.
func play(t *testing.T, script string) string {
	dir := t.TempDir()
	p := start(t, dir)
	defer func() { p.stop(t) }()
	var out strings.Builder
	for _, line := range strings.Split(script, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.ReplaceAll(rest, "$STATE", p.state)
		if !slices.Contains([]string{">", ">>", "=", "!", "#"}, word) {
			continue
		}
		fmt.Fprintln(&out, line)
		switch word {
		case ">>":
			p.send(t, rest)
		case ">":
			p.send(t, rest)
			if answered(rest) {
				fmt.Fprintln(&out, pretty(t, p.next(t, "")))
			}
		case "=":
			fmt.Fprintln(&out, pretty(t, p.next(t, rest)))
		case "!":
			p.stop(t)
			p = start(t, dir)
		}
	}
	return out.String()
}

// answered says whether a line that a client sends gets an answer: all but notifications.
func answered(line string) bool {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	return json.Unmarshal([]byte(line), &m) != nil || len(m.ID) > 0 || m.Method == ""
}

// program is the running toolroom.
type program struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan []byte
	queued [][]byte // notifications nobody has waited for yet
	state  string   // the first requestState; $STATE in a transcript
	errs   bytes.Buffer
}

func start(t *testing.T, dir string) *program {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{cmd: exec.Command(exe, "mcp", "--data", filepath.Join(dir, "data"), "--root", dir), lines: make(chan []byte, 64)}
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	p.cmd.Stderr = &p.errs
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for r := bufio.NewReader(stdout); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			p.lines <- line
		}
	}()
	return p
}

func (p *program) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// next is the next notification of method, or with "" the next message that is no notification.
func (p *program) next(t *testing.T, method string) []byte {
	t.Helper()
	for i, line := range p.queued {
		if methodOf(line) == method {
			p.queued = append(p.queued[:i], p.queued[i+1:]...)
			return line
		}
	}
	timeout := time.After(30 * time.Second)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				t.Fatalf("the program ended: %s", p.errs.String())
			}
			if state := requestState().FindSubmatch(line); p.state == "" && state != nil {
				p.state = string(state[1])
			}
			if methodOf(line) == method {
				return line
			}
			p.queued = append(p.queued, line)
		case <-timeout:
			t.Fatalf("no message %q came", method)
		}
	}
}

func requestState() *regexp.Regexp { return regexp.MustCompile(`"requestState": ?"([0-9a-f]{64})"`) }

func methodOf(line []byte) string {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(line, &m) != nil {
		return "not JSON"
	}
	return m.Method
}

func (p *program) stop(t *testing.T) {
	t.Helper()
	p.in.Close()
	for range p.lines { // what is still said
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v: %s", err, p.errs.String())
	}
}

// pretty is a message for a transcript: indented, without what differs from run to run.
func pretty(t *testing.T, line []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(line), "  ", "  "); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	text := regexp.MustCompile(`\d{4}-\d\d-\d\d[T ][0-9:.]+Z?`).ReplaceAllString(out.String(), "TIME")
	text = requestState().ReplaceAllString(text, `"requestState": "STATE"`)
	return "  " + strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(text)
}
