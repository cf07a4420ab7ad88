package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Enter gives up all that a worker does not need and returns its pipes, the
// only descriptors left. Call it once, first thing in a process that Started
// recognises, before other goroutines open anything. After an error the process
// must exit: it is confined in part.
func Enter() (io.ReadWriteCloser, error) {
	required := os.Args[1] == modeRequired
	// The runtime would go on asking how many processors there are, which the
	// rules deny; setting the number stops that. One, because isolates of one process
	// share the lock of the engine's C allocator and slow each other down: a busy
	// workspace gets several workers instead.
	runtime.GOMAXPROCS(1)
	if err := errors.Join(unix.SetNonblock(inFD, true), unix.SetNonblock(outFD, true)); err != nil {
		return nil, fmt.Errorf("the pipes: %w", err)
	}
	conn, err := newConn(os.NewFile(inFD, "room"), os.NewFile(outFD, "room")) // also makes the runtime's poller, for which there is no right later
	if err != nil {
		return nil, fmt.Errorf("the pipes: %w", err)
	}
	conn.told = true
	steps := []struct {
		name string
		do   func() error
	}{
		{"no_new_privs", func() error { return checkNoNewPrivs(required) }},
		{"limits", limit},
		{"descriptors", closeDescriptors},
		{"seccomp", func() error { return filterIfAvailable(required) }},
		{"standard error", func() error { return unix.Close(2) }}, // last, to be able to complain
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return nil, fmt.Errorf("confining a worker: %s: %w", step.name, err)
		}
	}
	return conn, nil
}

func checkNoNewPrivs(required bool) error {
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err == nil && set != 1 && required {
		return errors.New("not set by the room")
	}
	return err
}

func filterIfAvailable(required bool) error {
	if err := seccompAvailable(); err != nil && !required {
		return nil // the room was told to go without
	}
	return filter()
}

// limits are the resources that a worker has none of. The number of processes
// is not among them: it counts all of a user's, and the rules for clone allow
// only threads. Neither is the address space, of which the Go runtime reserves
// more than it uses: the room watches resident memory instead.
func limits() map[int]string {
	return map[int]string{
		unix.RLIMIT_CORE:     "Max core file size",
		unix.RLIMIT_FSIZE:    "Max file size",
		unix.RLIMIT_NOFILE:   "Max open files",
		unix.RLIMIT_MEMLOCK:  "Max locked memory",
		unix.RLIMIT_MSGQUEUE: "Max msgqueue size",
	}
}

func limit() error {
	for resource, name := range limits() {
		if err := unix.Setrlimit(resource, &unix.Rlimit{}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// closeDescriptors closes all but the pipes, standard error and what the
// runtime's poller consists of.
func closeDescriptors() error {
	const highest = 64 // far more than a process has that has only just begun
	for fd := range highest {
		if fd == 2 || fd == inFD || fd == outFD || !isOpen(fd) || isPoller(fd) {
			continue
		}
		if err := unix.Close(fd); err != nil {
			return err
		}
	}
	return unix.CloseRange(highest, 1<<31-1, 0)
}

func isOpen(fd int) bool {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil
}

// isPoller says whether fd is the epoll or the event descriptor of the Go
// runtime. Reading a link is not opening: Landlock lets it pass.
func isPoller(fd int) bool {
	var name [64]byte
	n, err := unix.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd), name[:])
	return err == nil && pollerName(string(name[:n]))
}

func pollerName(link string) bool {
	return strings.HasPrefix(link, "anon_inode:[event") // eventpoll, eventfd
}
