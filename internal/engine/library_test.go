package engine

import (
	"bytes"
	"encoding/gob"
	"flag"
	"os"
	"reflect"
	"testing"

	"toolroom/internal/engine/platform"
)

var update = flag.Bool("update", false, "write scripts.bin")

// TestScriptsAreFresh: what is packed is what the scripts compile to, with this engine.
func TestScriptsAreFresh(t *testing.T) {
	scripts, err := platform.Scripts()
	if err != nil {
		t.Fatal(err)
	}
	want := pack{Sum: sumOf(scripts)}
	if want.Scripts, err = compileScripts(scripts); err != nil {
		t.Fatal(err)
	}
	if *update {
		var out bytes.Buffer
		if err := gob.NewEncoder(&out).Encode(want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("scripts.bin", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var got pack
	if err := gob.NewDecoder(bytes.NewReader(packed)).Decode(&got); err != nil || !reflect.DeepEqual(got, want) {
		t.Error("scripts.bin is not what the scripts compile to: run go generate ./internal/engine")
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
