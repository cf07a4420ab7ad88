package engine

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// blocks drives the allocator as the engine does.
type blocks struct {
	arena
	tls   *libc.TLS
	state uintptr
}

func newHeap(t *testing.T, size uintptr, limit uint64) *blocks {
	t.Helper()
	a, err := mapArena(size)
	if err != nil {
		t.Fatal(err)
	}
	h := &blocks{arena: a, tls: libc.NewTLS()}
	h.state = libc.Xcalloc(h.tls, 1, lib.Tsize_t(unsafe.Sizeof(lib.TJSMallocState{})))
	*h.st() = lib.TJSMallocState{Fmalloc_limit: limit, Fopaque: a.base}
	t.Cleanup(func() {
		libc.Xfree(h.tls, h.state)
		h.tls.Close()
		if err := a.unmap(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *blocks) st() *lib.TJSMallocState { return (*lib.TJSMallocState)(unsafe.Pointer(h.state)) }

// piece is a live allocation, filled with its mark.
type piece struct {
	p    uintptr
	size int
	mark byte
}

func (h *blocks) fill(p piece) {
	b := memory(p.p, uint64(p.size))
	for i := range b {
		b[i] = p.mark
	}
}

func (h *blocks) check(t *testing.T, p piece) {
	t.Helper()
	if b := memory(p.p, uint64(p.size)); bytes.Count(b, []byte{p.mark}) != len(b) {
		t.Fatalf("a block of %d bytes was overwritten", p.size)
	}
}

func someSize(r *rand.Rand) int {
	switch r.IntN(10) {
	case 0:
		return 1 + r.IntN(300<<10)
	case 1, 2:
		return 1 + r.IntN(40<<10)
	}
	return 1 + r.IntN(700)
}

// Whatever the order of calls: blocks do not overlap, keep their bytes when they move, never pass the limit,
// and freeing all of them gives all memory back.
func TestArenaKeepsBlocksApart(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := newHeap(t, 24<<20, 16<<20)
		var live []piece
		for range 4000 {
			switch n := r.IntN(10); {
			case n < 5 || len(live) == 0:
				p := piece{size: someSize(r), mark: byte(1 + r.IntN(255))}
				if p.p = arenaMalloc(h.tls, h.state, lib.Tsize_t(p.size)); p.p != 0 {
					h.fill(p)
					live = append(live, p)
				}
			case n < 8:
				i := r.IntN(len(live))
				h.check(t, live[i])
				arenaFree(h.tls, h.state, live[i].p)
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
			default:
				i, size := r.IntN(len(live)), someSize(r)
				if q := arenaRealloc(h.tls, h.state, live[i].p, lib.Tsize_t(size)); q != 0 {
					live[i].p, live[i].size = q, min(size, live[i].size)
					h.check(t, live[i])
					live[i].size = size
					h.fill(live[i])
				}
			}
			if h.st().Fmalloc_size > h.st().Fmalloc_limit {
				t.Fatalf("%d bytes in use, over the limit", h.st().Fmalloc_size)
			}
		}
		for _, p := range live {
			h.check(t, p)
			if int(arenaUsable(h.tls, p.p)) < p.size {
				t.Fatal("a block is smaller than what was asked for")
			}
			arenaFree(h.tls, h.state, p.p)
		}
		if h.st().Fmalloc_size != 0 || h.st().Fmalloc_count != 0 {
			t.Fatalf("%d bytes in %d blocks after all were freed", h.st().Fmalloc_size, h.st().Fmalloc_count)
		}
	}
}

// A body that grows and drops buffers does not run out of arena below its cap.
func TestArenaReusesLargeBlocks(t *testing.T) {
	h := newHeap(t, 20<<20, 16<<20)
	for range 50 {
		var p uintptr
		for size := 1 << 10; size < 8<<20; size = size*3/2 + 1 {
			q := arenaRealloc(h.tls, h.state, p, lib.Tsize_t(size))
			if q == 0 {
				t.Fatalf("no room for %d bytes", size)
			}
			p = q
		}
		arenaFree(h.tls, h.state, p)
	}
}

// Sizes that overflow, or that nobody has, are refused and change nothing.
func TestArenaRefusesAbsurdSizes(t *testing.T) {
	h := newHeap(t, 8<<20, 4<<20)
	for _, size := range []uint64{1 << 63, ^uint64(0), ^uint64(0) - 7, 5 << 20} {
		if p := arenaMalloc(h.tls, h.state, lib.Tsize_t(size)); p != 0 {
			t.Errorf("%d bytes were given", size)
		}
	}
	p := arenaMalloc(h.tls, h.state, 100)
	if q := arenaRealloc(h.tls, h.state, p, lib.Tsize_t(^uint64(0))); q != 0 {
		t.Error("a block grew to everything")
	}
	if h.header().fails != 5 {
		t.Errorf("%d refusals counted, want 5", h.header().fails)
	}
}

// restore gives back every byte of the snapshot and leaves zeroes behind it.
func TestRestoreIsTheSnapshotBitForBit(t *testing.T) {
	h := newHeap(t, 32<<20, 24<<20)
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		p := arenaMalloc(h.tls, h.state, lib.Tsize_t(someSize(r)))
		h.fill(piece{p: p, size: 8, mark: 0xAA})
	}
	snapshot, state := h.snapshot(), *h.st()
	for _, extra := range []int{0, 1 << 10, 900 << 10, 10 << 20} {
		if extra > 0 {
			p := arenaMalloc(h.tls, h.state, lib.Tsize_t(extra))
			h.fill(piece{p: p, size: extra, mark: 0x55})
		}
		h.fill(piece{p: h.base + 4096, size: 2000, mark: 0x55})
		high := h.header().high
		h.restore(snapshot)
		*h.st() = state
		if !bytes.Equal(h.bytes(h.base, h.base+uintptr(len(snapshot))), snapshot) {
			t.Fatal("the restored bytes differ")
		}
		rest := h.bytes(h.base+uintptr(len(snapshot)), high)
		if bytes.Count(rest, []byte{0}) != len(rest) {
			t.Fatalf("bytes of the call are left behind after %d extra bytes", extra)
		}
	}
}
