package sandbox

import (
	"errors"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Conn is one end of what a worker and its room speak over: two pipes, one each way. It may be read by one
// goroutine at a time, and written by one.
//
// A pipe and not a socket: whoever reads from a socket wakes the poller of its writer, which has room to
// write again and did not ask, and the two processes take the processor from each other at every frame.
//
// And nothing on a pipe that never blocks takes long, so the scheduler is not told of its system calls: being told
// wakes a thread that looks for calls which block, and that one takes the processor from a caller that
// was merely interrupted. Each of the two costs as much as a small call of a tool.
//
// All but the reads of a worker: that thread also takes the processor from code that computes, and a worker has one
// processor. If nothing woke the thread, a body that comes to an idle worker and loops would never be interrupted.
type Conn struct {
	in, out   *os.File
	told      bool // the scheduler is told of reads
	read      func(func(fd uintptr) bool) error
	write     func(func(fd uintptr) bool) error
	receiving transfer
	sending   transfer
}

// transfer is the system call that a direction makes next. It lives with the Conn, so that a call allocates nothing.
type transfer struct {
	call  uintptr
	bytes []byte
	n     int
	err   error
	run   func(fd uintptr) bool
}

// newConn takes both files over, which must be in non-blocking mode.
func newConn(in, out *os.File) (*Conn, error) {
	reader, err := in.SyscallConn()
	if err != nil {
		return nil, err
	}
	writer, err := out.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &Conn{in: in, out: out, read: reader.Read, write: writer.Write,
		receiving: transfer{call: unix.SYS_READ}, sending: transfer{call: unix.SYS_WRITE}}
	c.receiving.run, c.sending.run = c.receiving.try, c.sending.try
	return c, nil
}

// SetDeadline bounds reading and writing, as a net.Conn's does.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.in.SetDeadline(t), c.out.SetDeadline(t))
}

// Close closes both pipes.
func (c *Conn) Close() error { return errors.Join(c.in.Close(), c.out.Close()) }

// try makes the system call; false when the pipe has to become ready first.
func (t *transfer) try(fd uintptr) bool {
	for {
		n, _, errno := unix.RawSyscall(t.call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.bytes))), uintptr(len(t.bytes)))
		switch errno {
		case 0:
			t.n, t.err = int(n), nil
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		default:
			t.n, t.err = 0, errno
		}
		return true
	}
}

// do makes the system call with p once the pipe is ready.
func (t *transfer) do(wait func(func(uintptr) bool) error, p []byte) (int, error) {
	t.bytes = p
	err := wait(t.run)
	t.bytes = nil
	if err != nil {
		return 0, err
	}
	return t.n, t.err
}

// Read implements io.Reader.
func (c *Conn) Read(p []byte) (int, error) {
	if c.told || len(p) == 0 {
		return c.in.Read(p)
	}
	n, err := c.receiving.do(c.read, p)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Write implements io.Writer.
func (c *Conn) Write(p []byte) (int, error) {
	for done := 0; ; {
		n, err := c.sending.do(c.write, p[done:])
		if done += n; err != nil || done == len(p) {
			return done, err
		}
	}
}
