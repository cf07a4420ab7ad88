package sandbox

import (
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What /proc says of a thread, and what is thought of it.
func TestVerifyThread(t *testing.T) {
	const none = "0000000000000000"
	good := func() map[string]string {
		return map[string]string{"NoNewPrivs": "1", "Seccomp": "2", "Seccomp_filters": "2", "CapEff": none, "CapPrm": none, "CapAmb": none}
	}
	room := map[string]string{"Seccomp_filters": "1"} // itself in a container
	if err := verifyThread(good(), room); err != nil {
		t.Error(err)
	}
	for field, bad := range map[string]string{"NoNewPrivs": "0", "Seccomp": "0", "Seccomp_filters": "1", "CapEff": "000001ffffffffff", "CapPrm": "", "CapAmb": "1"} {
		thread := good()
		thread[field] = bad
		if verifyThread(thread, room) == nil {
			t.Errorf("%s %q was accepted", field, bad)
		}
	}
	if verifyThread(good(), map[string]string{}) == nil {
		t.Error("a kernel that does not count filters was taken at its word")
	}
}

func TestMissing(t *testing.T) {
	layers := []Layer{{Name: "a", Required: true}, {Name: seccompName, Stands: true, Required: true}, {Name: "c"}}
	if got := Missing(layers); len(got) != 1 || got[0].Name != "a" {
		t.Errorf("%+v", got)
	}
	if !verifiable(Missing(layers)) || verifiable([]Layer{{Name: seccompName}}) {
		t.Error("a worker is verified where it can be, and only there")
	}
}

func TestStarted(t *testing.T) {
	for _, test := range []struct {
		args []string
		want bool
	}{
		{nil, false}, {[]string{Marker}, false}, {[]string{Marker, "other"}, false}, {[]string{"toolroom", modeRequired}, false},
		{Command{}.argv(), true}, {Command{Required: true, Args: []string{"x"}}.argv(), true},
	} {
		if Started(test.args) != test.want {
			t.Errorf("%q", test.args)
		}
	}
}

// Older kernels get the rules that they know, and never fewer than those.
func TestRulesetByVersion(t *testing.T) {
	for abi, want := range map[int][3]uint64{
		1: {0x1fff, 0, 0}, 2: {0x3fff, 0, 0}, 3: {0x7fff, 0, 0}, 4: {0x7fff, 3, 0}, 5: {0xffff, 3, 0}, 6: {0xffff, 3, 3}, 99: {0xffff, 3, 3},
	} {
		got := ruleset(abi)
		if [3]uint64{got.Handled_access_fs, got.Handled_access_net, got.Scoped} != want {
			t.Errorf("version %d: %+v", abi, got)
		}
	}
}

// The filter begins with the architecture, and knows no way to allow a call
// other than those of the list.
func TestProgramShape(t *testing.T) {
	raw, err := program(1)
	if err != nil {
		t.Fatal(err)
	}
	kill := bpf.RawInstruction{Op: 0x06, K: unix.SECCOMP_RET_KILL_PROCESS}
	if raw[0].K != 4 || raw[2] != kill {
		t.Errorf("it does not begin with the architecture: %+v", raw[:3])
	}
	allows := 0
	for _, r := range raw {
		if r.Op == kill.Op && r.K == unix.SECCOMP_RET_ALLOW {
			allows++
		}
	}
	if allows != 1 || raw[len(raw)-1].K != unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM) {
		t.Errorf("%d ways to allow; the last word is %#x", allows, raw[len(raw)-1].K)
	}
	if names := allowed(); len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Error("a call is listed twice")
	}
}
