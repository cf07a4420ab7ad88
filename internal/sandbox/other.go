//go:build !linux

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Layers is what stands between a worker and this machine: here, that it is a
// process of its own.
func Layers() []Layer {
	why := "Toolroom has no such wall on " + runtime.GOOS
	return []Layer{
		{Name: "process", Promise: "tool code shares no memory, environment or descriptor with the room or another workspace",
			Stands: true, Required: true, Detail: "own process, empty environment, two pipes"},
		{Name: "filesystem", Promise: "a worker reaches no file, even when the engine is taken over", Required: true, Detail: why},
		{Name: "network", Promise: "a worker reaches no network, even when the engine is taken over", Required: true, Detail: why},
		{Name: "system calls", Promise: "a worker can compute, wait, and talk to the room", Required: true, Detail: why},
	}
}

// Launcher starts workers. All methods may be called concurrently.
type Launcher struct{ command Command }

// NewLauncher fails when command requires layers, for there are none here.
func NewLauncher(command Command) (*Launcher, error) {
	if err := refuseWorker(); err != nil {
		return nil, err
	}
	if command.Required {
		return nil, fmt.Errorf("the sandbox is required but this is %s: only Linux has it", runtime.GOOS)
	}
	return &Launcher{command}, nil
}

// Close does nothing here: the runner ends its workers.
func (l *Launcher) Close() error { return nil }

// Conn is the room's end of a worker's pipes.
type Conn struct {
	*os.File
	out *os.File
}

// Write writes to the worker.
func (c Conn) Write(p []byte) (int, error) { return c.out.Write(p) }

// Close closes both pipes.
func (c Conn) Close() error { return errors.Join(c.File.Close(), c.out.Close()) }

// Process is a started worker. The one who started it calls Kill or sees it
// end, and then Wait, once.
type Process struct {
	Conn     Conn
	command  *exec.Cmd
	complain complaint
}

// Start starts one worker.
func (l *Launcher) Start() (*Process, error) {
	path, err := l.path()
	if err != nil {
		return nil, err
	}
	in, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirIn, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), theirOut.Close())
	}
	p := &Process{Conn: Conn{in, out}}
	p.command = &exec.Cmd{Path: path, Args: l.command.argv(), Env: []string{}, Stdin: theirIn, Stdout: theirOut, Stderr: &p.complain}
	err = p.command.Start()
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		p.Conn.Close()
		return nil, fmt.Errorf("starting a worker: %w", err)
	}
	return p, nil
}

func (l *Launcher) path() (string, error) {
	if l.command.Path != "" {
		return l.command.Path, nil
	}
	return os.Executable()
}

// PID is the worker's process id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Kill ends the worker at once. It may be called at any time.
func (p *Process) Kill() { _ = p.command.Process.Kill() }

// Wait waits until the worker has ended and returns how.
func (p *Process) Wait() string {
	err := p.command.Wait()
	p.Conn.Close()
	if err != nil {
		return err.Error()
	}
	return p.command.ProcessState.String()
}

// Complaint is the start of what the worker wrote on its standard error.
func (p *Process) Complaint() string {
	time.Sleep(50 * time.Millisecond) // it is copied by another goroutine
	return p.complain.String()
}

// Verify has nothing to read here.
func (p *Process) Verify() error { return nil }

// AdoptOrphans does nothing here: only Linux lets a process inherit orphans.
func AdoptOrphans() error { return nil }

// Enter returns the worker's two pipes as one connection.
func Enter() (io.ReadWriteCloser, error) { return Conn{os.Stdin, os.Stdout}, nil }

// complaint keeps the first few KiB that are written to it.
type complaint struct {
	mu   sync.Mutex
	text strings.Builder
}

func (c *complaint) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(p[:min(len(p), max(0, 4<<10-c.text.Len()))])
	return len(p), nil
}

func (c *complaint) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}
