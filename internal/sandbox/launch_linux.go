package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Where a worker finds its pipes.
const (
	inFD  = 3 // read
	outFD = 4 // written
)

// Launcher starts workers from one confined thread. All methods may be called
// concurrently.
type Launcher struct {
	command Command
	verify  bool // whether this machine can check a worker
	null    *os.File
	jobs    chan func()
	done    chan struct{} // closed when the thread is about to end
	closing sync.Once
}

// NewLauncher confines a thread for starting workers. It fails when a layer
// that command requires is missing here, and when any layer that this machine
// does have cannot be put up. The caller closes it.
func NewLauncher(command Command) (*Launcher, error) {
	if err := refuseWorker(); err != nil {
		return nil, err
	}
	missing := Missing(Layers())
	if command.Required && len(missing) > 0 {
		return nil, fmt.Errorf("the sandbox is required but %s is missing: %s", missing[0].Name, missing[0].Detail)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("starting workers: %w", err)
	}
	l := &Launcher{command: command, verify: verifiable(missing), null: null, jobs: make(chan func()), done: make(chan struct{})}
	confined := make(chan error)
	go l.thread(confined)
	if err := <-confined; err != nil {
		null.Close()
		return nil, fmt.Errorf("confining the thread that starts workers: %w", err)
	}
	return l, nil
}

// thread runs jobs on one confined operating system thread, which ends with it.
// It must not be the process's first thread: that one cannot end before the process.
func (l *Launcher) thread(confined chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		moved := make(chan error)
		go l.thread(moved) // on another thread, for this one is taken
		err := <-moved
		runtime.UnlockOSThread()
		confined <- err
		return
	}
	err := confineThread(l.command.Path)
	confined <- err
	if err != nil {
		return
	}
	for job := range l.jobs {
		job()
	}
	close(l.done)
}

// Close ends the thread, and with it every worker that it started. Calling it
// again does nothing.
func (l *Launcher) Close() error {
	l.closing.Do(func() {
		close(l.jobs)
		<-l.done
		l.null.Close()
	})
	return nil
}

// Process is a started worker. The one who started it calls Kill or sees it
// end, and then Wait, once.
type Process struct {
	Conn     *Conn // the room's end of the worker's pipes; supports deadlines
	process  *os.Process
	complain *os.File
	verify   bool
}

// Start starts one worker. It must not be called during or after Close.
func (l *Launcher) Start() (*Process, error) {
	ours, in, out, err := pipes()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	defer out.Close()
	complain, stderr, err := os.Pipe()
	if err != nil {
		ours.Close()
		return nil, fmt.Errorf("making a worker's pipe: %w", err)
	}
	defer stderr.Close()
	p := &Process{Conn: ours, complain: complain, verify: l.verify}
	if err := l.fork(p, []*os.File{l.null, stderr, stderr, inFD: in, outFD: out}); err != nil {
		ours.Close()
		complain.Close()
		return nil, err
	}
	return p, nil
}

func (l *Launcher) fork(p *Process, files []*os.File) error {
	attr := &os.ProcAttr{Dir: "/", Env: []string{}, Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}}
	failed := make(chan error)
	l.jobs <- func() {
		var err error
		p.process, err = os.StartProcess(executable(l.command.Path), l.command.argv(), attr)
		failed <- err
	}
	if err := <-failed; err != nil {
		return fmt.Errorf("starting a worker: %w", err)
	}
	return nil
}

// executable is the path to execute: the room's own image by way of /proc, so
// that a room whose file was replaced by an upgrade starts workers of its own kind.
func executable(path string) string {
	if path == "" {
		return "/proc/self/exe"
	}
	return path
}

// pipes makes the room's end of two pipes, and the worker's two.
func pipes() (ours *Conn, in, out *os.File, err error) {
	in, there, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("making a worker's pipes: %w", err)
	}
	here, out, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("making a worker's pipes: %w", err), in.Close(), there.Close())
	}
	if ours, err = newConn(here, there); err != nil {
		return nil, nil, nil, errors.Join(err, in.Close(), there.Close(), here.Close(), out.Close())
	}
	return ours, in, out, nil
}

// PID is the worker's process id.
func (p *Process) PID() int { return p.process.Pid }

// Kill ends the worker at once. It may be called at any time.
func (p *Process) Kill() { _ = p.process.Kill() } // the only failure is that it has ended

// Wait waits until the worker has ended, lets go of all that belongs to it and
// returns how it ended.
func (p *Process) Wait() string {
	state, err := p.process.Wait()
	p.Conn.Close()
	p.complain.Close()
	if err != nil {
		return err.Error()
	}
	return state.String()
}

// maxComplaint bounds what is read of a worker that could not start, in bytes.
const maxComplaint = 4 << 10

// Complaint is what the worker wrote on its standard error before it had
// confined itself: why it could not. Call it before Wait.
func (p *Process) Complaint() string {
	_ = p.complain.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // it may still be running
	text, _ := io.ReadAll(io.LimitReader(p.complain, maxComplaint))
	return string(text)
}

// AdoptOrphans makes this process the one that inherits what its descendants
// leave behind, so that nothing escapes by forking twice.
func AdoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
