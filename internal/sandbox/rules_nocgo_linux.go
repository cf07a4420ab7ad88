//go:build !cgo

package sandbox

import "github.com/elastic/go-seccomp-bpf"

func allowedForC() []string                         { return nil }
func allowedForCWith() []seccomp.NameWithConditions { return nil }
func threadFlagsForC() []uint64                     { return nil }
func absent() []string                              { return nil }
