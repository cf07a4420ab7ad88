package engine

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	lib "modernc.org/libquickjs"

	"toolroom/internal/wire"
	"toolroom/tool"
)

// encoder writes a value as JSON, as JSON.stringify would, but says where a
// value has no JSON form, and stops as soon as the text is too large. It uses
// nothing that a body can replace, other than the value's own toJSON and getters.
type encoder struct {
	r    *run
	i    *isolate
	out  []byte
	path []byte
	open []uintptr // objects that are being written: finding one again is a cycle
	fail *wire.Failure
}

const (
	maxDepth  = 1000
	maxInPath = 200
)

// encode is the result of the call as JSON.
func (r *run) encode(v value) ([]byte, *wire.Failure) {
	e := &encoder{r: r, i: r.iso, path: []byte("result")}
	if tagOf(v) == lib.EJS_TAG_UNDEFINED {
		e.refuse("is undefined: the body returned nothing", "Write `return` before the value; return null when there is nothing to tell.")
		return nil, e.fail
	}
	if !e.value(v) {
		return nil, e.fail
	}
	return e.out, nil
}

// value writes v; false when it failed.
func (e *encoder) value(v value) bool {
	switch tagOf(v) {
	case lib.EJS_TAG_NULL:
		return e.raw("null")
	case lib.EJS_TAG_BOOL:
		return e.raw(strconv.FormatBool(boolOf(v)))
	case lib.EJS_TAG_INT:
		e.out = strconv.AppendInt(e.out, int64(intOf(v)), 10)
		return e.fits()
	case lib.EJS_TAG_FLOAT64:
		return e.number(floatOf(v))
	case lib.EJS_TAG_STRING, lib.EJS_TAG_STRING_ROPE:
		return e.text(v)
	case lib.EJS_TAG_OBJECT:
		return e.object(v)
	case lib.EJS_TAG_BIG_INT, lib.EJS_TAG_SHORT_BIG_INT:
		return e.refuse("is a BigInt, which JSON cannot hold", "Return it as a string: String(value).")
	case lib.EJS_TAG_SYMBOL:
		return e.refuse("is a symbol, which JSON cannot hold", "Return a string instead.")
	}
	return e.refuse("is undefined, which JSON cannot hold", "Return null instead, or leave it out.")
}

func (e *encoder) raw(s string) bool {
	e.out = append(e.out, s...)
	return e.fits()
}

func (e *encoder) fits() bool {
	if int64(len(e.out)) <= e.r.job.MaxResult {
		return true
	}
	return e.tooLarge(int64(len(e.out)))
}

func (e *encoder) tooLarge(size int64) bool {
	e.fail = &wire.Failure{Code: tool.ResultTooLarge,
		Message: fmt.Sprintf("the result is larger than its limit of %d bytes (%d bytes were reached at %s)", e.r.job.MaxResult, size, e.where()),
		Hint:    "Return less: a page, a summary, or the first part with a count of the rest."}
	return false
}

func (e *encoder) refuse(why, hint string) bool {
	e.fail = &wire.Failure{Code: tool.ResultNotJSON, Message: e.where() + " " + why, Hint: hint}
	return false
}

func (e *encoder) where() string {
	if len(e.path) > maxInPath {
		return cut(string(e.path), maxInPath) + "…"
	}
	return string(e.path)
}

// threw ends the encoding with the pending exception.
func (e *encoder) threw() bool {
	e.fail = e.r.failure()
	return false
}

func (e *encoder) number(f float64) bool {
	switch {
	case math.IsNaN(f):
		return e.refuse("is NaN, which JSON cannot hold", "Check the arithmetic before it; return null when there is no number.")
	case math.IsInf(f, 0):
		return e.refuse("is "+strconv.FormatFloat(f, 'g', -1, 64)+", which JSON cannot hold", "Return null or a string instead.")
	case f == 0:
		return e.raw("0")
	}
	e.out = appendNumber(e.out, f)
	return e.fits()
}

// appendNumber writes f as ECMAScript does: decimal from 1e-6 up to 1e21, else with an exponent.
func appendNumber(b []byte, f float64) []byte {
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); n >= 4 && b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') { // e-07 → e-7
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

func (e *encoder) text(v value) bool {
	if tagOf(v) == lib.EJS_TAG_STRING_ROPE && sizeOfRope(v) > e.r.job.MaxResult {
		return e.tooLarge(sizeOfRope(v))
	}
	p := lib.XJS_ToCStringLen2(e.i.tls, e.i.ctx, e.i.lenOut, v, 0)
	if p == 0 {
		return e.threw()
	}
	defer lib.XJS_FreeCString(e.i.tls, e.i.ctx, p)
	s := memory(p, uint64(*(*lib.Tsize_t)(unsafe.Pointer(e.i.lenOut))))
	if int64(len(e.out)+len(s)) > e.r.job.MaxResult {
		return e.tooLarge(int64(len(e.out) + len(s)))
	}
	e.quote(s)
	return e.fits()
}

