package runner

import (
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

// say is a job for a puppet.
func say(line string) *Job { return body("").with(strconv.Quote(line)) }

func puppets(o Options) Options { return standIn(o, "puppet") }

// started is a call under way.
type started struct {
	t    *testing.T
	done chan struct{}
	out  tool.Outcome
	err  error
}

func begin(ctx context.Context, t *testing.T, r *Runner, job *Job) *started {
	s := &started{t: t, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		out, failure, err := r.Call(ctx, job)
		if s.out, s.err = out, err; failure != nil && err == nil {
			s.err = tool.Errorf(failure.Code, "%s", failure.Message)
		}
	}()
	return s
}

func (s *started) wants(value string, code tool.Code) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(20 * time.Second):
		s.t.Fatal("the call did not end")
	}
	if string(s.out.Value) != value || tool.CodeOf(s.err) != code {
		s.t.Errorf("got %s and %v, want %s and %q", s.out.Value, s.err, value, code)
	}
}

// runs waits until n calls of place are in workers.
func runs(t *testing.T, r *Runner, place tool.Place, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d calls run", n), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		c := r.crews[place]
		if c == nil || c.running != n {
			return false
		}
		given := 0
		for _, w := range c.workers {
			w.mu.Lock()
			given += len(w.pending)
			w.mu.Unlock()
		}
		return given == n
	})
}

func pidOf(t *testing.T, r *Runner, place tool.Place) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.Trim(give(t, r, say("pid").at(place)), `"`))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestAWorkerServesOneWorkspace(t *testing.T) {
	r := open(t, puppets(Options{}))
	first, second := pidOf(t, r, home()), pidOf(t, r, away())
	if first == second {
		t.Error("two workspaces shared a process")
	}
	if again := pidOf(t, r, home()); again != first {
		t.Error("a second call got another process")
	}
}

func TestPerCallGivesEachCallAProcess(t *testing.T) {
	r := open(t, puppets(Options{PerCall: true}))
	seen := make(map[int]bool)
	for range 5 {
		pid := pidOf(t, r, home())
		if seen[pid] {
			t.Fatal("a process was used twice")
		}
		seen[pid] = true
	}
	eventually(t, "none is left", func() bool { return r.processes() == 0 })
}

func TestAKillSparesOtherCalls(t *testing.T) {
	var killed atomic.Value
	r := open(t, puppets(Options{OnKilled: func(p tool.Place, key string) { killed.Store(fmt.Sprint(p, key)) }}))
	ctx := context.Background()
	host := hostFunc(func(context.Context, Request) Response { return Response{Data: []byte("DATA")} })
	innocent := begin(ctx, t, r, say("after 1200"))
	asked := begin(ctx, t, r, say("ask-and-wait").servedBy(host))
	foreign := begin(ctx, t, r, say("after 1200").at(away()))
	runs(t, r, home(), 2)
	eventually(t, "it has asked", func() bool { return r.requestsOf(home()) == 1 })
	guilty := say("hang").within(200)
	guilty.Key = "guilty"
	begin(ctx, t, r, guilty).wants("", tool.Timeout)
	asked.wants("", tool.WorkerCrashed)
	if tool.AsError(asked.err).Retryable {
		t.Error("a call that had asked its host is marked retryable")
	}
	innocent.wants(`"1200"`, "") // it ran again
	foreign.wants(`"1200"`, "")  // it noticed nothing
	if got := killed.Load(); got != fmt.Sprint(home(), "guilty") {
		t.Errorf("reported as killed: %v", got)
	}
}

// A workspace whose calls end one worker after the other: a call that was spared once runs where only
// such calls run, so that the next kill does not take it as well.
func TestASecondRunIsNotEndedByTheNextKill(t *testing.T) {
	r := open(t, puppets(Options{}))
	ctx := context.Background()
	innocent := begin(ctx, t, r, say("after 1500"))
	runs(t, r, home(), 1)
	for n := range 3 {
		guilty := say("hang").within(200)
		guilty.Key = fmt.Sprint("guilty", n)
		begin(ctx, t, r, guilty).wants("", tool.Timeout)
	}
	innocent.wants(`"1500"`, "")
}

