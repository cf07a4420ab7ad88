package engine

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// arena is the memory of one engine runtime, allocator state included: copying
// its bytes away and back again restores the runtime, bit for bit.
//
//	base ─ header │ blocks … │ top ─ never used since the snapshot … ─ base+size
//
// Small and medium blocks come from size classes with a free list each. Large
// ones are whole multiples of largeStep, kept in one list by address, merged
// with their neighbours when freed, and given back to top when they touch it,
// so that a body which grows and drops buffers does not run out of arena while
// it is under its cap.
type arena struct {
	base uintptr
	size uintptr
}

// header lives at the arena's start, so that a restore brings it back too.
type header struct {
	top   uintptr // first byte never handed out
	high  uintptr // largest top since the last restore
	limit uintptr // top may not pass this
	fails uint64  // allocations refused since the last restore
	hurry uintptr // the engine's count down to its next poll
	peak  uint64  // largest malloc_size since the last restore
	large uintptr // first free large block, by address
	free  [classes]uintptr
}

// block precedes every allocation. The engine asks for no more than 8-byte
// alignment.
type block struct{ size uint64 } // all of the block, this header included

// freeLarge overlays a free large block.
type freeLarge struct {
	size uint64
	next uintptr
}

const (
	blockHead = unsafe.Sizeof(block{})
	smallMax  = 512      // classes of 16 bytes up to here
	mediumMax = 32 << 10 // four classes for each doubling up to here
	classes   = smallMax/16 + 4*6
	largeStep = 4 << 10
)

func (a arena) header() *header { return (*header)(unsafe.Pointer(a.base)) }

// init makes an empty heap. The arena's bytes must be zero.
func (a arena) init() {
	h := a.header()
	h.top = (a.base + unsafe.Sizeof(header{}) + 63) &^ 63
	h.high = h.top
	h.limit = a.base + a.size
}

// classOf returns the class that holds size bytes and the bytes it has; class
// -1 is large.
func classOf(size uint64) (class int, total uint64) {
	switch {
	case size <= smallMax:
		c := (size + 15) / 16
		return int(c) - 1, c * 16
	case size > mediumMax:
		return -1, (size + largeStep - 1) &^ (largeStep - 1)
	}
	first, c := uint64(smallMax), smallMax/16
	for first*2 < size {
		first, c = first*2, c+4
	}
	quarter := first / 4
	n := (size - first + quarter - 1) / quarter
	return c + int(n) - 1, first + n*quarter
}

func blockAt(p uintptr) *block         { return (*block)(unsafe.Pointer(p)) }
func freeLargeAt(p uintptr) *freeLarge { return (*freeLarge)(unsafe.Pointer(p)) }

// take returns a block of at least size bytes, its header included, or 0.
func (h *header) take(size uint64) uintptr {
	class, total := classOf(size)
	if class < 0 {
		return h.takeLarge(total)
	}
	if p := h.free[class]; p != 0 {
		h.free[class] = *(*uintptr)(unsafe.Pointer(p + blockHead))
		return p
	}
	return h.bump(total)
}

func (h *header) bump(total uint64) uintptr {
	p := h.top
	if total > uint64(h.limit-p) {
		return 0
	}
	h.top += uintptr(total)
	h.high = max(h.high, h.top)
	blockAt(p).size = total
	return p
}

// takeLarge is first fit by address; the rest of a block that is split stays
// in its place in the list.
func (h *header) takeLarge(total uint64) uintptr {
	for link := &h.large; *link != 0; link = &freeLargeAt(*link).next {
		p := *link
		f := freeLargeAt(p)
		switch {
		case f.size == total:
			*link = f.next
			return p
		case f.size > total:
			rest := p + uintptr(total)
			*freeLargeAt(rest) = freeLarge{size: f.size - total, next: f.next}
			*link = rest
			blockAt(p).size = total
			return p
		}
	}
	return h.bump(total)
}

// give takes a block back.
func (h *header) give(p uintptr) {
	size := blockAt(p).size
	if class, total := classOf(size); class >= 0 && total == size {
		*(*uintptr)(unsafe.Pointer(p + blockHead)) = h.free[class]
		h.free[class] = p
		return
	}
	h.giveLarge(p, size)
}

func (h *header) giveLarge(p uintptr, size uint64) {
	link, before := &h.large, uintptr(0)
	for *link != 0 && *link < p {
		before = *link
		link = &freeLargeAt(before).next
	}
	f := freeLargeAt(p)
	f.size, f.next = size, *link
	*link = p
	if n := f.next; n != 0 && p+uintptr(f.size) == n {
		f.size += freeLargeAt(n).size
		f.next = freeLargeAt(n).next
	}
	if before != 0 && before+uintptr(freeLargeAt(before).size) == p {
		freeLargeAt(before).size += f.size
		freeLargeAt(before).next = f.next
		p, f = before, freeLargeAt(before)
	}
	if p+uintptr(f.size) == h.top {
		h.dropTop(p)
	}
}