// quote appends s as a JSON string. Lone surrogates, which the engine gives as
// three bytes, become escapes, as in well-formed JSON.stringify.
func (e *encoder) quote(s []byte) {
	const hex = "0123456789abcdef"
	e.out = append(e.out, '"')
	for n := 0; n < len(s); {
		c := s[n]
		switch {
		case c == '"' || c == '\\':
			e.out = append(e.out, '\\', c)
		case c >= 0x20 && c < utf8.RuneSelf:
			e.out = append(e.out, c)
		case c < 0x20:
			e.out = append(e.out, escape(c)...)
		case c == 0xED && n+2 < len(s) && s[n+1] >= 0xA0:
			u := 0xD000 | int(s[n+1]&0x3F)<<6 | int(s[n+2]&0x3F)
			e.out = append(e.out, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
			n += 2
		default:
			e.out = append(e.out, c)
		}
		n++
	}
	e.out = append(e.out, '"')
}

func escape(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	}
	return fmt.Sprintf(`\u%04x`, c)
}

// object writes anything with properties.
func (e *encoder) object(v value) bool {
	if len(e.open) >= maxDepth {
		return e.refuse(fmt.Sprintf("is nested more than %d levels deep", maxDepth), "Return a flatter value.")
	}
	for _, p := range e.open {
		if p == pointerOf(v) {
			return e.refuse("is circular: it contains itself", "Return the fields you need instead of the whole object.")
		}
	}
	e.open = append(e.open, pointerOf(v))
	defer func() { e.open = e.open[:len(e.open)-1] }()
	if replaced, done := e.toJSON(v); done {
		return replaced
	}
	return e.byClass(v)
}

// toJSON calls the value's own toJSON, if it has one.
func (e *encoder) toJSON(v value) (ok, done bool) {
	i := e.i
	f := lib.XJS_GetPropertyStr(i.tls, i.ctx, v, i.toJSONName)
	if isException(f) {
		return e.threw(), true
	}
	defer i.free(f)
	if !isObject(f) || lib.XJS_IsFunction(i.tls, i.ctx, f) == 0 {
		return false, false
	}
	w := lib.XJS_Call(i.tls, i.ctx, f, v, 0, 0)
	if isException(w) {
		return e.threw(), true
	}
	defer i.free(w)
	if lib.XJS_GetClassID(i.tls, v) == lib.EJS_CLASS_DATE && tagOf(w) == lib.EJS_TAG_NULL {
		return e.refuse("is an invalid Date", "Check the text that the Date was made of."), true
	}
	if isObject(w) && pointerOf(w) != pointerOf(v) {
		return e.object(w), true
	}
	if isObject(w) {
		return e.byClass(w), true
	}
	return e.value(w), true
}

func (e *encoder) byClass(v value) bool {
	i := e.i
	class := lib.XJS_GetClassID(i.tls, v)
	if why, hint := refusal(class); why != "" {
		return e.refuse(why, hint)
	}
	switch {
	case class == lib.EJS_CLASS_NUMBER || class == lib.EJS_CLASS_STRING || class == lib.EJS_CLASS_BOOLEAN:
		return e.boxed(v, class)
	case lib.XJS_IsFunction(i.tls, i.ctx, v) != 0:
		return e.refuse("is a function, which JSON cannot hold", "Call it, or leave it out.")
	}
	switch lib.XJS_IsArray(i.tls, i.ctx, v) {
	case 0:
		return e.members(v)
	case 1:
		return e.items(v)
	}
	return e.threw()
}

// refusal says why objects of a class have no JSON form, and what to return instead.
func refusal(class uint32) (why, hint string) {
	switch {
	case class == lib.EJS_CLASS_PROMISE:
		return "is a Promise that was not awaited", "Write `await` before it; for a list, await Promise.all(list)."
	case class == lib.EJS_CLASS_MAP:
		return "is a Map, which JSON would write as {}", "Return Object.fromEntries(map) or [...map]."
	case class == lib.EJS_CLASS_SET:
		return "is a Set, which JSON would write as {}", "Return [...set]."
	case class == lib.EJS_CLASS_WEAKMAP || class == lib.EJS_CLASS_WEAKSET || class == lib.EJS_CLASS_WEAK_REF:
		return "is a weak collection, which JSON cannot hold", "Return its contents instead."
	case class == lib.EJS_CLASS_ARRAY_BUFFER || class == lib.EJS_CLASS_SHARED_ARRAY_BUFFER || class == lib.EJS_CLASS_DATAVIEW,
		class >= lib.EJS_CLASS_UINT8C_ARRAY && class <= lib.EJS_CLASS_FLOAT64_ARRAY:
		return "is binary data, which JSON cannot hold", "Return text: new TextDecoder().decode(bytes), base64 with btoa, or [...bytes] for numbers."
	case class == lib.EJS_CLASS_ERROR:
		return "is an Error, which JSON would write as {}", "Return error.message, or throw the error."
	case class == lib.EJS_CLASS_REGEXP:
		return "is a regular expression, which JSON would write as {}", "Return String(pattern)."
	case class == lib.EJS_CLASS_GENERATOR || class == lib.EJS_CLASS_ASYNC_GENERATOR || class >= lib.EJS_CLASS_ITERATOR && class <= lib.EJS_CLASS_REGEXP_STRING_ITERATOR:
		return "is an iterator, which JSON would write as {}", "Return [...iterator]."
	case class == lib.EJS_CLASS_SYMBOL || class == lib.EJS_CLASS_BIG_INT:
		return "is a boxed symbol or BigInt, which JSON cannot hold", "Return a string instead."
	}
	return "", ""
}

