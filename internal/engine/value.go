package engine

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// value is a JavaScript value of one isolate. Values that are owned are freed
// once with isolate.free; borrowed ones are not.
type value = lib.TJSValue

const valueSize = unsafe.Sizeof(value{})

func undefined() value         { return value{Ftag: lib.EJS_TAG_UNDEFINED} }
func exception() value         { return value{Ftag: lib.EJS_TAG_EXCEPTION} }
func tagOf(v value) int        { return int(int32(v.Ftag)) }
func isException(v value) bool { return tagOf(v) == lib.EJS_TAG_EXCEPTION }
func isObject(v value) bool    { return tagOf(v) == lib.EJS_TAG_OBJECT }
func pointerOf(v value) uintptr {
	return uintptr(v.Fu.Fuint641)
}

func intValue(n int32) value {
	return value{Fu: lib.TJSValueUnion{Fuint641: uint64(uint32(n))}, Ftag: lib.EJS_TAG_INT}
}

func boolValue(b bool) value {
	v := value{Ftag: lib.EJS_TAG_BOOL}
	if b {
		v.Fu.Fuint641 = 1
	}
	return v
}

func floatValue(f float64) value {
	v := value{Ftag: lib.EJS_TAG_FLOAT64}
	v.Fu.Fuint641 = *(*uint64)(unsafe.Pointer(&f))
	return v
}

func intOf(v value) int32     { return int32(v.Fu.Fuint641) }
func boolOf(v value) bool     { return int32(v.Fu.Fuint641) != 0 }
func floatOf(v value) float64 { return *(*float64)(unsafe.Pointer(&v.Fu.Fuint641)) }

// funcPointer is the C function pointer of a Go func, as the transpiled engine
// wants it. The engine's memory does not keep the func alive: whoever asks must.
func funcPointer(f any) uintptr {
	type iface [2]uintptr
	return (*iface)(unsafe.Pointer(&f))[1]
}

func (i *isolate) free(v value)      { lib.XFreeValue(i.tls, i.ctx, v) }
func (i *isolate) dup(v value) value { return lib.XDupValue(i.tls, i.ctx, v) }

// str makes a string value of UTF-8. Owned.
func (i *isolate) str(s string) value {
	return i.withBytes(s, func(p uintptr) value {
		return lib.XJS_NewStringLen(i.tls, i.ctx, p, lib.Tsize_t(len(s)))
	})
}

// buffer makes an ArrayBuffer with a copy of b. Owned.
func (i *isolate) buffer(b []byte) value {
	return i.withBytes(unsafe.String(unsafe.SliceData(b), len(b)), func(p uintptr) value {
		return lib.XJS_NewArrayBufferCopy(i.tls, i.ctx, p, lib.Tsize_t(len(b)))
	})
}

// parse makes a value of JSON. Owned; an exception when memory runs out.
func (i *isolate) parse(json []byte) value {
	return i.withBytes(unsafe.String(unsafe.SliceData(json), len(json)), func(p uintptr) value {
		if v, ok := i.readJSON(memory(p, uint64(len(json)))); ok {
			return v
		}
		return lib.XJS_ParseJSON(i.tls, i.ctx, p, lib.Tsize_t(len(json)), i.argsName)
	})
}

// withBytes hands f a NUL-terminated copy of s in libc's memory: the engine is
// never given Go memory. Short ones share a buffer that lives with the isolate.
func (i *isolate) withBytes(s string, f func(uintptr) value) value {
	p := i.scratch
	if len(s) >= scratchSize {
		if p = libc.Xmalloc(i.tls, libc.Tsize_t(len(s)+1)); p == 0 {
			return exception()
		}
		defer libc.Xfree(i.tls, p)
	}
	mem := unsafe.Slice((*byte)(unsafe.Pointer(p)), len(s)+1)
	copy(mem, s)
	mem[len(s)] = 0
	return f(p)
}

const scratchSize = 4 << 10

// text is v as UTF-8, with lone surrogates as three bytes each. It may run code
// of the body when v is not a string. ok is false when that threw.
func (i *isolate) text(v value) (string, bool) {
	p := lib.XJS_ToCStringLen2(i.tls, i.ctx, i.lenOut, v, 0)
	if p == 0 {
		return "", false
	}
	n := *(*lib.Tsize_t)(unsafe.Pointer(i.lenOut))
	s := string(unsafe.Slice((*byte)(unsafe.Pointer(p)), n))
	lib.XJS_FreeCString(i.tls, i.ctx, p)
	return s, true
}

// bytesOf is the memory of an ArrayBuffer or a view on one, valid until the
// isolate runs again. ok is false for anything else.
func (i *isolate) bytesOf(v value) (b []byte, ok bool) {
	if !isObject(v) {
		return nil, false
	}
	switch class := lib.XJS_GetClassID(i.tls, v); {
	case class == lib.EJS_CLASS_ARRAY_BUFFER:
		p := lib.XJS_GetArrayBuffer(i.tls, i.ctx, i.lenOut, v)
		n := *(*lib.Tsize_t)(unsafe.Pointer(i.lenOut))
		return memory(p, uint64(n)), true
	case class >= lib.EJS_CLASS_UINT8C_ARRAY && class <= lib.EJS_CLASS_FLOAT64_ARRAY:
		return i.viewBytes(v)
	}
	return nil, false
}

func (i *isolate) viewBytes(v value) ([]byte, bool) {
	out := (*[3]lib.Tsize_t)(unsafe.Pointer(i.viewOut))
	buf := lib.XJS_GetTypedArrayBuffer(i.tls, i.ctx, v, i.viewOut, i.viewOut+8, i.viewOut+16)
	if isException(buf) {
		i.drop()
		return nil, false
	}
	p := lib.XJS_GetArrayBuffer(i.tls, i.ctx, i.lenOut, buf)
	i.free(buf) // v keeps it
	if p == 0 {
		return nil, true
	}
	return memory(p+uintptr(out[0]), uint64(out[1])), true
}

func memory(p uintptr, n uint64) []byte {
	if p == 0 || n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), n)
}

// drop forgets the pending exception.
func (i *isolate) drop() { i.free(lib.XJS_GetException(i.tls, i.ctx)) }

// invoke calls fn with borrowed arguments. The result is owned.
func (i *isolate) invoke(fn value, args ...value) value {
	size := max(1, len(args)) * int(valueSize)
	argv := i.tls.Alloc(size) // calls nest, so each has arguments of its own
	defer i.tls.Free(size)
	copy(unsafe.Slice((*value)(unsafe.Pointer(argv)), max(1, len(args))), args)
	return lib.XJS_Call(i.tls, i.ctx, fn, undefined(), int32(len(args)), argv)
}

// arguments is what a host function was called with; borrowed.
func arguments(argc int32, argv uintptr) []value {
	if argc <= 0 {
		return nil
	}
	return unsafe.Slice((*value)(unsafe.Pointer(argv)), argc)
}
