package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Verify reads from the kernel, not from the worker, whether every thread is
// confined and nothing but its pipes is open. Call it when the worker says
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
	room, err := readFields("/proc/thread-self/status")
	if err != nil {
		return err
	}
	for _, t := range threads {
		thread, err := readFields(filepath.Join(dir, "task", t.Name(), "status"))
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
	return verifyDescriptors(dir)
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

// readFields reads a file of lines such as "Name:  value".
func readFields(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading what the kernel tells: %w", err)
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

// verifyDescriptors wants one pipe to read from and one to write to, and besides them only the runtime's poller.
func verifyDescriptors(dir string) error {
	open, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return fmt.Errorf("reading the worker's descriptors: %w", err)
	}
	seen := make(map[string]int)
	for _, fd := range open {
		kind, err := describe(dir, fd.Name())
		if err != nil {
			return err
		}
		if seen[kind]++; seen[kind] > 1 {
			return fmt.Errorf("descriptor %s is a second %s", fd.Name(), kind)
		}
	}
	if seen[toRead] != 1 || seen[toWrite] != 1 {
		return fmt.Errorf("the worker has %d pipes to read from and %d to write to, want one each", seen[toRead], seen[toWrite])
	}
	return nil
}

const (
	toRead  = "pipe to read from"
	toWrite = "pipe to write to"
)

// describe says what a descriptor is, if a worker may have one.
func describe(dir, fd string) (string, error) {
	link, err := os.Readlink(filepath.Join(dir, "fd", fd))
	if err != nil {
		return "", fmt.Errorf("reading the worker's descriptors: %w", err)
	}
	if pollerName(link) {
		return link, nil
	}
	if !strings.HasPrefix(link, "pipe:[") {
		return "", fmt.Errorf("descriptor %s is %s", fd, link)
	}
	info, err := readFields(filepath.Join(dir, "fdinfo", fd))
	if err != nil {
		return "", err
	}
	flags, err := strconv.ParseUint(info["flags"], 8, 32)
	switch {
	case err == nil && flags&unix.O_ACCMODE == unix.O_RDONLY:
		return toRead, nil
	case err == nil && flags&unix.O_ACCMODE == unix.O_WRONLY:
		return toWrite, nil
	}
	return "", fmt.Errorf("descriptor %s is a pipe with flags %q", fd, info["flags"])
}