func (e *encoder) boxed(v value, class uint32) bool {
	i := e.i
	if class == lib.EJS_CLASS_STRING {
		return e.text(v)
	}
	if class == lib.EJS_CLASS_BOOLEAN {
		w := i.invoke(i.hooks.unbox, v)
		defer i.free(w)
		return e.value(w)
	}
	if lib.XJS_ToFloat64(i.tls, i.ctx, i.lenOut, v) < 0 {
		return e.threw()
	}
	return e.number(*(*float64)(unsafe.Pointer(i.lenOut)))
}

func (e *encoder) items(v value) bool {
	n, ok := e.length(v)
	if !ok {
		return e.threw()
	}
	if n > e.r.job.MaxResult {
		return e.tooLarge(n)
	}
	mark := len(e.path)
	e.out = append(e.out, '[')
	for k := range n {
		if k > 0 {
			e.out = append(e.out, ',')
		}
		e.path = strconv.AppendInt(append(e.path[:mark], '['), k, 10)
		e.path = append(e.path, ']')
		if !e.item(v, k) {
			return false
		}
	}
	e.path = e.path[:mark]
	return e.raw("]")
}

func (e *encoder) item(v value, k int64) bool {
	w := lib.XJS_GetPropertyUint32(e.i.tls, e.i.ctx, v, uint32(k))
	if isException(w) {
		return e.threw()
	}
	defer e.i.free(w)
	if tagOf(w) == lib.EJS_TAG_UNDEFINED {
		return e.raw("null") // as JSON.stringify does
	}
	return e.value(w)
}

func (e *encoder) length(v value) (int64, bool) {
	i := e.i
	w := lib.XJS_GetPropertyStr(i.tls, i.ctx, v, i.lengthName)
	if isException(w) {
		return 0, false
	}
	defer i.free(w)
	return int64(numberOf(w)), true
}

func (e *encoder) members(v value) bool {
	i := e.i
	out := (*[2]uintptr)(unsafe.Pointer(i.viewOut))
	if lib.XJS_GetOwnPropertyNames(i.tls, i.ctx, i.viewOut, i.viewOut+8, v, lib.MJS_GPN_STRING_MASK|lib.MJS_GPN_ENUM_ONLY) < 0 {
		return e.threw()
	}
	table, n := out[0], uint32(out[1])
	defer lib.XJS_FreePropertyEnum(i.tls, i.ctx, table, n)
	if n == 0 {
		return e.empty(v)
	}
	mark, first := len(e.path), true
	e.out = append(e.out, '{')
	for _, p := range unsafe.Slice((*lib.TJSPropertyEnum)(unsafe.Pointer(table)), n) {
		if !e.member(v, p.Fatom, mark, &first) {
			return false
		}
	}
	e.path = e.path[:mark]
	return e.raw("}")
}

// empty is an object without members of its own: {} unless it is one of the platform's.
func (e *encoder) empty(v value) bool {
	i := e.i
	w := i.invoke(i.hooks.explain, v)
	if isException(w) {
		return e.threw()
	}
	defer i.free(w)
	if tagOf(w) != lib.EJS_TAG_UNDEFINED {
		hint, _ := i.text(w)
		return e.refuse("is an object of the platform, which JSON would write as {}", hint)
	}
	return e.raw("{}")
}

func (e *encoder) member(v value, atom lib.TJSAtom, mark int, first *bool) bool {
	i := e.i
	w := lib.XGetProperty(i.tls, i.ctx, v, atom)
	if isException(w) {
		return e.threw()
	}
	defer i.free(w)
	if tagOf(w) == lib.EJS_TAG_UNDEFINED {
		return true // as JSON.stringify does
	}
	p := lib.XJS_AtomToCStringLen(i.tls, i.ctx, i.lenOut, atom)
	if p == 0 {
		return e.threw()
	}
	defer lib.XJS_FreeCString(i.tls, i.ctx, p)
	name := memory(p, uint64(*(*lib.Tsize_t)(unsafe.Pointer(i.lenOut))))
	if !*first {
		e.out = append(e.out, ',')
	}
	*first = false
	e.quote(name)
	e.out = append(e.out, ':')
	e.path = append(append(e.path[:mark], '.'), cut(string(name), 64)...)
	return e.value(w)
}
