package engine

import (
	"errors"
	"fmt"
	"math"
	"time"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"

	"toolroom/internal/engine/platform"
	"toolroom/tool"
)

// hooks are the functions that the platform's scripts gave the engine with
// host.hooks, and the two objects that the scripts work on.
//
//	begin(args, env)              → ctx; puts the call's globals in place
//	refusal(error, text)          → the error object of a tool.Error; text is its JSON
//	fire(id)                      a timer is due
//	abort(reason)                 the caller cancelled, or the deadline is near
//	describe(thrown)              → [name, message, stack, capability, hint]: strings or undefined
//	makeError(name, message)      → an error object of that name
//	explain(object)               → what to return instead of this platform object, or undefined
//	need(script)                  runs a script that isolates start without, unless it was run
//	unbox(object)                 → the boolean in a Boolean object
type hooks struct {
	host, internals value

	begin, refusal, fire, abort, describe, makeError, explain, need, unbox value
	set                                                                    map[string]bool
}

func (h *hooks) slots() map[string]*value {
	return map[string]*value{
		"begin": &h.begin, "refusal": &h.refusal, "fire": &h.fire, "abort": &h.abort,
		"describe": &h.describe, "makeError": &h.makeError, "explain": &h.explain, "need": &h.need, "unbox": &h.unbox,
	}
}

func (h *hooks) complete() error {
	for name := range h.slots() {
		if !h.set[name] {
			return fmt.Errorf("the platform's scripts gave no hook %q", name)
		}
	}
	return nil
}

// hostFunc is a function that scripts call on host.
type hostFunc func(i *isolate, args []value) value

func hostFuncs() map[string]hostFunc {
	return map[string]hostFunc{
		"hooks": hostHooks, "native": hostNative, "send": hostSend, "takeBack": hostTakeBack, "log": hostLog,
		"progress": hostProgress, "now": hostNow, "timer": hostTimer, "clearTimer": hostClearTimer, "define": hostDefine, "left": hostLeft, "classOf": hostClassOf, "parseJSON": hostParseJSON, "load": hostLoad,
	}
}

// install makes host and internals, before any script runs.
func (i *isolate) install() {
	i.hooks.set = map[string]bool{}
	// Without a prototype: what is not in them yet would be asked of Object.prototype, where a body's accessor would be given them.
	i.hooks.host, i.hooks.internals = i.bare(), i.bare()
	for name, f := range hostFuncs() {
		i.setProperty(i.hooks.host, name, i.function(name, f))
	}
	interrupt := func(*libc.TLS, uintptr, uintptr) int32 { return i.poll() }
	i.keep = append(i.keep, interrupt)
	lib.XJS_SetInterruptHandler(i.tls, i.rt, funcPointer(interrupt), 0)
	tracker := func(_ *libc.TLS, _ uintptr, promise, reason value, handled int32, _ uintptr) {
		i.tracked(promise, reason, handled != 0)
	}
	i.keep = append(i.keep, tracker)
	lib.XJS_SetHostPromiseRejectionTracker(i.tls, i.rt, funcPointer(tracker), 0)
}

// poll answers the engine's question whether to stop. A body that keeps running
// into its cap is stopped too, so that catching and trying again ends.
func (i *isolate) poll() int32 {
	r := i.call
	if r == nil {
		return 0
	}
	if i.arena.header().fails > maxAllocationFailures {
		r.interrupted.CompareAndSwap(interruptNone, interruptMemory)
	}
	if r.interrupted.Load() != interruptNone {
		return 1
	}
	return 0
}

const maxAllocationFailures = 64

// function makes a JavaScript function of f. Owned.
func (i *isolate) function(name string, f hostFunc) value {
	fn := func(_ *libc.TLS, _ uintptr, _ value, argc int32, argv uintptr) value {
		return f(i, arguments(argc, argv))
	}
	i.keep = append(i.keep, fn)
	cname, _ := libc.CString(name)
	defer libc.Xfree(i.tls, cname)
	return lib.XJS_NewCFunction2(i.tls, i.ctx, funcPointer(fn), cname, 0, lib.EJS_CFUNC_generic, 0)
}

