package engine

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"

	"toolroom/internal/engine/platform"
)

// isolate is one instance of the JavaScript engine in an arena of its own. It
// runs one call at a time and is put back to its snapshot after each, so that
// no call ever sees an isolate that another one used. Not safe for concurrent
// use, except for hurry.
type isolate struct {
	arena    arena
	snapshot []byte
	tls      *libc.TLS
	rt, ctx  uintptr

	// Memory of libc that outlives every restore.
	funcs                            uintptr // the allocator's functions
	argsName, toJSONName, lengthName uintptr // names, as C strings
	valueName, dataName              uintptr // likewise
	scratch                          uintptr
	lenOut                           uintptr
	viewOut                          uintptr

	hooks     hooks
	natives   *platform.Natives
	library   *library
	keep      []any             // Go funcs whose pointers the engine holds
	kept      int               // of them, those that the snapshot holds
	outfits   map[string]*saved // by the scripts that are in them; see dress
	call      *run              // the call that is in it; nil between calls
	returning []*run            // calls that were set aside and want it back; guarded by Engine.mu
}

// Why a call was interrupted.
const (
	interruptNone uint32 = iota
	interruptDeadline
	interruptCancel
	interruptMemory
)

// slack is arena beyond the cap: what fragmentation may cost before a body that
// is under its cap is told that memory is out.
const slack = 16 << 20

// newIsolate builds an isolate whose calls may use up to memory bytes, runs the
// platform's scripts in it and takes the snapshot.
func newIsolate(memory int64, lib *library) (*isolate, error) {
	a, err := mapArena(uintptr(memory) + slack)
	if err != nil {
		return nil, err
	}
	i := &isolate{arena: a, tls: libc.NewTLS(), natives: platform.NewNatives(), library: lib}
	if err := i.build(); err != nil {
		return nil, errors.Join(err, i.close())
	}
	return i, nil
}

func (i *isolate) build() error {
	i.allocate()
	i.rt = lib.XJS_NewRuntime2(i.tls, i.funcs, i.arena.base)
	if i.rt == 0 {
		return errors.New("the engine could not start")
	}
	lib.XJS_SetMaxStackSize(i.tls, i.rt, lib.MaxStackSlots)
	lib.XJS_SetGCThreshold(i.tls, i.rt, gcThreshold)
	i.ctx = lib.XJS_NewContext(i.tls, i.rt)
	if i.ctx == 0 {
		return errors.New("the engine could not make a context")
	}
	i.install()
	for _, s := range i.library.eager {
		if err := i.runScript(s); err != nil {
			return err
		}
	}
	return i.freeze()
}

// gcThreshold suits isolates that live for milliseconds: most calls end before
// the first collection.
const gcThreshold = 8 << 20

func (i *isolate) allocate() {
	i.funcs = libc.Xcalloc(i.tls, 1, libc.Tsize_t(unsafe.Sizeof(lib.TJSMallocFunctions{})))
	fns := []any{arenaMalloc, arenaFree, arenaRealloc, arenaUsable}
	i.keep = append(i.keep, fns...)
	*(*lib.TJSMallocFunctions)(unsafe.Pointer(i.funcs)) = lib.TJSMallocFunctions{
		Fjs_malloc: funcPointer(fns[0]), Fjs_free: funcPointer(fns[1]),
		Fjs_realloc: funcPointer(fns[2]), Fjs_malloc_usable_size: funcPointer(fns[3]),
	}
	i.argsName, _ = libc.CString("arguments")
	i.toJSONName, _ = libc.CString("toJSON")
	i.lengthName, _ = libc.CString("length")
	i.valueName, _ = libc.CString("value")
	i.dataName, _ = libc.CString("data")
	i.scratch = libc.Xcalloc(i.tls, 1, scratchSize)
	i.lenOut = libc.Xcalloc(i.tls, 1, 8)
	i.viewOut = libc.Xcalloc(i.tls, 3, 8)
}

// freeze checks that the scripts left nothing running and takes the snapshot.
func (i *isolate) freeze() error {
	if err := i.hooks.complete(); err != nil {
		return err
	}
	i.drain()
	lib.XJS_SetStripInfo(i.tls, i.rt, 0)
	lib.XJS_RunGC(i.tls, i.rt)
	lib.XJS_SetGCThreshold(i.tls, i.rt, lib.Tsize_t(i.used()+gcThreshold))
	i.snapshot, i.kept = i.arena.snapshot(), len(i.keep)
	return nil
}

// drain runs pending jobs to their end: only the platform's own, before the snapshot.
func (i *isolate) drain() {
	for lib.XJS_ExecutePendingJob(i.tls, i.rt, i.lenOut) > 0 {
	}
}

