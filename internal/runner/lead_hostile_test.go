package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolroom/tool"
)

func TestAWorkerThatIsKilledEndsTheCallThatReads(t *testing.T) {
	for name, host := range map[string]hostFunc{"reads": nil, "serves itself": patient} {
		t.Run(name, func(t *testing.T) {
			r := open(t, puppets(Options{}))
			line := "hang"
			if host != nil {
				line = "ask-and-wait"
			}
			job := say(line).within(60_000)
			if host != nil {
				job.Host = host
			}
			s := leading(t, r, job)
			time.Sleep(10 * time.Millisecond)
			began := time.Now()
			kill(t, r.pid(home()))
			s.wants("", tool.WorkerCrashed)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A call that reads for itself reads on when its host has answered, and ends in time when it does not.
func TestACallThatReadsDoesNotFillTheRoom(t *testing.T) {
	r := open(t, puppets(Options{}))
	var held, most atomic.Int64
	host := func(wait func(context.Context)) hostFunc {
		return func(ctx context.Context, req Request) Response {
			n := held.Add(int64(len(req.Data)))
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			wait(ctx)
			held.Add(-int64(len(req.Data)))
			return Response{}
		}
	}
	give(t, r, say("echo 1"))
	if got := give(t, r, say("gorge 100").servedBy(host(func(context.Context) { time.Sleep(time.Millisecond) }))); got != `"100"` {
		t.Error(got)
	}
	leading(t, r, say("gorge 100").servedBy(host(func(ctx context.Context) { <-ctx.Done() })).within(1000)).wants("", tool.Timeout)
	if got := most.Load(); got > maxHeld {
		t.Errorf("%d bytes were held", got)
	}
}

// Both sides write more than a pipe holds, and the worker reads nothing before it has written.
func TestLargeFramesThatCrossBothArrive(t *testing.T) {
	r := open(t, puppets(Options{}))
	large := bytes.Repeat([]byte("y"), 16<<20)
	host := hostFunc(func(_ context.Context, req Request) Response {
		if string(req.Data) == "small" {
			return Response{Data: large}
		}
		return Response{Data: []byte("got " + strconv.Itoa(len(req.Data)))}
	})
	want := strconv.Quote(fmt.Sprint(16<<20 + len("got 16777216")))
	for range 3 {
		s := leading(t, r, say("crossed 16").servedBy(host).within(30_000))
		other := begin(context.Background(), t, r, say("echo on")) // it waits for the worker to read, and then goes on
		foreign := begin(context.Background(), t, r, say("echo on").at(away()))
		foreign.wants(`"on"`, "")
		other.wants(`"on"`, "")
		s.wants(want, "")
	}
}

// The same between an honest worker and the room, with many calls in it.
func TestLargeRequestsAndRepliesCross(t *testing.T) {
	r := open(t, Options{Spares: -1})
	large := bytes.Repeat([]byte("7"), 8<<20)
	host := hostFunc(func(_ context.Context, req Request) Response {
		if len(req.Data) != 4<<20 {
			return Response{Err: tool.Errorf(tool.Internal, "%d bytes came", len(req.Data))}
		}
		return Response{Value: []byte(`{"url":"http://example.org/","status":200,"statusText":"","headers":[],"redirected":false,"done":true}`), Data: large}
	})
	text := `const one = async () => (await (await fetch('http://example.org/', {method: 'POST', body: new Uint8Array(4 << 20)})).arrayBuffer()).byteLength;
		let n = 0; for (let i = 0; i < 2; i++) n += (await Promise.all([one(), one()])).reduce((a, b) => a + b); return n`
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			job := body(text).servedBy(host).within(60_000)
			job.Limits.MemoryMB = 256
			out, failure, err := r.Call(context.Background(), job)
			if string(out.Value) != strconv.Itoa(4*len(large)) {
				t.Errorf("%s, %+v, %v", out.Value, failure, err)
			}
		})
	}
	all.Wait()
}

// A worker that was taken over, while the call that reads its pipe is the only one in it.
func TestAHostileWorkerOfACallThatReads(t *testing.T) {
	for line, code := range map[string]tool.Code{
		"trickle":  tool.Timeout,
		"flood 0":  tool.Timeout,
		"hang":     tool.Timeout,
		"close 3":  tool.Timeout, // it hears nothing, and may still answer
		"close 4":  tool.WorkerCrashed,
		"lie":      tool.WorkerCrashed,
		"crash":    tool.WorkerCrashed,
		"ask 0":    "",
		"flood 10": "",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r := open(t, puppets(Options{}))
			limit := int64(20_000)
			if code == tool.Timeout {
				limit = 300
			}
			for range 3 {
				give(t, r, say("echo 1"))
				_, failure, err := r.Call(context.Background(), say(line).within(limit))
				if got := tool.CodeOf(err); got != code || failure != nil {
					t.Errorf("it ended with %v", err)
				}
			}
		})
	}
}

// A worker that takes no reply is gone, though it could still speak.
func TestAWorkerThatClosesItsEarsIsEnded(t *testing.T) {
	r := open(t, puppets(Options{}))
	for range 2 {
		give(t, r, say("echo 1"))
		gate, openGate := newGate(t)
		asked := begin(context.Background(), t, r, say("ask 1").servedBy(slow(gate)).within(60_000))
		eventually(t, "it has asked", func() bool { return r.requestsOf(home()) == 1 })
		closing := begin(context.Background(), t, r, say("close 3").within(60_000))
		runs(t, r, home(), 2)
		eventually(t, "it has closed its ears", func() bool {
			_, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/3", r.pid(home())))
			return err != nil
		})
		openGate()
		asked.wants("", tool.WorkerCrashed)
		closing.until(10 * time.Second)
	}
}

// A call that reads for itself has its limit from the moment it is given to a worker, also when that takes in nothing.
func TestALargeCallToADeafWorkerEndsAtItsLimit(t *testing.T) {
	r := open(t, puppets(Options{}))
	args := `"` + strings.Repeat("x", 8<<20) + `"`
	for i := range 5 {
		place := tool.Place{Workspace: strconv.Itoa(i)}
		give(t, r, say("go-deaf").at(place))
		time.Sleep(watchTick / 4) // who read its answer has stopped reading by then
		began := time.Now()
		code := fail(t, r, body("").at(place).within(300).with(args))
		if took := time.Since(began); code == tool.Timeout && took < stallLimit {
			return
		}
	}
	t.Error("no call ended at its limit")
}
