package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// This file is the stand-in for a worker whose engine has been taken over: it
// runs native code as such a worker would, tries everything, and reports what
// the kernel let it do.

// lastCall is beyond the highest system call number of any kernel so far.
const lastCall = 1024

// endings end the caller instead of returning: a sweep leaves them out.
func endings() []string { return []string{"exit", "exit_group", "rt_sigreturn"} }

// probe says whether nr is a call that the kernel's own probes make: it never asks a filter about these, and
// ends whoever makes them without a probe (uretprobe), or refuses (uprobe).
func probe(nr int) bool { return runtime.GOARCH == "amd64" && (nr == 335 || nr == 336) }

// sweep makes every system call there is, with arguments that none accepts, and
// returns the names of those that were not refused.
func sweep() []string {
	native, err := arch.GetInfo("")
	if err != nil {
		return []string{err.Error()}
	}
	const bad = ^uintptr(0)
	var passed []string
	for nr := range lastCall {
		name, known := native.SyscallNumbers[nr]
		if slices.Contains(endings(), name) || probe(nr) {
			continue
		}
		if !known {
			name = strconv.Itoa(nr)
		}
		if _, _, errno := unix.RawSyscall6(uintptr(nr), bad, bad, bad, bad, bad, bad); errno != unix.EPERM {
			passed = append(passed, name)
		}
	}
	return passed
}

// attempt is something that a taken-over worker would like to do.
type attempt struct {
	name string
	do   func() unix.Errno
}

func call(nr uintptr, args ...uintptr) func() unix.Errno {
	return func() unix.Errno {
		var a [6]uintptr
		copy(a[:], args)
		_, _, errno := unix.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		return errno
	}
}

// pins keeps what only a system call refers to.
type pins struct{ kept []*byte }

func (p *pins) hold(b *byte) uintptr {
	p.kept = append(p.kept, b)
	return uintptr(unsafe.Pointer(b))
}

func (p *pins) text(s string) uintptr { return p.hold(&append([]byte(s), 0)[0]) }

// attempts are real attacks with arguments that would work. parent is the room.
func attempts(parent uintptr, p *pins) []attempt {
	text, buf := p.text, p.hold(&make([]byte, 1<<12)[0])
	at := uintptr(1<<64 - 100) // AT_FDCWD
	all := []attempt{
		{"open a file", call(unix.SYS_OPENAT, at, text("/etc/passwd"), unix.O_RDONLY)},
		{"open /proc/self/mem", call(unix.SYS_OPENAT, at, text("/proc/self/mem"), unix.O_RDWR)},
		{"open the room's memory", call(unix.SYS_OPENAT, at, text("/proc/"+strconv.Itoa(int(parent))+"/mem"), unix.O_RDONLY)},
		{"read the room's memory", call(unix.SYS_PROCESS_VM_READV, parent, buf, 1, buf, 1, 0)},
		{"write the room's memory", call(unix.SYS_PROCESS_VM_WRITEV, parent, buf, 1, buf, 1, 0)},
		{"trace the room", call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, parent, 0, 0)},
		{"signal the room", call(unix.SYS_KILL, parent, 0)},
		{"signal a thread of the room", call(unix.SYS_TGKILL, parent, parent, 0)},
		{"a handle of the room", call(unix.SYS_PIDFD_OPEN, parent, 0)},
		{"io_uring", call(unix.SYS_IO_URING_SETUP, 8, buf)},
		{"execute a shell", call(unix.SYS_EXECVE, text("/bin/sh"), 0, 0)},
		{"fork", call(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0)},
		{"clone into a new user namespace", call(unix.SYS_CLONE, goThread|unix.CLONE_NEWUSER, 0, 0, 0, 0)},
		{"new namespaces", call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER|unix.CLONE_NEWNET)},
		{"memory to execute", call(unix.SYS_MMAP, 0, 1<<12, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uintptr(0), 0)},
		{"memory made executable", call(unix.SYS_MPROTECT, buf&^0xfff, 1<<12, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC)},
		{"a descriptor as memory", call(unix.SYS_MMAP, 0, 1<<12, unix.PROT_READ, unix.MAP_PRIVATE, inFD, 0)},
		{"a file in memory", call(unix.SYS_MEMFD_CREATE, text("x"), 0)},
		{"another descriptor", call(unix.SYS_DUP, outFD)},
		{"a pipe", call(unix.SYS_PIPE2, buf, 0)},
		{"a descriptor through a pipe", call(unix.SYS_SENDMSG, outFD, buf, 0)},
		{"a descriptor from a pipe", call(unix.SYS_RECVMSG, inFD, buf, 0)},
		{"memory through a pipe", call(unix.SYS_VMSPLICE, outFD, buf, 1, 0)},
		{"a socket pair", call(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, buf)},
		{"ioctl", call(unix.SYS_IOCTL, inFD, unix.TIOCINQ, buf)},
		{"more rights for new files", call(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, buf, 0)},
		{"to outlive the room", call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)},
		{"another name", call(unix.SYS_PRCTL, unix.PR_SET_NAME, text("room"), 0, 0, 0)},
		{"page faults of its own", call(unix.SYS_USERFAULTFD, 0)},
		{"programs in the kernel", call(unix.SYS_BPF, 0, buf, 64)},
		{"performance counters", call(unix.SYS_PERF_EVENT_OPEN, buf, 0, 0, 0, 0)},
		{"keys", call(unix.SYS_ADD_KEY, text("user"), text("x"), buf, 1, 0)},
		{"mounts", call(unix.SYS_MOUNT, text("none"), text("/"), text("tmpfs"), 0, 0)},
		{"another root", call(unix.SYS_CHROOT, text("/"))},
		{"file times", call(unix.SYS_STATX, at, text("/etc/passwd"), 0, 0, buf)},
		{"another filter", call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, buf)},
		{"shared memory", call(unix.SYS_SHMGET, 0, 1<<12, unix.IPC_CREAT|0o600)},
		{"clock", call(unix.SYS_CLOCK_SETTIME, 0, buf)},
	}
	for family := range uintptr(unix.AF_MAX) {
		for _, kind := range []uintptr{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
			name := "socket of family " + strconv.Itoa(int(family)) + ", kind " + strconv.Itoa(int(kind))
			all = append(all, attempt{name, call(unix.SYS_SOCKET, family, kind, 0)})
		}
	}
	const mptcp = 262
	return append(all, attempt{"MPTCP", call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, mptcp)})
}

