//go:build linux || darwin

package engine

import "golang.org/x/sys/unix"

// noReserve asks for address space without promising memory for it.
const noReserve = unix.MAP_NORESERVE
