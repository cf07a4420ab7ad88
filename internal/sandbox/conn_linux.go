package sandbox

import (
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Conn is one end of a worker's socket. It may be read by one goroutine at a time, and written by one.
//
// Nothing on a socket that never blocks takes long, so the scheduler is not told of its system calls: being told
// it wakes a thread that looks for calls which block, and that one takes the processor away from a caller that
// was merely interrupted. That costs more than a small call of a tool.
type Conn struct {
	*os.File
	raw     syscall.RawConn
	reading transfer
	writing transfer
}

// transfer is the system call that a direction makes next. It lives with the Conn, so that a call allocates nothing.
type transfer struct {
	call  uintptr
	bytes []byte
	n     int
	err   error
	run   func(fd uintptr) bool
}

// newConn takes file over, which must be a socket in non-blocking mode.
func newConn(file *os.File) (*Conn, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &Conn{File: file, raw: raw, reading: transfer{call: unix.SYS_READ}, writing: transfer{call: unix.SYS_WRITE}}
	c.reading.run, c.writing.run = c.reading.try, c.writing.try
	return c, nil
}

// try makes the system call; false when the socket has to become ready first.
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

// do makes the system call with p once the socket is ready.
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
	if len(p) == 0 {
		return 0, nil
	}
	n, err := c.reading.do(c.raw.Read, p)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Write implements io.Writer.
func (c *Conn) Write(p []byte) (int, error) {
	for done := 0; ; {
		n, err := c.writing.do(c.raw.Write, p[done:])
		if done += n; err != nil || done == len(p) {
			return done, err
		}
	}
}
