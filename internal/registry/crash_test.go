package registry_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"toolroom/internal/registry"
	"toolroom/internal/store/sqlite"
	"toolroom/tool"
)

// crashDirEnv makes the test binary the victim: a room that changes tools until it is killed.
const crashDirEnv = "TOOLROOM_TEST_CRASH_DIR"

// crashCycles is how often the victim is killed: 1,000 by make crash, 100 by make test, else a few.
func crashCycles(t *testing.T) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("TOOLROOM_CRASH_CYCLES")); err == nil {
		return n
	}
	return 25
}

// acked is a line of the outside log: a change that the victim was told is made.
type acked struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
	Version  string `json:"version"`
	Number   int64  `json:"number"`
	Hash     string `json:"hash"`
	Enabled  bool   `json:"enabled"`
	Deleted  bool   `json:"deleted"`
}

// TestVictim is of use only when TestCrashLosesNothingAcknowledged runs it.
func TestVictim(t *testing.T) {
	dir := os.Getenv(crashDirEnv)
	if dir == "" {
		return
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "room.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := over(t, s)
	log := json.NewEncoder(os.Stdout)
	for i := 0; ; i++ {
		c, err := changeSomething(t, r, i)
		if err != nil {
			t.Fatal(err)
		}
		v := c.Tool
		line := acked{v.Name, v.Revision, v.Current.ID, v.Current.Number, v.Current.Hash, v.Enabled, v.Deleted}
		if err := log.Encode(line); err != nil {
			t.Fatal(err)
		}
	}
}

// changeSomething makes one change of a kind and of a tool picked at random.
func changeSomething(t *testing.T, r *registry.Registry, i int) (tool.Change, error) {
	name := fmt.Sprintf("tool_%c", 'a'+rand.IntN(6))
	body := fmt.Sprintf("return %d + %d;", i, rand.Int64())
	none := registry.ChangeOptions{}
	now, err := r.Get(t.Context(), place(), name)
	switch kind := rand.IntN(8); {
	case tool.CodeOf(err) == tool.NotFound || err == nil && now.Deleted && kind < 4:
		d := definition(name)
		d.Body = body
		return r.Create(t.Context(), user(), d, registry.CreateOptions{})
	case err != nil:
		return tool.Change{}, err
	case now.Deleted:
		return r.Restore(t.Context(), user(), name, now.Current.ID, none)
	case kind == 0:
		return r.Delete(t.Context(), user(), name, none)
	case kind == 1:
		return r.SetEnabled(t.Context(), user(), name, !now.Enabled, none)
	}
	return r.Update(t.Context(), user(), name, tool.Patch{Body: &body}, none)
}

// TestCrashLosesNothingAcknowledged kills a room at any moment, over and over on the same
// files, and holds what is there against a log that was kept outside.
func TestCrashLosesNothingAcknowledged(t *testing.T) {
	dir := t.TempDir()
	var log []acked
	last := map[string]acked{} // by tool
	cycles := crashCycles(t)
	for i := range cycles {
		news := killOnce(t, dir)
		for _, a := range news {
			last[a.Name] = a
		}
		if verify(t, dir, news, last); t.Failed() {
			t.Fatalf("after cycle %d", i+1)
		}
		log = append(log, news...)
	}
	verify(t, dir, log, last) // what was there after its own cycle is there after all of them
	if len(log) < cycles {
		t.Fatalf("only %d changes were acknowledged in %d cycles", len(log), cycles)
	}
	t.Logf("%d cycles, %d acknowledged changes", cycles, len(log))
}

// killOnce lets a victim work for a moment and kills it. It answers with what it logged.
func killOnce(t *testing.T, dir string) []acked {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$")
	cmd.Env = append(os.Environ(), crashDirEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n') // it is at work by now
	if err != nil {
		t.Fatalf("the victim did nothing: %s %v", first, err)
	}
	time.Sleep(time.Duration(rand.Int64N(int64(40 * time.Millisecond))))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	return parseLog(t, first+string(rest))
}

func parseLog(t *testing.T, text string) (log []acked) {
	t.Helper()
	for line := range lines(text) {
		var a acked
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("the victim said %q", line)
		}
		log = append(log, a)
	}
	return log
}

// lines is the whole lines of a text: the last one may have been cut by the kill.
func lines(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i := range len(text) {
			if text[i] == '\n' {
				if !yield(text[start:i]) {
					return
				}
				start = i + 1
			}
		}
	}
}

// verify opens the room after a kill: everything acknowledged is there, and every
// tool is whole.
func verify(t *testing.T, dir string, log []acked, last map[string]acked) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "room.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := over(t, s)
	defer r.Close()
	for _, a := range log {
		v, err := r.Version(t.Context(), place(), a.Name, a.Version)
		if err != nil || v.Hash != a.Hash || v.Number != a.Number {
			t.Errorf("acknowledged %+v, found %+v, %v", a, v, err)
		}
	}
	for _, a := range last {
		whole(t, r, a)
	}
}

// whole says that a tool is as it was last acknowledged, or one whole change further.
func whole(t *testing.T, r *registry.Registry, a acked) {
	t.Helper()
	got, err := r.Get(t.Context(), place(), a.Name)
	if err != nil || got.Broken != nil || got.Revision < a.Revision {
		t.Errorf("acknowledged %+v, found %+v, %v", a, got, err)
		return
	}
	same := got.Current.ID == a.Version && got.Enabled == a.Enabled && got.Deleted == a.Deleted
	if got.Revision == a.Revision && !same {
		t.Errorf("acknowledged %+v, found %+v", a, got)
	}
	h, err := r.History(t.Context(), place(), a.Name, "", 999)
	if err != nil || len(h.Versions) == 0 || h.Versions[0].ID != got.Current.ID {
		t.Errorf("%s: current is %s, the history begins %+v, %v", a.Name, got.Current.ID, h.Versions, err)
	}
	for i, v := range h.Versions {
		if v.Number != int64(len(h.Versions)-i) && len(h.Versions) < 999 {
			t.Errorf("%s: version %d of %d has number %d", a.Name, i, len(h.Versions), v.Number)
		}
	}
	if !got.Deleted && got.Enabled {
		if _, err := r.Resolve(t.Context(), place(), a.Name); err != nil {
			t.Errorf("%s cannot be called: %v", a.Name, err)
		}
	}
}