// dropTop unlinks the last free large block and lowers top to it.
func (h *header) dropTop(p uintptr) {
	link := &h.large
	for *link != p {
		link = &freeLargeAt(*link).next
	}
	*link = 0
	h.top = p
}

// The four functions below are the engine's allocator. Their s is a
// TJSMallocState, whose opaque field is the arena's base.

func arenaMalloc(_ *libc.TLS, s uintptr, size lib.Tsize_t) uintptr {
	st := (*lib.TJSMallocState)(unsafe.Pointer(s))
	need := uint64(size) + uint64(blockHead)
	_, total := classOf(need)
	h := (*header)(unsafe.Pointer(st.Fopaque))
	if need < uint64(size) || st.Fmalloc_size+total > st.Fmalloc_limit {
		return h.refuse()
	}
	p := h.take(need)
	if p == 0 {
		return h.refuse()
	}
	st.Fmalloc_count++
	st.Fmalloc_size += blockAt(p).size
	h.peak = max(h.peak, st.Fmalloc_size)
	return p + blockHead
}

// refuse is an allocation that fails. The engine polls soon, so that a body which
// runs into its cap again and again is noticed.
func (h *header) refuse() uintptr {
	h.fails++
	if h.hurry != 0 {
		*(*int32)(unsafe.Pointer(h.hurry)) = 1
	}
	return 0
}

func arenaFree(_ *libc.TLS, s uintptr, p uintptr) {
	if p == 0 {
		return
	}
	st := (*lib.TJSMallocState)(unsafe.Pointer(s))
	st.Fmalloc_count--
	st.Fmalloc_size -= blockAt(p - blockHead).size
	(*header)(unsafe.Pointer(st.Fopaque)).give(p - blockHead)
}

func arenaRealloc(tls *libc.TLS, s uintptr, p uintptr, size lib.Tsize_t) uintptr {
	switch {
	case p == 0 && size == 0:
		return 0
	case p == 0:
		return arenaMalloc(tls, s, size)
	case size == 0:
		arenaFree(tls, s, p)
		return 0
	}
	have := blockAt(p-blockHead).size - uint64(blockHead)
	if uint64(size) <= have && (have <= mediumMax || uint64(size) > have/2) {
		return p
	}
	if growInPlace(s, p-blockHead, uint64(size)+uint64(blockHead)) {
		return p
	}
	q := arenaMalloc(tls, s, size)
	if q == 0 {
		if uint64(size) <= have {
			return p // a block that cannot shrink still fits
		}
		return 0
	}
	n := min(have, uint64(size))
	copy(unsafe.Slice((*byte)(unsafe.Pointer(q)), n), unsafe.Slice((*byte)(unsafe.Pointer(p)), n))
	arenaFree(tls, s, p)
	return q
}

// growInPlace makes the large block at p hold need bytes if nothing lies behind it: strings and arrays
// that grow step by step are not copied each time.
func growInPlace(s, p uintptr, need uint64) bool {
	st := (*lib.TJSMallocState)(unsafe.Pointer(s))
	h := (*header)(unsafe.Pointer(st.Fopaque))
	b := blockAt(p)
	class, total := classOf(need)
	if class >= 0 || b.size <= mediumMax || p+uintptr(b.size) != h.top || total <= b.size {
		return false
	}
	more := total - b.size
	if st.Fmalloc_size+more > st.Fmalloc_limit || more > uint64(h.limit-h.top) {
		return false
	}
	h.top += uintptr(more)
	h.high = max(h.high, h.top)
	b.size = total
	st.Fmalloc_size += more
	h.peak = max(h.peak, st.Fmalloc_size)
	return true
}

func arenaUsable(_ *libc.TLS, p uintptr) lib.Tsize_t {
	if p == 0 {
		return 0
	}
	return lib.Tsize_t(blockAt(p-blockHead).size - uint64(blockHead))
}

// snapshot copies all that is in use.
func (a arena) snapshot() []byte {
	h := a.header()
	h.high, h.peak = h.top, 0
	return append([]byte(nil), a.bytes(a.base, h.top)...)
}

// keepDirty is how much memory past the snapshot is cleared by hand at a
// restore; what a call used beyond it goes back to the system. Dropping pages
// that are needed again at once costs far more than clearing them.
const keepDirty = 1 << 20

// restore puts the arena back to a snapshot of itself.
func (a arena) restore(snapshot []byte) {
	high := a.header().high
	copy(a.bytes(a.base, a.base+uintptr(len(snapshot))), snapshot)
	from := a.base + uintptr(len(snapshot))
	if high <= from {
		return
	}
	if high-from <= keepDirty {
		clear(a.bytes(from, high))
		return
	}
	clear(a.bytes(from, from+keepDirty))
	a.release(from+keepDirty, high)
}

func (a arena) bytes(from, to uintptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(from)), to-from)
}
