package runner

import (
	"io"
	"log/slog"
	"runtime"
	"time"

	"toolroom/internal/sandbox"
	"toolroom/tool"
)

// Options say how a Runner works. The zero value of each means its default.
type Options struct {
	Command sandbox.Command // what workers are started as
	PerCall bool            // a worker of its own for each call, used once

	InFlight  int           // calls of one workspace that run at once; 64
	Queue     int           // calls of one workspace that wait; four times InFlight
	QueueWait time.Duration // how long one waits before it is told "overloaded"; 10 s
	Rate      float64       // calls a second and workspace; no limit
	Burst     int           // calls at once before Rate counts; one second's worth

	Isolates int           // isolates of one worker; calls that wait are set aside, so it holds many more of those; 32
	Workers  int           // processes at once; 64
	Spread   int           // workers that the calls of one workspace are spread over; one a processor
	Spares   int           // workers kept ready for a workspace's first call; 2, -1 for none
	Idle     time.Duration // how long a worker without calls is kept; 1 min

	Limits    tool.Limits   // of a call that says nothing itself; 30 s, 128 MiB, 1 MB
	MemoryMB  int64         // the most any call may ask for, MiB; 1024
	WorkerMB  int64         // resident memory at which a worker is ended, MiB; 2048
	LogBytes  int           // log kept of one call; 64 KiB
	MaxCached int           // codes kept loaded in a worker; 256
	Grace     time.Duration // from a call's limit to the end of its worker; 400 ms

	OnKilled func(place tool.Place, key string) // a call of key had to be ended with its worker. That call, and no other, waits for it
	Log      *slog.Logger                       // for the operator; none
}

func (o Options) withDefaults() Options {
	set(&o.InFlight, 64)
	set(&o.Queue, 4*o.InFlight)
	set(&o.QueueWait, 10*time.Second)
	set(&o.Burst, max(1, int(o.Rate)))
	set(&o.Isolates, 32)
	set(&o.Workers, 64)
	set(&o.Spread, runtime.NumCPU())
	set(&o.Spares, 2)
	set(&o.Idle, time.Minute)
	set(&o.Limits.TimeoutMS, 30_000)
	set(&o.Limits.MemoryMB, 128)
	set(&o.Limits.MaxResultBytes, 1<<20)
	set(&o.MemoryMB, 1024)
	set(&o.WorkerMB, 2048)
	set(&o.LogBytes, 64<<10)
	set(&o.MaxCached, 256)
	set(&o.Grace, 400*time.Millisecond)
	o.Spares = min(max(o.Spares, 0), o.Workers/2)
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.OnKilled == nil {
		o.OnKilled = func(tool.Place, string) {}
	}
	return o
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// limits are the budgets of a call that asked for l.
func (o Options) limits(l tool.Limits) tool.Limits {
	set(&l.TimeoutMS, o.Limits.TimeoutMS)
	set(&l.MemoryMB, o.Limits.MemoryMB)
	set(&l.MaxResultBytes, o.Limits.MaxResultBytes)
	l.MemoryMB = min(l.MemoryMB, o.MemoryMB)
	return l
}
