package egress

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// What is taken is what was added, in order, and stays as it was while more is read.
func TestBufferKeepsWhatItIsGiven(t *testing.T) {
	for _, step := range []int{0, 1, 2, 100, readStep + 1} {
		random := rand.New(rand.NewPCG(1, uint64(step)))
		b := buffer{step: step}
		var want, got []byte
		var pieces [][]byte
		for range 500 {
			free := b.free()
			if len(free) == 0 {
				t.Fatal("nothing is free")
			}
			n := random.IntN(min(len(free), 5000) + 1)
			for k := range n {
				free[k] = byte(random.Uint32())
			}
			want = append(want, free[:n]...)
			if b.add(n); random.IntN(3) == 0 {
				pieces = append(pieces, b.take())
			}
		}
		for _, p := range append(pieces, b.take()) {
			got = append(got, p...)
		}
		if !bytes.Equal(got, want) || b.len() != 0 {
			t.Errorf("with step %d: %d bytes, want %d; %d are left", step, len(got), len(want), b.len())
		}
	}
}