// used is the memory in use, in bytes.
func (i *isolate) used() uint64 { return i.state().Fmalloc_size }

func (i *isolate) state() *lib.TJSMallocState {
	return &(*lib.TJSRuntime)(unsafe.Pointer(i.rt)).Fmalloc_ctx.Fmalloc_state
}

// begin prepares the snapshot for one call: its cap, and randomness of its own,
// since the state of Math.random is inside the snapshot.
func (i *isolate) begin(memory int64) {
	limit := uint64(memory)
	i.state().Fmalloc_limit = limit
	h := i.arena.header()
	h.limit = i.arena.base + min(i.arena.size, uintptr(limit)+slack)
	h.peak = i.used()
	h.hurry = uintptr(unsafe.Pointer(&(*lib.TJSContext)(unsafe.Pointer(i.ctx)).Finterrupt_counter))
	var seed [8]byte
	rand.Read(seed[:]) // never fails, as crypto/rand says
	(*lib.TJSContext)(unsafe.Pointer(i.ctx)).Frandom_state = binary.LittleEndian.Uint64(seed[:]) | 1
}

// restore puts the isolate back. It must have stopped: no engine frame of it is
// on any stack.
func (i *isolate) restore() {
	i.call = nil
	i.natives.Reset()
	clear(i.keep[i.kept:])
	i.keep = i.keep[:i.kept]
	i.arena.restore(i.snapshot)
}

// peak is the most memory the call had in use.
func (i *isolate) peak() int64 { return int64(i.arena.header().peak) }

// hurry makes the engine poll at its next chance instead of after ten thousand:
// each may be a native that takes milliseconds. Safe from any goroutine while
// the isolate is open.
func (i *isolate) hurry() {
	atomic.StoreInt32(&(*lib.TJSContext)(unsafe.Pointer(i.ctx)).Finterrupt_counter, 1)
}

// close gives all memory back. No call may be running.
func (i *isolate) close() error {
	err := i.arena.unmap()
	for _, p := range []uintptr{i.funcs, i.argsName, i.toJSONName, i.lengthName, i.valueName, i.dataName, i.scratch, i.lenOut, i.viewOut} {
		libc.Xfree(i.tls, p)
	}
	i.tls.Close()
	return err
}

// compile turns a script into bytecode without running any of it.
func (i *isolate) compile(file, source string) ([]byte, bool) {
	name, err := libc.CString(file)
	if err != nil {
		return nil, false
	}
	defer libc.Xfree(i.tls, name)
	const flags = lib.MJS_EVAL_TYPE_GLOBAL | lib.MJS_EVAL_FLAG_COMPILE_ONLY
	v := i.withBytes(source, func(p uintptr) value {
		return lib.XJS_Eval(i.tls, i.ctx, p, lib.Tsize_t(len(source)), name, flags)
	})
	if isException(v) {
		return nil, false
	}
	defer i.free(v)
	p := lib.XJS_WriteObject(i.tls, i.ctx, i.lenOut, v, lib.MJS_WRITE_OBJ_BYTECODE)
	if p == 0 {
		return nil, false
	}
	defer lib.Xjs_free(i.tls, i.ctx, p)
	n := *(*lib.Tsize_t)(unsafe.Pointer(i.lenOut))
	return append([]byte(nil), memory(p, uint64(n))...), true
}

// load runs bytecode that compile made and returns what it evaluates to. Owned.
func (i *isolate) load(code []byte) value {
	p := lib.Xjs_malloc(i.tls, i.ctx, lib.Tsize_t(len(code)))
	if p == 0 {
		return exception()
	}
	copy(memory(p, uint64(len(code))), code)
	fn := lib.XJS_ReadObject(i.tls, i.ctx, p, lib.Tsize_t(len(code)), lib.MJS_READ_OBJ_BYTECODE)
	lib.Xjs_free(i.tls, i.ctx, p)
	if isException(fn) {
		return fn
	}
	return lib.XJS_EvalFunction(i.tls, i.ctx, fn)
}

func (i *isolate) runScript(s compiledScript) error {
	fn := i.load(s.code)
	if isException(fn) {
		return fmt.Errorf("loading %s: %s", s.name, i.lastError())
	}
	v := i.invoke(fn, i.hooks.host, i.hooks.internals)
	i.free(fn)
	if isException(v) {
		return fmt.Errorf("running %s: %s", s.name, i.lastError())
	}
	i.free(v)
	return nil
}

// lastError is the pending exception as text, for errors of the platform itself.
func (i *isolate) lastError() string {
	v := lib.XJS_GetException(i.tls, i.ctx)
	defer i.free(v)
	s, ok := i.text(v)
	if !ok {
		i.drop()
		return "an error that has no text"
	}
	return s
}
