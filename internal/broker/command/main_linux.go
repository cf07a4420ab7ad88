package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Main does the work of a process between room and command, and does not return
// from it. In any other process it does nothing. It must be the first thing in main, and in
// TestMain of tests that run commands.
func Main() {
	if len(os.Args) != 1 || os.Args[0] != superviseName && os.Args[0] != confineName {
		return
	}
	var t task
	if err := json.Unmarshal([]byte(os.Getenv("TOOLROOM_TASK")), &t); err != nil {
		os.Exit(2)
	}
	runtime.LockOSThread() // what is set here is set on one thread
	if os.Args[0] == superviseName {
		watch(t)
	}
	status := os.NewFile(3, "status")
	unix.CloseOnExec(3)
	fmt.Fprintln(status, "fail", become(t)) // it returns only when it failed
	os.Exit(2)
}

// watch is the supervisor: it starts the confined process, and ends when
// nothing beneath it is left.
func watch(t task) {
	control, status := os.NewFile(3, "control"), os.NewFile(4, "status")
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(status, "fail", err)
		os.Exit(2)
	}
	cmd := exec.Command(self)
	cmd.Args = []string{confineName}
	cmd.Env = os.Environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{status}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(status, "fail", err)
		os.Exit(2)
	}
	fmt.Fprintln(status, "pid", cmd.Process.Pid)
	go func() {
		_, _ = io.Copy(io.Discard, control) // ends when the room has closed its end, or is gone
		finish(t)
		os.Exit(0) // the room may be gone, and nobody but this process cleans up
	}()
	code := reap(cmd.Process.Pid)
	finish(t)
	fmt.Fprintln(status, "exit", code)
	os.Exit(0)
}

// finish leaves nothing of the command: no process, no temporary file.
func finish(t task) {
	killAll()
	_ = os.RemoveAll(t.Temp) // the room tries as well
}

// reap waits for the command, and for every orphan that ends before it.
func reap(pid int) int {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 255
		case got == pid && status.Signaled():
			return 128 + int(status.Signal())
		case got == pid && status.Exited():
			return status.ExitStatus()
		}
	}
}

// killAll kills everything beneath this process until nothing is left: what is
// killed leaves its children to this process, a subreaper.
func killAll() {
	for {
		below := descendants(os.Getpid())
		if len(below) == 0 {
			return
		}
		for _, pid := range below {
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by itself
		}
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err != unix.EINTR && (err != nil || pid <= 0) {
				break
			}
		}
		time.Sleep(time.Millisecond) // the kernel needs a moment to end them
	}
}

// descendants lists the processes beneath one that still run.
func descendants(of int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is fine
	for _, path := range stats {
		if b, err := os.ReadFile(path); err == nil {
			pid, parent, ended := parseStat(string(b))
			if !ended || parent == of {
				children[parent] = append(children[parent], pid)
			}
		}
	}
	found := []int{of}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found[1:]
}

// parseStat reads "pid (name) state parent …"; the name may hold anything.
func parseStat(s string) (pid, parent int, ended bool) {
	head, _, _ := strings.Cut(s, " ")
	fields := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(fields) < 2 {
		return 0, 0, true
	}
	pid, _ = strconv.Atoi(head) // the kernel writes numbers
	parent, _ = strconv.Atoi(fields[1])
	return pid, parent, fields[0] == "Z" || fields[0] == "X"
}