// A code that no store knows, such as one that runs once, takes its neighbours down once and not again.
func TestACodeThatWasKilledRunsAloneTheNextTime(t *testing.T) {
	r := open(t, puppets(Options{}))
	ctx := context.Background()
	guilty := say("hang").within(200)
	guilty.Key = "guilty"
	begin(ctx, t, r, guilty).wants("", tool.Timeout)
	neighbour := begin(ctx, t, r, say("after 1500"))
	runs(t, r, home(), 1)
	begin(ctx, t, r, guilty).wants("", tool.Timeout)
	neighbour.wants(`"1500"`, "")
	if wall := neighbour.out.Usage.Wall; wall > 2500*time.Millisecond {
		t.Errorf("the other call took %v: it was caught in the kill", wall)
	}
}

// requestsOf is how many requests the calls that run in place have made.
func (r *Runner) requestsOf(place tool.Place) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, w := range r.crews[place].workers {
		w.mu.Lock()
		for _, c := range w.pending {
			c.mu.Lock()
			n += c.outcome.Usage.Requests
			c.mu.Unlock()
		}
		w.mu.Unlock()
	}
	return n
}

func TestASoloCallSharesItsWorkerWithNobody(t *testing.T) {
	r := open(t, puppets(Options{}))
	ctx := context.Background()
	shared := begin(ctx, t, r, say("after 1500"))
	runs(t, r, home(), 1)
	solo := say("hang").within(200)
	solo.Solo = true
	begin(ctx, t, r, solo).wants("", tool.Timeout)
	shared.wants(`"1500"`, "")
	if wall := shared.out.Usage.Wall; wall > 2500*time.Millisecond {
		t.Errorf("the other call took %v: it was caught in the kill", wall)
	}
}

func TestAWorkerKilledFromOutsideFailsItsCallsAtOnce(t *testing.T) {
	r := open(t, puppets(Options{}))
	pid := pidOf(t, r, home())
	call := begin(context.Background(), t, r, say("hang").within(30_000))
	runs(t, r, home(), 1)
	began := time.Now()
	kill(t, pid)
	call.wants("", tool.WorkerCrashed)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if !tool.AsError(call.err).Retryable {
		t.Error("a call that had asked nothing is not marked retryable")
	}
	if got := give(t, r, say("echo on")); got != `"on"` {
		t.Error(got)
	}
}

func kill(t testing.TB, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestACrashLoopHoldsBackOneWorkspaceAndHeals(t *testing.T) {
	r := open(t, puppets(Options{}))
	eventually(t, "the workspace is unhealthy", func() bool { return fail(t, r, say("crash")) == tool.Unhealthy })
	_, _, err := r.Call(context.Background(), say("crash"))
	if e := tool.AsError(err); e.Code != tool.Unhealthy || !e.Retryable || e.Details == nil || e.Hint == "" {
		t.Errorf("held back with %+v", e)
	}
	if got := give(t, r, say("echo fine").at(away())); got != `"fine"` {
		t.Error(got)
	}
	eventually(t, "it is healthy again", func() bool {
		_, _, err := r.Call(context.Background(), say("echo fine"))
		return err == nil
	})
}

func TestAdmission(t *testing.T) {
	r := open(t, puppets(Options{InFlight: 2, Queue: 2, QueueWait: 20 * time.Second}))
	ctx := context.Background()
	running := []*started{begin(ctx, t, r, say("after 800")), begin(ctx, t, r, say("after 800"))}
	runs(t, r, home(), 2)
	waiting := []*started{begin(ctx, t, r, say("echo a")), begin(ctx, t, r, say("echo b"))}
	eventually(t, "two wait", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.crews[home()].queue.Len() == 2 })
	_, _, err := r.Call(ctx, say("echo c"))
	if e := tool.AsError(err); e.Code != tool.Overloaded || !e.Retryable || e.Details == nil {
		t.Errorf("one too many ended with %+v", e)
	}
	if got := give(t, r, say("echo elsewhere").at(away())); got != `"elsewhere"` {
		t.Error(got)
	}
	for _, s := range running {
		s.wants(`"800"`, "")
	}
	waiting[0].wants(`"a"`, "")
	waiting[1].wants(`"b"`, "")
}