// attack makes every attempt and returns those that were not refused.
func attack() []string {
	var done []string
	var p pins
	defer runtime.KeepAlive(&p)
	for _, a := range attempts(uintptr(unix.Getppid()), &p) {
		if errno := a.do(); errno != unix.EPERM {
			done = append(done, a.name+": "+errno.Error())
		}
	}
	return done
}

// outside makes a few attempts that only Landlock and the lost capabilities stand
// against: the stand-in that calls it never entered the sandbox.
func outside(port string) []string {
	var done []string
	note := func(what string, err error) {
		if err == nil {
			done = append(done, what)
		}
	}
	_, err := os.ReadFile("/etc/passwd")
	note("read a file", err)
	_, err = os.ReadFile("/proc/self/status")
	note("read /proc", err)
	_, err = os.ReadDir("/")
	note("list a folder", err)
	escaped := os.TempDir() + "/toolroom-escaped"
	note("create a file", os.WriteFile(escaped, nil, 0o600))
	_ = os.Remove(escaped) // where it could be created
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	note("connect to a TCP port", err)
	if err == nil {
		conn.Close()
	}
	var tcp net.ListenConfig
	tcp.SetMultipathTCP(false) // Landlock does not know it; seccomp has no sockets at all
	l, err := tcp.Listen(context.Background(), "tcp", "127.0.0.1:0")
	note("listen on a TCP port", err)
	if err == nil {
		l.Close()
	}
	note("signal the room", unix.Kill(unix.Getppid(), 0))
	note("enter another root", unix.Chroot("/"))
	return done
}

func report(w io.Writer, found []string) error { return json.NewEncoder(w).Encode(found) }

func reported(t *testing.T, p *Process) []string {
	t.Helper()
	var found []string
	if err := json.NewDecoder(p.Conn).Decode(&found); err != nil {
		t.Fatalf("the stand-in did not report (%v): %s %s", err, p.Complaint(), p.Wait())
	}
	return found
}

func TestATakenOverWorkerHasTheAllowListAndNothingElse(t *testing.T) {
	passed := reported(t, start(t, "sweep"))
	want := slices.DeleteFunc(append(allowed(), absent()...), func(name string) bool { return slices.Contains(endings(), name) })
	slices.Sort(want)
	slices.Sort(passed)
	if !slices.Equal(passed, want) {
		t.Errorf("not refused:\n%s\nwant:\n%s", strings.Join(passed, " "), strings.Join(want, " "))
	}
}

func TestATakenOverWorkerIsRefusedWhateverItTries(t *testing.T) {
	p := start(t, "attack")
	if done := reported(t, p); len(done) > 0 {
		t.Errorf("not refused:\n%s", strings.Join(done, "\n"))
	}
	if err := p.Verify(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Without seccomp the other layers still hold, each by itself.
func TestWithoutSeccompTheOtherLayersHold(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	want := []string(nil)
	if abi, err := landlockABI(); err != nil || abi < 6 {
		want = []string{"signal the room"} // Landlock learned that later
	}
	if done := reported(t, start(t, "outside", port)); !slices.Equal(done, want) {
		t.Errorf("done: %q, want %q", done, want)
	}
	// The same attempts do succeed where nothing stands against them.
	if done := outside(port); !slices.Contains(done, "read a file") || !slices.Contains(done, "connect to a TCP port") {
		t.Errorf("the test cannot tell: unconfined, only %q was done", done)
	}
}

func TestAForeignArchitectureIsTheEndOfAWorker(t *testing.T) {
	if !hasForeign {
		t.Skip("this architecture has no other one's system calls")
	}
	p := start(t, "foreign")
	if rest, _ := io.ReadAll(p.Conn); len(rest) > 0 {
		t.Fatalf("the worker lived on and said %q", rest)
	}
	if how := p.Wait(); how != "signal: bad system call" {
		t.Errorf("it ended with %q", how)
	}
}
