//go:build !unix

package secrets

// ownMode says whether this system keeps others from reading a file by its mode.
const ownMode = false
