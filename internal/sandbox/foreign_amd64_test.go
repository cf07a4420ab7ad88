package sandbox

import "toolroom/internal/sandbox/foreign"

const hasForeign = true

func foreignCall() int32 { return foreign.Getpid() }
