package engine

import (
	"slices"
	"strings"
	"sync"
)

// Scripts that are rarely needed are not in the snapshot, where they would make every call dearer. A body that
// asks for one waits while it runs, once: the next calls of the same code start in an isolate that has it already. That
// isolate is the snapshot with the bytes put in by which the scripts changed it, before any body ran.

// needs are the scripts that bodies of one code asked for. Safe for concurrent use.
type needs struct {
	mu    sync.Mutex
	names []string // sorted
}

func (n *needs) add(script string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at, found := slices.BinarySearch(n.names, script); !found {
		n.names = slices.Insert(slices.Clone(n.names), at, script)
	}
}

// list is what was needed so far; not to be changed.
func (n *needs) list() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.names
}

// maxOutfits is how many combinations of scripts an isolate keeps; calls of others run them each time.
const maxOutfits = 8

// dress gives an isolate, which is at its snapshot, the scripts that the code of its call needs.
func (i *isolate) dress(scripts []string) {
	if len(scripts) == 0 {
		return
	}
	key := strings.Join(scripts, " ")
	if s := i.outfits[key]; s != nil {
		i.putBack(s)
		return
	}
	if len(i.outfits) == maxOutfits {
		return
	}
	if !i.runAll(scripts) { // the call is being stopped: it ends as it would have
		call := i.call
		i.restore()
		i.call = call
		return
	}
	if i.outfits == nil {
		i.outfits = map[string]*saved{}
	}
	i.outfits[key] = i.save() // with nothing of the natives open: scripts only make functions
}

// runAll runs scripts as a body would have them run; false when one did not come to its end.
func (i *isolate) runAll(scripts []string) bool {
	for _, name := range scripts {
		v := i.callNeed(name)
		if isException(v) {
			i.drop()
			return false
		}
		i.free(v)
	}
	return true
}

func (i *isolate) callNeed(name string) value {
	n := i.str(name)
	defer i.free(n)
	return i.invoke(i.hooks.need, n)
}