func TestWaitingHasAnEnd(t *testing.T) {
	r := open(t, puppets(Options{InFlight: 1, QueueWait: 100 * time.Millisecond}))
	long := begin(context.Background(), t, r, say("after 1000"))
	runs(t, r, home(), 1)
	if code := fail(t, r, say("echo x")); code != tool.Overloaded {
		t.Errorf("it ended with %s", code)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	begin(ctx, t, r, say("echo x")).wants("", tool.Timeout)
	long.wants(`"1000"`, "")
}

func TestRate(t *testing.T) {
	r := open(t, puppets(Options{Rate: 0.01, Burst: 3}))
	for range 3 {
		give(t, r, say("echo x"))
		nested := say("echo x")
		nested.Loan = new(Loan)
		give(t, r, nested) // what calls make for themselves is not counted
	}
	_, _, err := r.Call(context.Background(), say("echo x"))
	if e := tool.AsError(err); e.Code != tool.RateLimited || e.Details == nil {
		t.Errorf("the fourth ended with %+v", e)
	}
	give(t, r, say("echo x").at(away()))
}

func TestManyWorkspacesShareFewProcesses(t *testing.T) {
	r := open(t, puppets(Options{Workers: 4}))
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			place := tool.Place{Tenant: "t", Workspace: strconv.Itoa(i)}
			want := strconv.Quote(place.Workspace)
			if out, _, err := r.Call(context.Background(), say("echo "+place.Workspace).at(place)); err != nil || string(out.Value) != want {
				t.Errorf("%s gave %s, %v", place.Workspace, out.Value, err)
			}
			if n := r.processes(); n > 4 {
				t.Errorf("%d processes", n)
			}
		})
	}
	all.Wait()
}

func TestIdleWorkersEnd(t *testing.T) {
	r := open(t, puppets(Options{Idle: 50 * time.Millisecond}))
	for i := range 5 {
		give(t, r, say("echo x").at(tool.Place{Workspace: strconv.Itoa(i)}))
	}
	eventually(t, "no process is left", func() bool { return r.processes() == 0 })
}

func TestSparesAreKept(t *testing.T) {
	r := open(t, Options{Command: puppets(Options{}).Command, Spares: 2})
	eventually(t, "two wait", func() bool { return r.processes() == 2 })
	pidOf(t, r, home())
	eventually(t, "two more wait", func() bool { return r.processes() == 3 })
}

func TestAWorkerOverItsShareOfMemoryIsEnded(t *testing.T) {
	r := open(t, puppets(Options{WorkerMB: 150}))
	began := time.Now()
	if code := fail(t, r, say("eat 600").within(30_000)); code != tool.MemoryExceeded {
		t.Errorf("it ended with %s", code)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
	// Caught with others: they are innocent, and it is found out.
	neighbour := begin(context.Background(), t, r, say("after 1500"))
	runs(t, r, home(), 1)
	begin(context.Background(), t, r, say("eat 600").within(30_000)).wants("", tool.MemoryExceeded)
	neighbour.wants(`"1500"`, "")
}

// Calls that are each within their share and together beyond it: none of them is to blame, all
// are run again, each with a process of its own.
func TestCallsThatAreTooLargeTogetherRunAgainApart(t *testing.T) {
	r := open(t, puppets(Options{WorkerMB: 250}))
	var calls []*started
	for range 4 {
		calls = append(calls, begin(context.Background(), t, r, say("hold 100").within(30_000)))
	}
	foreign := begin(context.Background(), t, r, say("hold 100").at(away()))
	for _, c := range append(calls, foreign) {
		c.wants(`"100"`, "")
	}
}

func TestTheLogOfACallIsBounded(t *testing.T) {
	r := open(t, puppets(Options{LogBytes: 1000}))
	var heard atomic.Int64
	job := say("flood 50000").within(60_000)
	job.OnLog = func(tool.LogLine) { heard.Add(1) }
	out, _, err := r.Call(context.Background(), job)
	if err != nil || len(out.Logs) != 1000 || heard.Load() != 1000 {
		t.Errorf("%d lines kept, %d heard, %v", len(out.Logs), heard.Load(), err)
	}
}

func TestRequests(t *testing.T) {
	r := open(t, puppets(Options{}))
	host := hostFunc(func(_ context.Context, req Request) Response {
		if req.Op != "test" || string(req.Args) != `{"n":1}` {
			return Response{Err: tool.Errorf(tool.CapabilityDenied, "unexpected: %s %s", req.Op, req.Args)}
		}
		return Response{Data: []byte(strings.ToUpper(string(req.Data)))}
	})
	out, _, err := r.Call(context.Background(), say("ask 1000").servedBy(host))
	if err != nil || string(out.Value) != `"1000"` || out.Usage.Requests != 1000 || out.Usage.BytesIn != 4000 || out.Usage.BytesOut != 4000 {
		t.Errorf("%s, %+v, %v", out.Value, out.Usage, err)
	}
	if got := give(t, r, say("ask 2")); got != `"0"` {
		t.Errorf("without a host, %s requests were served", got)
	}
}

func TestRequestsEndWithTheirCall(t *testing.T) {
	r := open(t, puppets(Options{}))
	ended := make(chan struct{})
	host := hostFunc(func(ctx context.Context, _ Request) Response { <-ctx.Done(); close(ended); return Response{} })
	if code := fail(t, r, say("ask 1").servedBy(host).within(100)); code != tool.Timeout {
		t.Errorf("it ended with %s", code)
	}
	<-ended
}

func TestCancelling(t *testing.T) {
	r := open(t, puppets(Options{}))
	ctx, cancel := context.WithCancel(context.Background())
	patient, hanging := begin(ctx, t, r, say("patient")), begin(ctx, t, r, say("hang").at(away()))
	runs(t, r, home(), 1)
	runs(t, r, away(), 1)
	cancel()
	patient.wants(`"cancelled"`, "") // it answered all the same
	hanging.wants("", tool.Cancelled)
	begin(ctx, t, r, say("echo x")).wants("", tool.Cancelled)
}

func TestClose(t *testing.T) {
	r := open(t, puppets(Options{}))
	ctx := context.Background()
	call := begin(ctx, t, r, say("after 700"))
	runs(t, r, home(), 1)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { shut(t, r) })
	}
	both.Wait()
	call.wants(`"700"`, "") // it was waited for
	if code := fail(t, r, say("echo x")); code != tool.Stopped {
		t.Errorf("a call afterwards ended with %s", code)
	}
}

