package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be a worker: what Args name is what it does.
func TestMain(m *testing.M) {
	if Started(os.Args) {
		if err := beWorker(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func beWorker(args []string) error {
	what := args[0]
	in, out := os.NewFile(inFD, "room"), os.NewFile(outFD, "room")
	defer runtime.KeepAlive([]*os.File{in, out}) // their end would close the pipes of conn as well
	switch what {
	case "unconfined": // a worker that never enters the sandbox, and says it is ready
		_, err := io.Copy(out, in)
		return err
	case "outside":
		done := outside(args[1])
		if unix.Access("/bin/sh", unix.X_OK) == nil { // looking is not executing: Landlock lets it pass
			err := unix.Exec("/bin/sh", []string{"sh", "-c", "printf '[\"executed a shell\"]' >&4"}, nil)
			done = append(done, executed(err)...)
		}
		return report(out, done)
	case "one thread":
		if err := enterAlone(); err != nil {
			return err
		}
		_, err := io.Copy(out, in)
		return err
	case "loud": // confined, but for its standard error, which is one more pipe
		conn, err := newConn(in, out)
		if err := errors.Join(err, limit(), closeDescriptors(), filter()); err != nil {
			return err
		}
		_, err = io.Copy(conn, conn)
		return err
	}
	conn, err := Enter()
	if err != nil {
		return err
	}
	switch what {
	case "echo":
		_, err = io.Copy(conn, conn)
		return err
	case "earless":
		if err := unix.Close(inFD); err != nil {
			return err
		}
		if _, err := io.WriteString(conn, "hello"); err != nil {
			return err
		}
		time.Sleep(time.Hour) // to be looked at
		return nil
	case "sweep":
		return report(conn, sweep())
	case "attack":
		if err := report(conn, attack()); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, conn) // stays, to be looked at
		return err
	case "foreign":
		return report(conn, []string{strconv.Itoa(int(foreignCall()))})
	case "busy":
		return report(conn, busy())
	}
	return fmt.Errorf("no such stand-in: %q", what)
}

// executed is what was done when executing a shell ended with err, if it did not simply fail.
func executed(err error) []string {
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return nil
	}
	return []string{fmt.Sprint("executing a shell failed for another reason: ", err)}
}

// enterAlone does what Enter does, but puts the filter on this thread only: what a
// kernel does that takes the rules and leaves a thread out.
func enterAlone() error {
	runtime.LockOSThread()
	raw, err := program(os.Getpid())
	if err != nil {
		return err
	}
	if err := errors.Join(limit(), closeDescriptors()); err != nil {
		return err
	}
	var rules []unix.SockFilter
	for _, r := range raw {
		rules = append(rules, unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K})
	}
	prog := unix.SockFprog{Len: uint16(len(rules)), Filter: &rules[0]}
	_ = unix.Close(2) // after this one, no complaint is possible
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return errno
	}
	return nil
}

// start starts the test binary as a worker that does what is named.
func start(t *testing.T, what ...string) *Process {
	t.Helper()
	l, err := NewLauncher(Command{Args: what, Required: true})
	if err != nil {
		t.Fatalf("this machine cannot confine a worker: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	p, err := l.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); p.Wait() })
	return p
}

// busy makes the Go runtime do all it does: start threads, collect garbage,
// preempt loops, sleep, grow and give back memory.
func busy() []string {
	done := make(chan int)
	for g := range 200 {
		go func() {
			kept := make([][]byte, 0, 64)
			for i := range 64 {
				kept = append(kept, make([]byte, 1<<(10+i%8)))
			}
			time.Sleep(time.Duration(g%10) * time.Millisecond)
			done <- len(kept)
		}()
	}
	for range 4 {
		go func() {
			runtime.LockOSThread() // a thread that ends with its goroutine
			n := 0
			for i := range 50_000_000 {
				n += i
			}
			done <- min(n, 1)
		}()
	}
	for range 204 {
		<-done
	}
	runtime.GC()
	debug.FreeOSMemory()
	random := make([]byte, 1<<10)
	if _, err := rand.Read(random); err != nil {
		return []string{err.Error()}
	}
	return []string{"all done"}
}

// say sends a line to an echoing worker and waits for it.
func say(t *testing.T, p *Process) {
	t.Helper()
	got := make([]byte, 5)
	if _, err := io.WriteString(p.Conn, "hello"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(p.Conn, got); err != nil {
		t.Fatalf("the worker does not answer (%v): %s", err, p.Complaint())
	}
}

func TestAWorkerThatEnteredIsVerified(t *testing.T) {
	p := start(t, "echo")
	say(t, p)
	if err := p.Verify(); err != nil {
		t.Fatal(err)
	}
}

func TestAWorkerThatDidNotEnterIsRefused(t *testing.T) {
	p := start(t, "unconfined")
	say(t, p)
	if err := p.Verify(); err == nil {
		t.Fatal("an unconfined worker passed verification")
	}
}

func TestAWorkerWithOneThreadOutsideIsRefused(t *testing.T) {
	p := start(t, "one thread")
	say(t, p)
	if err := p.Verify(); err == nil || !strings.Contains(err.Error(), "thread") || !strings.Contains(err.Error(), "Seccomp") {
		t.Fatalf("a worker of which one thread only is confined: %v", err)
	}
}

func TestAWorkerWithAThirdPipeIsRefused(t *testing.T) {
	p := start(t, "loud")
	say(t, p)
	if err := p.Verify(); err == nil || !strings.Contains(err.Error(), "second "+toWrite) {
		t.Fatalf("a worker that kept its standard error: %v", err)
	}
}

func TestAWorkerWithOnePipeIsRefused(t *testing.T) {
	p := start(t, "earless")
	if _, err := io.ReadFull(p.Conn, make([]byte, 5)); err != nil {
		t.Fatalf("%v: %s", err, p.Complaint())
	}
	if err := p.Verify(); err == nil || !strings.Contains(err.Error(), "0 pipes to read from") {
		t.Fatalf("a worker that closed a pipe: %v", err)
	}
}

func TestTheGoRuntimeHasWhatItNeeds(t *testing.T) {
	if got := reported(t, start(t, "busy")); !slices.Equal(got, []string{"all done"}) {
		t.Error(got)
	}
}

func TestClosingTheLauncherEndsItsWorkers(t *testing.T) {
	l, err := NewLauncher(Command{Args: []string{"echo"}, Required: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Start()
	if err != nil {
		t.Fatal(err)
	}
	say(t, p)
	l.Close()
	l.Close()
	if how := p.Wait(); how != "signal: killed" {
		t.Errorf("it ended with %q", how)
	}
}

func TestTheRoomItselfStaysFree(t *testing.T) {
	p := start(t, "echo")
	say(t, p)
	done := make(chan error)
	for range 50 { // on many threads
		go func() {
			runtime.LockOSThread()
			_, err := os.ReadFile("/proc/self/status")
			done <- err
		}()
	}
	for range 50 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
