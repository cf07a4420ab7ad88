//go:build unix && !linux && !darwin

package engine

// noReserve is what such systems do anyway.
const noReserve = 0