func TestCloseCutsShortWhenItsTimeIsOver(t *testing.T) {
	r := open(t, puppets(Options{InFlight: 1}))
	call := begin(context.Background(), t, r, say("hang").within(60_000))
	runs(t, r, home(), 1)
	waiting := begin(context.Background(), t, r, say("echo x"))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := r.Close(ctx); err == nil {
		t.Error("Close hides that it cut a call short")
	}
	call.wants("", tool.Stopped)
	waiting.wants("", tool.Stopped)
	if n := r.processes(); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

func TestNothingIsCrossed(t *testing.T) {
	r := open(t, puppets(Options{InFlight: 10_000}))
	var all sync.WaitGroup
	for i := range 10_000 {
		all.Go(func() {
			place := tool.Place{Tenant: strconv.Itoa(i % 5), Workspace: "w"}
			want := strconv.Itoa(i)
			out, _, err := r.Call(context.Background(), say("echo "+want).at(place).within(60_000))
			if err != nil || string(out.Value) != strconv.Quote(want) {
				t.Errorf("%s got %s, %v", want, out.Value, err)
			}
		})
	}
	all.Wait()
}

func TestDescriptorsComeBack(t *testing.T) {
	count := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skipf("descriptors cannot be counted here: %v", err)
		}
		return len(open)
	}
	before := count()
	for range 3 {
		r := open(t, puppets(Options{}))
		for i := range 5 {
			give(t, r, say("echo x").at(tool.Place{Workspace: strconv.Itoa(i)}))
			fail(t, r, say("crash").at(tool.Place{Workspace: strconv.Itoa(i)}))
		}
		shut(t, r)
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// Workspaces that are not used hold nothing: of a thousand, the twenty that are active have workers.
func TestTheFleetIsAsLargeAsWhatIsActive(t *testing.T) {
	many, active := 1000, 20
	if testing.Short() {
		many = 100
	}
	r := open(t, puppets(Options{Idle: 300 * time.Millisecond}))
	place := func(i int) tool.Place { return tool.Place{Workspace: strconv.Itoa(i)} }
	for i := range many {
		give(t, r, say("echo x").at(place(i)))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var calls []*started
	for i := range active {
		calls = append(calls, begin(ctx, t, r, say("patient").at(place(i))))
	}
	eventually(t, "each active workspace has one process, and no other has", func() bool { return r.processes() == active })
	cancel()
	for _, c := range calls {
		<-c.done // in time or not: that is another test's
	}
}