// setProperty gives v to object.
func (i *isolate) setProperty(object value, name string, v value) {
	cname, _ := libc.CString(name)
	defer libc.Xfree(i.tls, cname)
	lib.XJS_DefinePropertyValueStr(i.tls, i.ctx, object, cname, v, lib.MJS_PROP_C_W_E)
}

// property reads object[name]. Owned.
func (i *isolate) property(object value, name string) value {
	cname, _ := libc.CString(name)
	defer libc.Xfree(i.tls, cname)
	return lib.XJS_GetPropertyStr(i.tls, i.ctx, object, cname)
}

func hostHooks(i *isolate, args []value) value {
	if len(args) != 1 {
		return i.throw("TypeError", "hooks takes one object")
	}
	for name, slot := range i.hooks.slots() {
		v := i.property(args[0], name)
		if tagOf(v) != lib.EJS_TAG_UNDEFINED {
			*slot, i.hooks.set[name] = v, true // kept for ever, and part of the snapshot
		}
	}
	return undefined()
}

// hostNative(name) → the native as a function.
func hostNative(i *isolate, args []value) value {
	name, _ := i.text(args[0])
	native, ok := i.natives.Lookup(name)
	if !ok {
		return i.throw("TypeError", "there is no native "+name)
	}
	return i.function(name, func(i *isolate, args []value) value {
		in := make(platform.Args, len(args))
		for n, v := range args {
			var ok bool
			if in[n], ok = i.toGo(v); !ok {
				return exception()
			}
		}
		out, err := native(in)
		if err != nil {
			return i.throwError(err)
		}
		return i.fromGo(out)
	})
}

func (i *isolate) throwError(err error) value {
	if e, ok := errors.AsType[*platform.Error](err); ok {
		return i.throw(e.Name, e.Message)
	}
	return i.throw("TypeError", err.Error())
}

// throw throws an error object that the platform makes.
func (i *isolate) throw(name, message string) value {
	n, m := i.str(name), i.str(message)
	defer i.free(n)
	defer i.free(m)
	e := i.invoke(i.hooks.makeError, n, m)
	if isException(e) {
		return e
	}
	return lib.XJS_Throw(i.tls, i.ctx, e)
}

// toGo is v as platform.Func takes it. ok is false when an exception is pending.
func (i *isolate) toGo(v value) (any, bool) {
	switch tagOf(v) {
	case lib.EJS_TAG_UNDEFINED, lib.EJS_TAG_NULL:
		return nil, true
	case lib.EJS_TAG_BOOL:
		return boolOf(v), true
	case lib.EJS_TAG_INT:
		return float64(intOf(v)), true
	case lib.EJS_TAG_FLOAT64:
		return floatOf(v), true
	case lib.EJS_TAG_STRING, lib.EJS_TAG_STRING_ROPE:
		s, ok := i.text(v)
		return s, ok
	}
	if b, ok := i.bytesOf(v); ok {
		return b, true
	}
	i.throw("TypeError", "a native takes undefined, booleans, numbers, strings and buffers")
	return nil, false
}

// fromGo is what a native returned as a value. Owned.
func (i *isolate) fromGo(v any) value {
	switch v := v.(type) {
	case nil:
		return undefined()
	case bool:
		return boolValue(v)
	case int:
		return number(float64(v))
	case float64:
		return number(v)
	case string:
		return i.str(v)
	case []byte:
		return i.buffer(v)
	case platform.JSON:
		return i.parse(v)
	case []any:
		return i.array(v)
	}
	return i.throw("TypeError", fmt.Sprintf("a native returned a %T", v))
}

func (i *isolate) array(items []any) value {
	a := lib.XJS_NewArray(i.tls, i.ctx)
	for n, item := range items {
		v := i.fromGo(item)
		if isException(v) || isException(a) {
			i.free(a)
			return exception()
		}
		lib.XJS_DefinePropertyValueUint32(i.tls, i.ctx, a, uint32(n), v, lib.MJS_PROP_C_W_E)
	}
	return a
}

func number(f float64) value {
	if f == math.Trunc(f) && math.Abs(f) <= math.MaxInt32 && !(f == 0 && math.Signbit(f)) {
		return intValue(int32(f))
	}
	return floatValue(f)
}

