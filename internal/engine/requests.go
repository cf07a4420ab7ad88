package engine

import (
	"unsafe"

	lib "modernc.org/libquickjs"

	"toolroom/internal/wire"
)

// Reply answers a request. Error is the JSON of a tool.Error, Value is JSON;
// either may be nil.
type Reply struct {
	ID    uint32
	Error []byte
	Value []byte
	Data  []byte
}

// settling are the two functions that settle a promise; owned.
type settling struct{ resolve, reject value }

// newPromise makes a promise, and what settles it. Both are owned; an exception when memory ran out.
func (i *isolate) newPromise() (value, settling) {
	const size = int(unsafe.Sizeof(settling{}))
	out := i.tls.Alloc(size)
	defer i.tls.Free(size)
	p := lib.XJS_NewPromiseCapability(i.tls, i.ctx, out)
	if isException(p) {
		return p, settling{}
	}
	return p, *(*settling)(unsafe.Pointer(out))
}

// settle calls one of the two functions with v, which it takes, and frees both.
func (r *run) settle(s settling, with, v value) {
	r.callHook(with, v)
	r.iso.free(s.resolve)
	r.iso.free(s.reject)
}

// hostSend(id, op, args, data, quiet): a request to the host, and a promise of {value, data}. args is JSON text,
// data a buffer or undefined. A quiet one has no answer, and nobody is told of it at the end.
func hostSend(i *isolate, args []value) value {
	r := i.call
	if r == nil || len(args) < 4 {
		return i.throw("TypeError", "nobody is there to ask")
	}
	op, ok1 := i.text(args[1])
	meta, ok2 := i.text(args[2])
	if !ok1 || !ok2 {
		return exception()
	}
	data, _ := i.bytesOf(args[3])
	r.asked++
	if why := wire.CheckRequest(r.asked, op, []byte(meta), data); why != "" {
		return i.throw("TypeError", why)
	}
	id, promise := uint32(numberOf(args[0])), undefined()
	if len(args) < 5 || !boolOf(args[4]) {
		var s settling
		if promise, s = i.newPromise(); isException(promise) {
			return promise
		}
		r.waiting[id] = s
	}
	r.job.Host.Request(id, op, []byte(meta), data)
	return promise
}

// hostTakeBack(id, reason): the answer to a request is no longer wanted; its promise is rejected.
func hostTakeBack(i *isolate, args []value) value {
	r := i.call
	if r == nil || len(args) < 2 {
		return undefined()
	}
	id := uint32(numberOf(args[0]))
	s, ok := r.waiting[id]
	if !ok {
		return undefined()
	}
	delete(r.waiting, id)
	r.job.Host.Abort(id)
	r.settle(s, s.reject, i.dup(args[1]))
	return undefined()
}

// deliver settles the promise of an answered request, unless the request was taken back.
func (r *run) deliver(p Reply) {
	s, ok := r.waiting[p.ID]
	if !ok {
		return
	}
	delete(r.waiting, p.ID)
	with, give := s.resolve, r.iso.answer
	if p.Error != nil {
		with, give = s.reject, r.iso.refusal
	}
	v := give(p)
	if isException(v) {
		r.iso.drop() // memory ran out, which the loop sees
		return
	}
	r.settle(s, with, v)
}

// refusal is the error object of a refused request. Owned.
func (i *isolate) refusal(p Reply) value {
	e := i.parse(p.Error)
	if isException(e) {
		return e
	}
	text := i.str(string(p.Error))
	defer i.free(e)
	defer i.free(text)
	return i.invoke(i.hooks.refusal, e, text)
}

// answer is {value, data} with no prototype. Owned.
func (i *isolate) answer(p Reply) value {
	o := i.bare()
	if isException(o) {
		return o
	}
	v, data := undefined(), undefined()
	if p.Value != nil {
		v = i.parse(p.Value)
	}
	if p.Data != nil {
		data = i.buffer(p.Data)
	}
	if isException(v) || isException(data) || !i.define(o, i.valueName, v) || !i.define(o, i.dataName, data) {
		i.free(o)
		return exception()
	}
	return o
}

// bare makes an object without a prototype. Owned.
func (i *isolate) bare() value {
	return lib.XJS_NewObjectProto(i.tls, i.ctx, value{Ftag: lib.EJS_TAG_NULL})
}

// define gives v to object, under a name that is a C string.
func (i *isolate) define(object value, name uintptr, v value) bool {
	return lib.XJS_DefinePropertyValueStr(i.tls, i.ctx, object, name, v, lib.MJS_PROP_C_W_E) >= 0
}
