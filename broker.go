package toolroom

import (
	"context"

	"toolroom/internal/runner"
	"toolroom/tool"
)

// capabilities is what bodies can be given: the broker's side of the Room.
type capabilities interface {
	// session is what one call may use. It is made for a call's first request.
	session(c *call) capability
	Close() error
}

// capability answers the requests of one call.
type capability interface {
	runner.Host
	Close()
}

func openBroker(Options) (capabilities, error) { return nothing{}, nil }

// nothing is no capability at all.
type nothing struct{}

func (nothing) session(*call) capability { return denied{} }

func (nothing) Close() error { return nil }

// denied is the session of a call that gets nothing.
type denied struct{}

func (denied) Close() {}

func (denied) Serve(_ context.Context, req runner.Request) runner.Response {
	return runner.Response{Err: tool.Errorf(tool.CapabilityDenied, "this room gives no tool %s", req.Op)}
}