// numberOf is v as a number, 0 for anything else.
func numberOf(v value) float64 {
	switch tagOf(v) {
	case lib.EJS_TAG_INT:
		return float64(intOf(v))
	case lib.EJS_TAG_FLOAT64:
		return floatOf(v)
	}
	return 0
}

// hostLog(level, text).
func hostLog(i *isolate, args []value) value {
	level, ok1 := i.text(args[0])
	text, ok2 := i.text(args[1])
	if !ok1 || !ok2 {
		return exception()
	}
	if i.call != nil {
		i.call.log(level, text)
	}
	return undefined()
}

// hostProgress(done, total, message).
func hostProgress(i *isolate, args []value) value {
	message, ok := i.text(args[2])
	if !ok {
		return exception()
	}
	if i.call != nil {
		i.call.job.Host.Progress(tool.Progress{Done: numberOf(args[0]), Total: numberOf(args[1]), Message: message})
	}
	return undefined()
}

// hostNow() → milliseconds since the call began, as performance.now gives them.
func hostNow(i *isolate, _ []value) value {
	if i.call == nil {
		return number(0)
	}
	return floatValue(float64(time.Since(i.call.start)) / float64(time.Millisecond))
}

// hostLeft() → milliseconds until the deadline.
func hostLeft(i *isolate, _ []value) value {
	if i.call == nil {
		return number(0)
	}
	return floatValue(float64(time.Until(i.call.deadline)) / float64(time.Millisecond))
}

// hostClassOf(value) → what kind of built-in an object is, whatever its
// prototype and its properties say; undefined for anything that is no object.
func hostClassOf(i *isolate, args []value) value {
	if len(args) == 0 || !isObject(args[0]) {
		return undefined()
	}
	if lib.XJS_IsFunction(i.tls, i.ctx, args[0]) != 0 {
		return i.str("function")
	}
	return i.str(className(lib.XJS_GetClassID(i.tls, args[0])))
}

// className is a class as scripts know it; "other" has no meaning outside its isolate.
func className(class uint32) string {
	switch {
	case class == lib.EJS_CLASS_OBJECT:
		return "object"
	case class == lib.EJS_CLASS_ARRAY:
		return "array"
	case class == lib.EJS_CLASS_ARGUMENTS || class == lib.EJS_CLASS_MAPPED_ARGUMENTS:
		return "object"
	case class == lib.EJS_CLASS_ERROR:
		return "error"
	case class == lib.EJS_CLASS_NUMBER || class == lib.EJS_CLASS_STRING || class == lib.EJS_CLASS_BOOLEAN || class == lib.EJS_CLASS_BIG_INT:
		return "boxed"
	case class == lib.EJS_CLASS_DATE:
		return "date"
	case class == lib.EJS_CLASS_REGEXP:
		return "regexp"
	case class == lib.EJS_CLASS_MAP:
		return "map"
	case class == lib.EJS_CLASS_SET:
		return "set"
	case class == lib.EJS_CLASS_ARRAY_BUFFER:
		return "buffer"
	case class >= lib.EJS_CLASS_UINT8C_ARRAY && class <= lib.EJS_CLASS_FLOAT64_ARRAY:
		return "view"
	case class == lib.EJS_CLASS_DATAVIEW:
		return "dataview"
	}
	return "other"
}

// hostDefine(list, index, v): list[index] = v, whatever setters its prototypes have.
func hostDefine(i *isolate, args []value) value {
	if len(args) == 3 && lib.XJS_DefinePropertyValueUint32(i.tls, i.ctx, args[0], uint32(numberOf(args[1])), i.dup(args[2]), lib.MJS_PROP_C_W_E|lib.MJS_PROP_THROW) < 0 {
		return exception()
	}
	return undefined()
}

// hostTimer(id, ms, quiet): fire(id) after ms. Nobody is told of a quiet one that was still set at the end.
func hostTimer(i *isolate, args []value) value {
	if r := i.call; r != nil && len(args) > 1 {
		r.timers.add(uint32(numberOf(args[0])), r.now(), numberOf(args[1]), len(args) > 2 && boolOf(args[2]))
	}
	return undefined()
}

// hostClearTimer(id).
func hostClearTimer(i *isolate, args []value) value {
	if r := i.call; r != nil && len(args) > 0 {
		r.timers.remove(uint32(numberOf(args[0])))
	}
	return undefined()
}
