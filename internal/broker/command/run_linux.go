package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"toolroom/tool"
)

// The first argument of the two processes between room and command.
const (
	superviseName = "toolroom-exec-supervisor"
	confineName   = "toolroom-exec"
)

// self is this program, also after its file was replaced.
const self = "/proc/self/exe"

// task is what the processes in between are told.
type task struct {
	Path  string   `json:"path"`
	Args  []string `json:"args"`
	Root  string   `json:"root"`
	Dir   string   `json:"dir"`
	Temp  string   `json:"temp"`
	Write bool     `json:"write"`
}

// run starts the supervisor and waits for it.
func run(ctx context.Context, path string, r Run) (Result, error) {
	temp, err := os.MkdirTemp("", "toolroom-exec-")
	if err != nil {
		return Result{}, notStarted(r.Name, err)
	}
	defer os.RemoveAll(temp) // what a command leaves there is nobody's
	t := task{Path: path, Args: append([]string{r.Name}, r.Args...), Root: r.Root, Dir: temp, Temp: temp, Write: r.Write}
	if r.Root != "" {
		t.Dir = filepath.Join(r.Root, r.Dir)
	}
	limited := ctx
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	result, status, err := supervise(limited, t, r.Input)
	switch {
	case ctx.Err() != nil:
		return Result{}, tool.AsError(context.Cause(ctx))
	case limited.Err() != nil:
		return Result{}, tool.Errorf(tool.ExecFailed, "%s did not end in %d ms and was killed", r.Name, r.Timeout.Milliseconds())
	case err != nil:
		return Result{}, notStarted(r.Name, err)
	}
	return result, result.read(r.Name, status)
}

func notStarted(name string, err error) error {
	return tool.Errorf(tool.ExecFailed, "%s could not be started", name).WithCause(err)
}

// supervise runs the supervisor until all beneath it is gone. status is what it
// and the confined process say.
func supervise(ctx context.Context, t task, input []byte) (result Result, status string, err error) {
	told, err := json.Marshal(t)
	if err != nil {
		return result, "", err
	}
	control, held, err := os.Pipe()
	if err != nil {
		return result, "", err
	}
	defer held.Close()
	saying, said, err := os.Pipe()
	if err != nil {
		_ = control.Close()
		return result, "", err
	}
	defer saying.Close()
	var stdout, stderr capped
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = []string{superviseName}
	cmd.Env = []string{"TOOLROOM_TASK=" + string(told)}
	cmd.Dir = t.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	cmd.ExtraFiles = []*os.File{control, said}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what a terminal or an operator sends to the room's group must not end it before its work is done
	cmd.Cancel = held.Close                              // the supervisor ends all when it sees this
	cmd.WaitDelay = 10 * time.Second                     // should it not, it is killed
	err = cmd.Start()
	_, _ = control.Close(), said.Close() // the supervisor has its own
	if err != nil {
		return result, "", err
	}
	words := make(chan string, 1)
	go func() { words <- hear(saying) }()
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return Result{Stdout: stdout.kept, Stderr: stderr.kept, Truncated: stdout.cut || stderr.cut}, <-words, err
}

// hear reads a status to its end, which comes when the supervisor is gone. One that did not say how the
// command ended was killed, and what it watched over is ended here.
func hear(saying io.Reader) string {
	b, _ := io.ReadAll(io.LimitReader(saying, 4096)) // what is missing shows as a status that says nothing
	status, leader := string(b), 0
	if strings.Contains(status, "exit ") || strings.Contains(status, "fail ") {
		return status
	}
	_, _ = fmt.Sscanf(status, "pid %d", &leader) // 0: it was not started
	killOrphans(leader)
	return status
}

// read takes the exit code out of a status: "pid 7", then "exit 0", or "fail" and why.
func (r *Result) read(name, status string) error {
	for line := range strings.Lines(status) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "fail":
			return tool.Errorf(tool.ExecFailed, "%s could not be started: %s", name, rest)
		case "exit":
			code, err := strconv.Atoi(rest)
			r.ExitCode = code
			return err
		}
	}
	return tool.Errorf(tool.ExecFailed, "%s was killed together with what watched over it", name)
}
