package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolroom"
	"toolroom/tool"
)

// reshape is what a tool typically does: fetch a list, pick from it, sum it up.
const reshape = `const list = await ctx.fetchJson(args.url);
return { count: list.length, names: list.filter(x => x.active).map(x => x.name), total: list.reduce((n, x) => n + x.price, 0) }`

type item struct {
	ID     int     `json:"id"`
	Name   string  `json:"name"`
	Active bool    `json:"active"`
	Price  float64 `json:"price"`
	Note   string  `json:"note"`
}

// tenKB is about 10 KB of JSON.
func tenKB(tb testing.TB) []byte {
	var list []item
	for n := range 80 {
		list = append(list, item{n, fmt.Sprintf("item %d", n), n%2 == 0, float64(n) / 4, strings.Repeat("n", 60)})
	}
	b, err := json.Marshal(list)
	if err != nil || len(b) < 9_000 || len(b) > 12_000 {
		tb.Fatalf("%d bytes: %v", len(b), err)
	}
	return b
}

// reaching is a workspace whose tools reach addr on loopback.
func reaching(tb testing.TB, addr string, o toolroom.Options) *toolroom.Workspace {
	tb.Helper()
	o.Data, o.AllowPrivate = tb.TempDir(), []string{addr}
	room, err := toolroom.Open(context.Background(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { room.Close() })
	w, err := room.Workspace(tool.Principal{Place: tool.Place{Tenant: "bench", Workspace: "one"}, Kind: tool.User}, "")
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// bare is what reshape does, in Go, with nothing in between.
func bare(client *http.Client, url string) error {
	res, err := client.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var list []item
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		return err
	}
	total, names := 0.0, []string{}
	for _, x := range list {
		if total += x.Price; x.Active {
			names = append(names, x.Name)
		}
	}
	_, err = json.Marshal(map[string]any{"count": len(list), "names": names, "total": total})
	return err
}

// A call that fetches 10 KB of JSON from loopback and reshapes it, in turn with
// a bare Go client that does the same: overhead-µs is between the two medians.
func BenchmarkFetchAndReshape(b *testing.B) {
	answer := tenKB(b)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	defer s.Close()
	w := reaching(b, s.Listener.Addr().String(), toolroom.Options{})
	create(b, w, "reshape", reshape)
	args := fmt.Sprintf(`{"url":%q}`, s.URL)
	client := &http.Client{}
	for range 20 {
		call(b, w, "reshape", args)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		t := time.Now()
		call(b, w, "reshape", args)
		ours = append(ours, time.Since(t))
		t = time.Now()
		if err := bare(client, s.URL); err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(t))
	}
	quantiles(b, ours)
	slices.Sort(theirs)
	b.ReportMetric(float64(theirs[len(theirs)/2])/1e3, "bare-p50-µs")
	b.ReportMetric(float64(ours[len(ours)/2]-theirs[len(theirs)/2])/1e3, "overhead-µs")
}

// gate is a server that answers nobody before n have come.
type gate struct {
	n    int64
	came atomic.Int64
	open chan struct{}
}

func newGate(n int64) *gate { return &gate{n: n, open: make(chan struct{})} }

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.came.Add(1) == g.n {
		close(g.open)
	}
	select {
	case <-g.open:
		fmt.Fprint(w, `[]`)
	case <-r.Context().Done():
	}
}

// TestTwoHundredCallsGoOnAtOnce ends only when 200 calls of a workspace, in the room's only
// worker, wait for the server at the same time.
func TestTwoHundredCallsGoOnAtOnce(t *testing.T) {
	s := httptest.NewServer(newGate(200))
	defer s.Close()
	w := reaching(t, s.Listener.Addr().String(), toolroom.Options{InFlight: 200, Workers: 1, Timeout: time.Minute})
	create(t, w, "reshape", reshape)
	atOnce(t, w, 200, s.URL)
}

func atOnce(t *testing.T, w *toolroom.Workspace, n int, url string) {
	t.Helper()
	args := json.RawMessage(fmt.Sprintf(`{"url":%q}`, url))
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() {
			out, err := w.Call(context.Background(), "reshape", args)
			if err != nil || string(out.Value) != `{"count":0,"names":[],"total":0}` {
				t.Errorf("%s %v", out.Value, err)
			}
		})
	}
	calls.Wait()
}

// serverVariable makes this program a gate for so many: its sockets and memory are not the room's.
const serverVariable = "TOOLROOM_BENCH_GATE"

// serveGate prints where it listens, and then, when all have come and stand
// before the gate, reads one line before it opens.
func serveGate(n int64) {
	g := newGate(n + 1) // the last to come is this process
	s := httptest.NewServer(g)
	fmt.Println(s.URL)
	for g.came.Load() < n {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println("full")
	_, _ = io.ReadAll(os.Stdin)
	close(g.open)
	time.Sleep(time.Minute) // until it is killed
}

// TestTenThousandCallsWait has 10,000 calls wait for a slow server at the same
// time, and weighs the room with its workers.
func TestTenThousandCallsWait(t *testing.T) {
	if testing.Short() {
		t.Skip("10,000 calls at once: not with -short")
	}
	const calls = 10_000
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), fmt.Sprintf("%s=%d", serverVariable, calls))
	release, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	var url, full string
	if _, err := fmt.Fscanln(out, &url); err != nil {
		t.Fatal(err)
	}
	w := reaching(t, strings.TrimPrefix(url, "http://"), toolroom.Options{InFlight: calls, Timeout: 10 * time.Minute})
	create(t, w, "reshape", reshape)
	began := time.Now()
	go func() {
		_, _ = fmt.Fscanln(out, &full)
		t.Logf("%d calls wait after %.1f s: %s", calls, time.Since(began).Seconds(), weigh(t, server.Process.Pid))
		_ = release.Close()
	}()
	atOnce(t, w, calls, url)
}

// weigh is the resident memory of this process and its descendants, but one.
func weigh(t *testing.T, but int) string {
	total, list := int64(0), []string{}
	for _, pid := range append(descendants(os.Getpid()), os.Getpid()) {
		if pid == but {
			continue
		}
		rss := residentKB(pid)
		total += rss
		list = append(list, fmt.Sprintf("%d MB", rss>>10))
	}
	if total > 3<<20 {
		t.Errorf("room and workers hold %d MB, more than 3 GB", total>>10)
	}
	return fmt.Sprintf("%d MB resident (%s)", total>>10, strings.Join(list, ", "))
}

func descendants(pid int) (found []int) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, word := range strings.Fields(string(b)) {
			var child int
			if _, err := fmt.Sscan(word, &child); err == nil {
				found = append(append(found, child), descendants(child)...)
			}
		}
	}
	return found
}

func residentKB(pid int) (kb int64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, _ = fmt.Sscan(rest, &kb)
		}
	}
	return kb
}
