package engine

import (
	"fmt"
	"unsafe"

	lib "modernc.org/libquickjs"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// failure says why the call ended with an exception pending, or was stopped.
func (r *run) failure() *wire.Failure {
	i := r.iso
	if f := r.interruption(); f != nil {
		return f
	}
	reason := lib.XJS_GetException(i.tls, i.ctx)
	defer i.free(reason)
	return r.thrown(reason)
}

// interruption is the failure that an interrupt stands for, or nil.
func (r *run) interruption() *wire.Failure {
	switch r.interrupted.Load() {
	case interruptDeadline:
		return &wire.Failure{Code: tool.Timeout, Message: fmt.Sprintf("the call did not end within its %d ms", r.job.Timeout.Milliseconds())}
	case interruptCancel:
		return &wire.Failure{Code: tool.Cancelled, Message: "the call was cancelled"}
	case interruptMemory:
		return r.memoryExceeded()
	}
	return nil
}

func (r *run) memoryExceeded() *wire.Failure {
	return &wire.Failure{Code: tool.MemoryExceeded, Message: fmt.Sprintf("the call needed more than its %d MB of memory", r.job.Memory>>20),
		Hint: "Work on a part of the data at a time, and keep no more than you return."}
}

// reserve is what describing an error may use above the cap, so that a call that
// used all of its memory can still say so.
const reserve = 2 << 20

// thrown describes what the body threw, or what it rejected with.
func (r *run) thrown(reason value) *wire.Failure {
	i := r.iso
	i.state().Fmalloc_limit += reserve
	i.arena.header().limit = min(i.arena.header().limit+reserve, i.arena.base+i.arena.size)
	text, ok := r.describe(reason)
	if f := r.interruption(); f != nil {
		return f
	}
	ranOut := i.arena.header().fails > 0
	if ranOut && (!ok || tagOf(reason) == lib.EJS_TAG_NULL || text[0] == "InternalError" && text[1] == "out of memory") {
		return r.memoryExceeded()
	}
	f := &wire.Failure{Code: tool.CallFailed, Name: text[0], Message: text[1], Stack: text[2], Hint: text[4]}
	if text[3] != "" {
		f.Capability = []byte(text[3])
	}
	return f
}

// describe asks the platform for [name, message, stack, capability, hint].
func (r *run) describe(reason value) (text [5]string, ok bool) {
	i := r.iso
	list := i.invoke(i.hooks.describe, reason)
	if isException(list) {
		i.drop()
		return text, false
	}
	defer i.free(list)
	for n := range text {
		v := lib.XJS_GetPropertyUint32(i.tls, i.ctx, list, uint32(n))
		if t := tagOf(v); t == lib.EJS_TAG_STRING || t == lib.EJS_TAG_STRING_ROPE {
			s, ok := i.text(v)
			if !ok {
				i.drop()
			}
			text[n] = cut(s, maxErrorText)
		}
		i.free(v)
	}
	return text, true
}

// maxErrorText bounds each part of what is told about a thrown value, in bytes.
const maxErrorText = 8 << 10

// tracked is told by the engine when a promise is rejected with nobody
// listening, and when somebody listens after all. It must not run code.
func (i *isolate) tracked(promise, reason value, handled bool) {
	r := i.call
	if r == nil {
		return
	}
	if !handled {
		if len(r.rejected) < 2*maxRejections {
			r.rejected = append(r.rejected, i.dup(promise), i.dup(reason))
		}
		return
	}
	for n := 0; n < len(r.rejected); n += 2 {
		if pointerOf(r.rejected[n]) == pointerOf(promise) {
			i.free(r.rejected[n])
			i.free(r.rejected[n+1])
			r.rejected = append(r.rejected[:n], r.rejected[n+2:]...)
			return
		}
	}
}

// maxRejections bounds the unhandled rejections that are remembered at a time.
const maxRejections = 256

// reportRejections logs the promises that were rejected and that nobody waits for.
func (r *run) reportRejections() {
	i := r.iso
	list := r.rejected
	r.rejected = nil
	for n := 0; n < len(list); n += 2 {
		if !isObject(r.promise) || pointerOf(list[n]) != pointerOf(r.promise) {
			text, _ := r.describe(list[n+1])
			r.log("error", "unhandled rejection: "+headline(text))
		}
		i.free(list[n])
		i.free(list[n+1])
	}
}

func headline(text [5]string) string {
	if text[0] == "" {
		return text[1]
	}
	return text[0] + ": " + text[1]
}

// sizeOfRope is the length of a string that is still in pieces, in UTF-16 units.
func sizeOfRope(v value) int64 {
	return int64((*lib.TJSStringRope)(unsafe.Pointer(pointerOf(v))).Flen1)
}
