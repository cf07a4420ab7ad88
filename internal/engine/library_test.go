package engine

import "testing"

// A worker that gets the compiled scripts of another one runs bodies as that one does.
func TestCompiledScriptsServeAnotherEngine(t *testing.T) {
	first := newEngine(t)
	second, err := New(Options{Isolates: 1, Memory: 64 << 20, Library: first.Library()})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	const body = "return [new URL('http://a/b').host, typeof crypto.subtle.digest, new Intl.NumberFormat('en-US').format(1234)]"
	for _, e := range []*Engine{first, second} {
		if out, meta := (&noHost{}).call(t, e, body, "{}"); out != `["a","function","1,234"]` {
			t.Errorf("%s %+v", out, meta.Error)
		}
	}
	cut := first.Library()
	for _, n := range []int{1, 2, 100, len(cut) - 1} {
		if _, err := New(Options{Isolates: 1, Memory: 64 << 20, Library: cut[:n]}); err == nil {
			t.Errorf("an engine started with the first %d bytes of its scripts", n)
		}
	}
}

// TestSnapshotIsSmall: every call pays for copying the snapshot back.
func TestSnapshotIsSmall(t *testing.T) {
	e := newEngine(t)
	const most = 700 << 10
	if n := len(e.idle[0].snapshot); n > most {
		t.Errorf("the snapshot has %d bytes, and should stay under %d: make rarely used globals lazy", n, most)
	}
}
