package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"toolroom/tool"
)

// reporter hands the progress of one call on to its client. A slow client
// loses steps in between; it never holds up the call.
type reporter struct {
	steps chan tool.Progress
	done  chan struct{}
}

// waiting is how many steps may wait for a slow client.
const waiting = 16

func newReporter(ctx context.Context, session *mcp.ServerSession, token any) *reporter {
	r := &reporter{steps: make(chan tool.Progress, waiting), done: make(chan struct{})}
	go r.run(ctx, session, token)
	return r
}

// run sends steps that go forward: the protocol wants progress to grow.
func (r *reporter) run(ctx context.Context, session *mcp.ServerSession, token any) {
	defer close(r.done)
	last, first := 0.0, true
	for p := range r.steps {
		if !first && p.Done <= last {
			continue
		}
		last, first = p.Done, false
		err := session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: p.Done, Total: p.Total, Message: p.Message})
		if err != nil {
			for range r.steps { // the client is gone: take the rest and drop it
			}
			return
		}
	}
}

// send must not be called after close.
func (r *reporter) send(p tool.Progress) {
	select {
	case r.steps <- p:
	default:
	}
}

// close sends what waits and ends the reporter.
func (r *reporter) close() {
	close(r.steps)
	<-r.done
}
