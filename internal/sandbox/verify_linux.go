package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Verify reads from the kernel, not from the worker, whether every thread is
// confined and nothing but the socket is open. Call it when the worker says
// that it is ready, before anything it says is trusted. Where no sandbox was required
// and the machine cannot filter system calls or tell who is filtered, there is nothing to read.
func (p *Process) Verify() error {
	if !p.verify {
		return nil
	}
	return Verify(p.PID())
}

// verifiable says whether what is missing leaves Verify something to read.
func verifiable(missing []Layer) bool {
	return !slices.ContainsFunc(missing, func(l Layer) bool { return l.Name == seccompName || l.Name == verifyName })
}

// Verify is Process.Verify, with every layer required, for any process that
// this one may read about.
func Verify(pid int) error {
	dir := fmt.Sprintf("/proc/%d", pid)
	threads, err := os.ReadDir(dir + "/task")
	if err != nil {
		return fmt.Errorf("reading the worker's threads: %w", err)
	}
	room, err := readStatus("/proc/thread-self/status")
	if err != nil {
		return err
	}
	for _, t := range threads {
		thread, err := readStatus(filepath.Join(dir, "task", t.Name(), "status"))
		if err == nil {
			err = verifyThread(thread, room)
		}
		if err != nil {
			return fmt.Errorf("thread %s: %w", t.Name(), err)
		}
	}
	if err := verifyLimits(dir + "/limits"); err != nil {
		return err
	}
	return verifyDescriptors(dir + "/fd")
}

// verifyThread wants one seccomp filter more than the room itself lives under:
// in a container, to be filtered is nothing that a worker did.
func verifyThread(thread, room map[string]string) error {
	const none = "0000000000000000"
	for _, want := range [][2]string{{"NoNewPrivs", "1"}, {"Seccomp", "2"}, {"CapEff", none}, {"CapPrm", none}, {"CapAmb", none}} {
		if got := thread[want[0]]; got != want[1] {
			return fmt.Errorf("%s is %q, want %q", want[0], got, want[1])
		}
	}
	const filters = "Seccomp_filters" // Linux 5.9
	outer, err := strconv.Atoi(room[filters])
	if err != nil {
		return fmt.Errorf("counting seccomp filters: %w", err)
	}
	if inner, err := strconv.Atoi(thread[filters]); err != nil || inner <= outer {
		return fmt.Errorf("%q seccomp filters, and the room has %d itself", thread[filters], outer)
	}
	return nil
}

func readStatus(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a thread's status: %w", err)
	}
	fields := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[name] = strings.TrimSpace(value)
		}
	}
	return fields, nil
}

func verifyLimits(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the worker's limits: %w", err)
	}
	for _, name := range limits() {
		_, rest, _ := strings.Cut(string(text), name)
		if f := strings.Fields(rest); len(f) < 2 || f[0] != "0" || f[1] != "0" {
			return fmt.Errorf("limit %q is not 0", name)
		}
	}
	return nil
}

// verifyDescriptors wants one socket, and besides it only the runtime's poller.
func verifyDescriptors(dir string) error {
	open, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the worker's descriptors: %w", err)
	}
	seen := make(map[string]int)
	for _, fd := range open {
		link, err := os.Readlink(filepath.Join(dir, fd.Name()))
		if err != nil {
			return fmt.Errorf("reading the worker's descriptors: %w", err)
		}
		kind, _, _ := strings.Cut(link, ":[")
		if kind != "socket" && !pollerName(link) {
			return fmt.Errorf("descriptor %s is %s", fd.Name(), link)
		}
		if pollerName(link) {
			kind = link
		}
		if seen[kind]++; seen[kind] > 1 {
			return fmt.Errorf("descriptor %s is a second %s", fd.Name(), link)
		}
	}
	if seen["socket"] != 1 {
		return fmt.Errorf("the worker has %d sockets, want 1", seen["socket"])
	}
	return nil
}
