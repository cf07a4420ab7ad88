package runner

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"toolroom/internal/sandbox"
	"toolroom/internal/wire"
	child "toolroom/internal/worker"
	"toolroom/tool"
)

// TestMain lets the test binary be a worker: the real one, or a stand-in for
// one that has been taken over.
func TestMain(m *testing.M) {
	if sandbox.Started(os.Args) {
		if err := beWorker(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(beRoom) != "" {
		if err := room(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// beRoom is the variable that makes the test binary a room with busy workers.
const beRoom = "TOOLROOM_TEST_ROOM"

func beWorker(args []string) error {
	if args[0] == "unconfined" {
		return (&puppet{conn: struct {
			io.Reader
			io.Writer
		}{os.NewFile(3, "room"), os.NewFile(4, "room")}}).unconfined()
	}
	if args[0] == "forgetful" { // goes on as if it were the room
		_, err := New(Options{})
		return err
	}
	conn, err := sandbox.Enter()
	if err != nil {
		return err
	}
	if args[0] == "honest" {
		return child.Serve(conn)
	}
	p, err := newPuppet(conn)
	if err != nil {
		return err
	}
	switch args[0] {
	case "puppet":
		return p.serve()
	case "intruder":
		return p.intrude(args[1])
	case "twice":
		return p.intrudeBy(func(p *puppet, id uint64) { p.send(result(id, "1")); p.send(result(id, "2")) })
	case "trickle":
		return p.intrudeBy(trickle)
	case "glutton":
		return p.intrudeBy(many(wire.MaxRequests, func(i int) intrusion {
			return frame(wire.Request, uint32(i), okRequest, strings.Repeat("x", 1<<20))
		}))
	case "deaf":
		p.send(wire.Frame{Kind: wire.Ready})
		select {}
	}
	return fmt.Errorf("no stand-in is called %q", args[0])
}

// open returns a Runner with o's changes whose workers are honest unless o says otherwise.
func open(t testing.TB, o Options) *Runner {
	t.Helper()
	if o.Command.Args == nil {
		o.Command.Args = []string{"honest"}
	}
	o.Command.Required = true
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, r) })
	return r
}

func shut(t testing.TB, r *Runner) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func home() tool.Place { return tool.Place{Tenant: "t", Workspace: "home"} }
func away() tool.Place { return tool.Place{Tenant: "t", Workspace: "away"} }

// body is a job of home that runs a function body.
func body(text string) *Job {
	return &Job{Place: home(), Key: text, File: "tool.js", Code: []byte("(async function execute(args, ctx) {" + text + "\n})"),
		Args: []byte("{}"), Env: []byte(`{}`), Limits: tool.Limits{TimeoutMS: 5000}}
}

func (j *Job) at(p tool.Place) *Job     { j.Place = p; return j }
func (j *Job) within(ms int64) *Job     { j.Limits.TimeoutMS = ms; return j }
func (j *Job) with(args string) *Job    { j.Args = []byte(args); return j }
func (j *Job) servedBy(h hostFunc) *Job { j.Host = h; return j }

// hostFunc is a Host.
type hostFunc func(context.Context, Request) Response

func (f hostFunc) Serve(ctx context.Context, req Request) Response { return f(ctx, req) }

// give runs job and wants a value.
func give(t testing.TB, r *Runner, job *Job) string {
	t.Helper()
	out, failure, err := r.Call(context.Background(), job)
	if failure != nil || err != nil {
		t.Fatalf("failure %+v, error %v", failure, err)
	}
	return string(out.Value)
}

// fail runs job and wants the code with which it ends.
func fail(t testing.TB, r *Runner, job *Job) tool.Code {
	t.Helper()
	out, failure, err := r.Call(context.Background(), job)
	return codeOf(t, out, failure, err)
}

func codeOf(t testing.TB, out tool.Outcome, failure *wire.Failure, err error) tool.Code {
	t.Helper()
	switch {
	case err != nil:
		return tool.CodeOf(err)
	case failure != nil:
		return failure.Code
	}
	t.Fatalf("it did not fail but gave %s", out.Value)
	return ""
}

// never polls for the interrupt, so that only ending the worker ends it.
const deaf = `Array.prototype.indexOf.call({length: 2**53-1}, 1)`
