//go:build unix

package engine

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapArena reserves size bytes of address space. Pages become memory when they
// are first touched.
func mapArena(size uintptr) (arena, error) {
	p, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
	if err != nil {
		return arena{}, fmt.Errorf("reserving %d bytes for an isolate: %w", size, err)
	}
	a := arena{base: uintptr(p), size: size}
	a.init()
	return a, nil
}

// unmap gives the address space back. Nothing may touch the arena afterwards.
func (a arena) unmap() error { return unix.MunmapPtr(unsafe.Pointer(a.base), a.size) }

// release returns the whole pages between from and to to the system; they read
// as zero afterwards. The bytes before the first whole page are cleared.
func (a arena) release(from, to uintptr) {
	page := uintptr(os.Getpagesize())
	start := (from + page - 1) &^ (page - 1)
	end := (to + page - 1) &^ (page - 1)
	clear(a.bytes(from, min(start, to)))
	if start >= end {
		return
	}
	if unix.Madvise(a.bytes(start, end), unix.MADV_DONTNEED) != nil {
		clear(a.bytes(start, to))
	}
}
