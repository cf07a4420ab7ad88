//go:build !unix

package engine

import (
	"fmt"

	"modernc.org/libc"
)

// mapArena takes size bytes from libc: platforms without mmap pay for the whole
// arena at once, so keep caps small there.
func mapArena(size uintptr) (arena, error) {
	p := libc.Xcalloc(nil, 1, libc.Tsize_t(size))
	if p == 0 {
		return arena{}, fmt.Errorf("no memory for an isolate of %d bytes", size)
	}
	a := arena{base: p, size: size}
	a.init()
	return a, nil
}

func (a arena) unmap() error {
	libc.Xfree(nil, a.base)
	return nil
}

func (a arena) release(from, to uintptr) { clear(a.bytes(from, to)) }
