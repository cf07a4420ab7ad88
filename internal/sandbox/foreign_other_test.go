//go:build !amd64

package sandbox

const hasForeign = false

func foreignCall() int32 { return 0 }
