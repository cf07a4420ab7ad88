package runner

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"toolroom/internal/sandbox"
	"toolroom/tool"
)

// room is a process of its own with workers in every state; it prints their
// process ids, one a line, and then "all", and never ends.
func room() error {
	o := Options{Command: sandbox.Command{Args: []string{"puppet"}, Required: true}, Spares: 2}
	r, err := New(o)
	if err != nil {
		return err
	}
	for i := range 3 {
		place := tool.Place{Workspace: strconv.Itoa(i)}
		if _, _, err := r.Call(context.Background(), say("echo x").at(place)); err != nil {
			return err
		}
		go func() { _, _, _ = r.Call(context.Background(), say("hang").at(place)) }() // it does not end
	}
	for r.processes() < 5 {
	}
	r.mu.Lock()
	for w := range r.workers {
		<-w.ready
		fmt.Println(w.process.PID())
	}
	r.mu.Unlock()
	fmt.Println("all")
	select {}
}

// lives says whether a process runs; one that only waits to be reaped does not.
func lives(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(status), ") Z ")
}

func TestNoWorkerOutlivesARoomThatIsKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), beRoom+"=1"), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var workers []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "all"; {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil || !lives(pid) {
			t.Fatalf("%q is not a worker", lines.Text())
		}
		workers = append(workers, pid)
	}
	kill(t, cmd.Process.Pid)
	_ = cmd.Wait() // it was killed
	if len(workers) != 5 {
		t.Fatalf("the room had %d workers", len(workers))
	}
	for _, pid := range workers {
		eventually(t, "the worker has ended", func() bool { return !lives(pid) })
	}
}
