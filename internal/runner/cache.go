package runner

import (
	"container/list"

	"toolroom/internal/wire"
)

// cache is the codes that a worker has loaded, least recently used last. The
// worker keeps what it is told to keep: it learns of every change by a frame.
type cache struct {
	max   int
	order *list.List // of string
	keys  map[string]*list.Element
}

func newCache(max int) cache {
	return cache{max: max, order: list.New(), keys: make(map[string]*list.Element)}
}

// use returns the frames that must go before a call of job. Forgetting a code
// takes nothing from calls that already run.
func (c *cache) use(job *Job) ([]wire.Frame, error) {
	if e, ok := c.keys[job.Key]; ok {
		c.order.MoveToFront(e)
		return nil, nil
	}
	var frames []wire.Frame
	if len(c.keys) >= c.max {
		oldest := c.order.Remove(c.order.Back()).(string)
		delete(c.keys, oldest)
		meta, err := wire.Encode(wire.ForgetMeta{Key: oldest})
		if err != nil {
			return nil, err
		}
		frames = append(frames, wire.Frame{Kind: wire.Forget, Meta: meta})
	}
	meta, err := wire.Encode(wire.LoadMeta{Key: job.Key, File: job.File})
	if err != nil {
		return nil, err
	}
	c.keys[job.Key] = c.order.PushFront(job.Key)
	return append(frames, wire.Frame{Kind: wire.Load, Meta: meta, Data: job.Code}), nil
}
