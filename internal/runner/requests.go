package runner

import (
	"context"
	"encoding/json"
	"fmt"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// requests are what a call has asked the room for. The call's lock guards them.
type requests struct {
	next    uint64 // the least id that was not used yet
	open    map[uint32]context.CancelFunc
	refused []*tool.Error // the last ones that the body was told
}

// maxRefused is how many of its own errors the room remembers of a call, to
// tell whether the one that a body let through is one of them.
const maxRefused = 16

// begin accepts request id, or says why no honest worker would have sent it.
func (r *requests) begin(id uint32, made int) (context.Context, error) {
	if uint64(id) < r.next {
		return nil, fmt.Errorf("request %d came twice or out of order", id)
	}
	if made >= wire.MaxRequests {
		return nil, fmt.Errorf("more than %d requests in a call", wire.MaxRequests)
	}
	r.next = uint64(id) + 1
	if r.open == nil {
		r.open = make(map[uint32]context.CancelFunc)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.open[id] = cancel
	return ctx, nil
}

// finish says whether somebody still waits for the answer to id.
func (r *requests) finish(id uint32) bool {
	cancel, open := r.open[id]
	if open {
		cancel()
		delete(r.open, id)
	}
	return open
}

// abort takes id back. The answer may have crossed it on the way, but a request
// that was never made cannot be taken back.
func (r *requests) abort(id uint32) error {
	if !r.finish(id) && uint64(id) >= r.next {
		return fmt.Errorf("request %d was taken back before it was made", id)
	}
	return nil
}

func (r *requests) stop() {
	for id := range r.open {
		r.finish(id)
	}
}

func (r *requests) refuse(err *tool.Error) {
	if len(r.refused) == maxRefused {
		r.refused = r.refused[1:]
	}
	r.refused = append(r.refused, err)
}

// own returns the room's own error that raw claims to be, or nil: a worker may
// repeat what it was told, not make it up.
func (r *requests) own(raw json.RawMessage) json.RawMessage {
	var claim tool.Error
	if json.Unmarshal(raw, &claim) != nil {
		return nil
	}
	for _, err := range r.refused {
		if err.Code == claim.Code && err.Message == claim.Message {
			own, encodeErr := json.Marshal(err)
			if encodeErr != nil {
				return nil
			}
			return own
		}
	}
	return nil
}

// errand is a request on its way to the call's host. Whoever gets one serves it.
type errand struct {
	worker  *worker
	call    *call
	ctx     context.Context // ends when nobody wants the answer any more
	id      uint32
	request Request
	size    int // bytes held until it is served
}

// request makes an errand of what the worker asks for, or nothing if the call has ended.
func (w *worker) request(c *call, f wire.Frame) (*errand, error) {
	var meta wire.RequestMeta
	if err := wire.Decode(f.Meta, &meta); err != nil {
		return nil, err
	}
	w.held.take(len(f.Meta) + len(f.Data))
	e := &errand{worker: w, call: c, id: f.Request, size: len(f.Meta) + len(f.Data),
		request: Request{Op: meta.Op, Args: meta.Args, Data: append([]byte(nil), f.Data...)}}
	err := c.live(func() (err error) {
		usage := &c.outcome.Usage
		if e.ctx, err = c.requests.begin(f.Request, usage.Requests); err != nil {
			return err
		}
		usage.Requests++
		usage.BytesOut += int64(len(f.Data))
		w.runner.serving.Add(1)
		return nil
	})
	if e.ctx == nil {
		w.held.give(e.size)
		return nil, err
	}
	return e, nil
}

// serve has the host answer, and sends the answer if somebody still waits for it.
func (e *errand) serve() {
	w, c := e.worker, e.call
	defer w.runner.serving.Done()
	defer w.held.give(e.size)
	resp := Response{Err: tool.Errorf(tool.CapabilityDenied, "%s is not available here", e.request.Op)}
	if c.job.Host != nil {
		resp = c.job.Host.Serve(e.ctx, e.request)
	}
	frame := reply(c.id, e.id, &resp)
	wanted := false
	_ = c.live(func() error {
		if wanted = c.requests.finish(e.id); wanted {
			c.outcome.Usage.BytesIn += int64(len(resp.Data))
			if resp.Err != nil {
				c.requests.refuse(resp.Err)
			}
		}
		return nil
	})
	if !wanted {
		return
	}
	if err := w.out.send(frame); err != nil { // it is gone, or does not want to hear any more
		w.end(verdict{why: err.Error(), crash: true})
	}
}

// reply is the frame that carries resp; what cannot be carried becomes an error
// in resp.
func reply(call uint64, id uint32, resp *Response) wire.Frame {
	meta, err := wire.ReplyMeta{Value: resp.Value}, error(nil)
	if resp.Err != nil {
		meta, err = wire.Refusal(resp.Err)
	}
	packed := meta.Pack()
	if err != nil || len(packed) > wire.MaxMeta || len(resp.Data) > wire.MaxData {
		*resp = Response{Err: tool.Errorf(tool.ResponseTooLarge, "the answer is too large for a tool: %d bytes of value, %d of data", len(resp.Value), len(resp.Data))}
		meta, _ = wire.Refusal(resp.Err) // strings always encode
		packed = meta.Pack()
	}
	return wire.Frame{Kind: wire.Reply, Call: call, Request: id, Meta: packed, Data: resp.Data}
}
