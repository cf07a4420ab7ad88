package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// take acts on one frame of a worker; a request comes back, to be served. An error means that no
// honest worker would have sent it, and ends the worker.
func (w *worker) take(f wire.Frame) (*errand, error) {
	w.mu.Lock()
	c, known := w.pending[f.Call]
	gone := w.ended != nil
	w.mu.Unlock()
	if gone {
		return nil, errors.New("ended by the room")
	}
	if !known {
		return nil, fmt.Errorf("%w: kind %d for call %d, which it does not run", wire.ErrFrame, f.Kind, f.Call)
	}
	if c.check != (f.Kind == wire.Checked) {
		return nil, fmt.Errorf("%w: kind %d for call %d", wire.ErrFrame, f.Kind, f.Call)
	}
	if f.Kind != wire.Request && f.Kind != wire.Abort && f.Request != 0 {
		return nil, fmt.Errorf("%w: kind %d with a request id", wire.ErrFrame, f.Kind)
	}
	switch f.Kind {
	case wire.Log:
		return nil, c.takeLog(f)
	case wire.Progress:
		return nil, c.takeProgress(f)
	case wire.Request:
		return w.request(c, f)
	case wire.Abort:
		if len(f.Meta)+len(f.Data) > 0 {
			return nil, fmt.Errorf("%w: an abort that says something", wire.ErrFrame)
		}
		return nil, c.live(func() error { return c.requests.abort(f.Request) })
	case wire.Checked:
		return nil, w.takeChecked(c, f)
	case wire.Result:
		return nil, w.takeResult(c, f)
	}
	return nil, fmt.Errorf("%w: kind %d", wire.ErrFrame, f.Kind)
}

func (c *call) takeLog(f wire.Frame) error {
	var meta wire.LogMeta
	if err := wire.Decode(f.Meta, &meta); err != nil {
		return err
	}
	switch meta.Level {
	case "debug", "info", "warn", "error":
	default:
		return fmt.Errorf("%w: log level %q", wire.ErrFrame, clip(meta.Level, 20))
	}
	at := min(max(time.Duration(meta.AtNS), 0), time.Since(c.began))
	return c.live(func() error {
		c.log(tool.LogLine{Level: meta.Level, At: at, Text: strings.ToValidUTF8(string(f.Data), "\uFFFD")})
		return nil
	})
}

// maxProgress bounds the text of a progress message, in bytes.
const maxProgress = 1 << 10

func (c *call) takeProgress(f wire.Frame) error {
	var p tool.Progress
	if err := wire.Decode(f.Meta, &p); err != nil {
		return err
	}
	if len(f.Data) > 0 {
		return fmt.Errorf("%w: progress with data", wire.ErrFrame)
	}
	p.Message = clip(p.Message, maxProgress)
	return c.live(func() error {
		if c.job.OnProgress != nil {
			c.job.OnProgress(p)
		}
		return nil
	})
}

func (w *worker) takeChecked(c *call, f wire.Frame) error {
	var meta wire.CheckedMeta
	if err := wire.Decode(f.Meta, &meta); err != nil {
		return err
	}
	if len(f.Data) > 0 {
		return fmt.Errorf("%w: a checked frame with data", wire.ErrFrame)
	}
	w.close(c, func() { c.failure = c.believe(meta.Error) })
	return nil
}

func (w *worker) takeResult(c *call, f wire.Frame) error {
	var meta wire.ResultMeta
	if err := wire.Decode(f.Meta, &meta); err != nil {
		return err
	}
	switch {
	case meta.Error != nil && len(f.Data) > 0:
		return fmt.Errorf("%w: a result that is an error and a value", wire.ErrFrame)
	case int64(len(f.Data)) > c.limits.MaxResultBytes:
		return fmt.Errorf("%w: a result of %d bytes, %d allowed", wire.ErrFrame, len(f.Data), c.limits.MaxResultBytes)
	case meta.Error == nil && !json.Valid(f.Data):
		return fmt.Errorf("%w: a result that is not JSON", wire.ErrFrame)
	}
	w.close(c, func() {
		usage := &c.outcome.Usage
		usage.CPU = max(time.Duration(meta.CPUNS), 0)
		usage.PeakMemory = max(meta.Peak, 0)
		c.outcome.Dropped += max(meta.Dropped, 0)
		c.failure = c.believe(meta.Error)
		if meta.Error == nil {
			c.outcome.Value = append(json.RawMessage(nil), f.Data...)
		}
	})
	return nil
}

// close ends c by the worker's own word.
func (w *worker) close(c *call, fill func()) {
	w.mu.Lock()
	delete(w.pending, c.id)
	w.mu.Unlock()
	c.end(fill)
}

// maxSaid bounds each text of a failure, in bytes: it goes into records.
const maxSaid = 64 << 10

// believe takes from a failure what a worker may not decide: a code that is not
// about a run, a capability error that the room never gave, texts without end.
func (c *call) believe(f *wire.Failure) *wire.Failure {
	if f == nil {
		return nil
	}
	switch f.Code {
	case tool.CallFailed, tool.Timeout, tool.MemoryExceeded, tool.ResultNotJSON, tool.ResultTooLarge, tool.SyntaxError, tool.Cancelled:
	default:
		f.Code = tool.CallFailed
	}
	for _, text := range []*string{&f.Message, &f.Hint, &f.Name, &f.Stack} {
		*text = clip(*text, maxSaid)
	}
	if f.Capability != nil {
		f.Capability = c.requests.own(f.Capability)
	}
	return f
}

// clip cuts s to n bytes at the border of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
