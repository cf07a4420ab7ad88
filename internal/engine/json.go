package engine

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	lib "modernc.org/libquickjs"
)

// hostParseJSON(bytes) → the value of JSON text, or undefined where only JSON.parse can say what it is.
func hostParseJSON(i *isolate, args []value) value {
	if len(args) == 0 {
		return undefined()
	}
	b, ok := i.bytesOf(args[0])
	if !ok {
		return undefined()
	}
	v, _ := i.readJSON(b)
	return v
}

// readJSON makes a value of JSON text, which lies in the engine's memory, a few times faster than the
// engine's own parser. ok is false where only that one can say what it is: text that is wrong, nested deep, not
// UTF-8, or with half a surrogate pair. The value is owned; an exception when memory ran out.
func (i *isolate) readJSON(text []byte) (v value, ok bool) {
	j := jsonReader{i: i, text: text}
	defer j.close()
	v, ok = j.value(0)
	if j.space(); ok && j.at < len(text) {
		i.free(v)
		ok = false
	}
	switch {
	case j.threw:
		return exception(), true
	case !ok:
		return undefined(), false
	}
	return v, true
}

// maxJSONLevels is how deep the reader goes.
const maxJSONLevels = 200

// jsonReader makes values of JSON text that lies in the engine's memory. No
// code of the body runs meanwhile. Its methods return false where they give up, and then own nothing.
type jsonReader struct {
	i       *isolate
	text    []byte
	at      int
	atoms   map[string]lib.TJSAtom // names met so far, owned
	records [maxRecordLevels]record
	threw   bool // an exception is pending: memory ran out
}

func (j *jsonReader) close() {
	for _, a := range j.atoms {
		lib.XJS_FreeAtom(j.i.tls, j.i.ctx, a)
	}
	for n := range j.records {
		j.records[n].close(j.i)
	}
}

// space skips white space and returns what follows, 0 at the end.
func (j *jsonReader) space() byte {
	for ; j.at < len(j.text); j.at++ {
		switch c := j.text[j.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// made is v, unless it is an exception.
func (j *jsonReader) made(v value) (value, bool) {
	if isException(v) {
		j.threw = true
		return undefined(), false
	}
	return v, true
}

func (j *jsonReader) value(level int) (value, bool) {
	switch c := j.space(); {
	case level > maxJSONLevels:
		return undefined(), false
	case c == '{':
		return j.members(lib.XJS_NewObject(j.i.tls, j.i.ctx), '}', func(o value, n int) bool { return j.property(o, n, level+1) })
	case c == '[':
		return j.members(lib.XJS_NewArray(j.i.tls, j.i.ctx), ']', func(a value, n int) bool { return j.element(a, n, level+1) })
	case c == '"':
		raw, plain, ok := j.quoted()
		if !ok {
			return undefined(), false
		}
		return j.str(raw, plain)
	case c == '-' || c >= '0' && c <= '9':
		return j.number()
	}
	return j.word()
}

// members reads what is between a bracket and its end into the container o.
func (j *jsonReader) members(o value, end byte, member func(o value, n int) bool) (value, bool) {
	o, ok := j.made(o)
	if !ok {
		return o, false
	}
	j.at++
	if j.space() == end {
		j.at++
		return o, true
	}
	for n := 0; member(o, n); n++ {
		switch c := j.space(); c {
		case ',':
			j.at++
			continue
		case end:
			j.at++
			return o, true
		}
		break
	}
	j.i.free(o)
	return undefined(), false
}

func (j *jsonReader) element(a value, n, level int) bool {
	if n > 0 && !j.row(n, level+1) {
		return false
	}
	v, ok := j.value(level)
	return ok && j.defined(lib.XJS_DefinePropertyValueUint32(j.i.tls, j.i.ctx, a, uint32(n), v, lib.MJS_PROP_C_W_E))
}

// row is told that the n-th member of a list follows, which may be an object like those before.
func (j *jsonReader) row(n, level int) bool {
	switch {
	case level >= maxRecordLevels:
	case n == 1:
		j.records[level].row = true
	case n == stepsFrom:
		j.threw = !j.records[level].climb(j.i)
	}
	return !j.threw
}

func (j *jsonReader) property(o value, n, level int) bool {
	if j.space() != '"' {
		return false
	}
	raw, plain, ok := j.quoted()
	if !ok || j.space() != ':' {
		return false
	}
	j.at++
	name, ok := j.name(raw, plain, n, level)
	if !ok {
		return false
	}
	v, ok := j.value(level)
	return ok && j.defined(lib.XJS_DefinePropertyValue(j.i.tls, j.i.ctx, o, name, v, lib.MJS_PROP_C_W_E))
}

func (j *jsonReader) defined(r int32) bool {
	j.threw = j.threw || r < 0
	return r >= 0
}

// name is the n-th name of an object as the engine keeps names: mostly the one that the object before had there.
func (j *jsonReader) name(raw []byte, plain bool, n, level int) (lib.TJSAtom, bool) {
	if level >= maxRecordLevels || !j.records[level].row {
		return j.atom(raw, plain)
	}
	r := &j.records[level]
	if n < len(r.names) && r.names[n].text == string(raw) {
		return r.names[n].atom, true
	}
	a, ok := j.atom(raw, plain)
	if ok {
		r.learn(n, string(raw), a)
	}
	return a, ok
}

// atom is any name.
func (j *jsonReader) atom(raw []byte, plain bool) (lib.TJSAtom, bool) {
	if a, ok := j.atoms[string(raw)]; ok {
		return a, true
	}
	if !plain || len(raw) == 0 {
		return 0, false // rare: left to JSON.parse
	}
	a := lib.XJS_NewAtomLen(j.i.tls, j.i.ctx, uintptr(unsafe.Pointer(&raw[0])), lib.Tsize_t(len(raw)))
	if a == 0 {
		j.threw = true
		return 0, false
	}
	if j.atoms == nil {
		j.atoms = map[string]lib.TJSAtom{}
	}
	j.atoms[string(raw)] = a
	return a, true
}

// quoted reads a string and returns what is between its quotes; plain says that
// nothing in it is escaped.
func (j *jsonReader) quoted() (raw []byte, plain, ok bool) {
	from, ascii := j.at+1, true
	plain = true
	for j.at++; j.at < len(j.text); j.at++ {
		switch c := j.text[j.at]; {
		case c == '"':
			raw = j.text[from:j.at]
			j.at++
			return raw, plain, ascii || utf8.Valid(raw)
		case c == '\\':
			plain = false
			j.at++
		case c < ' ':
			return nil, false, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, false, false
}

// str makes a string value, of the engine's own memory where nothing is escaped.
func (j *jsonReader) str(raw []byte, plain bool) (value, bool) {
	switch {
	case len(raw) == 0:
		return j.made(j.i.str(""))
	case plain:
		return j.made(lib.XJS_NewStringLen(j.i.tls, j.i.ctx, uintptr(unsafe.Pointer(&raw[0])), lib.Tsize_t(len(raw))))
	}
	var s string
	for n := 0; n+2 < len(raw); n++ {
		if raw[n] == '\\' {
			if raw[n+1] == 'u' && raw[n+2]|32 == 'd' {
				return undefined(), false // maybe half of a pair
			}
			n++
		}
	}
	if json.Unmarshal(j.text[j.at-len(raw)-2:j.at], &s) != nil {
		return undefined(), false
	}
	return j.made(j.i.str(s))
}

func (j *jsonReader) digits() bool {
	from := j.at
	for j.at < len(j.text) && j.text[j.at] >= '0' && j.text[j.at] <= '9' {
		j.at++
	}
	return j.at > from
}

// accept skips one of the characters of set.
func (j *jsonReader) accept(set string) bool {
	for n := range len(set) {
		if j.at < len(j.text) && j.text[j.at] == set[n] {
			j.at++
			return true
		}
	}
	return false
}

func (j *jsonReader) number() (value, bool) {
	if v, ok := j.short(); ok {
		return v, true
	}
	from := j.at
	j.accept("-")
	if !j.accept("0") && !j.digits() {
		return undefined(), false
	}
	if j.accept(".") && !j.digits() {
		return undefined(), false
	}
	if j.accept("eE") {
		j.accept("+-")
		if !j.digits() {
			return undefined(), false
		}
	}
	f, err := strconv.ParseFloat(string(j.text[from:j.at]), 64)
	if err != nil && !math.IsInf(f, 0) {
		return undefined(), false
	}
	return number(f), true
}

// short reads a number of few digits, without sign or exponent, which is nearly every one: as the quotient of two
// numbers that a float64 holds exactly it is rounded once, and so is right. On false nothing was read.
func (j *jsonReader) short() (value, bool) {
	const most = 15 // characters
	digits, point, at := 0.0, -1, j.at
	for ; at < len(j.text) && at-j.at < most; at++ {
		c := j.text[at]
		if c == '.' && point < 0 {
			point = at
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		digits = digits*10 + float64(c-'0')
	}
	if !j.isShort(j.text[j.at:at], at) || at-j.at == most {
		return undefined(), false
	}
	if point >= 0 {
		digits /= math.Pow10(at - point - 1)
	}
	j.at = at
	return number(digits), true
}

// isShort says whether s, which ends at at and holds digits and at most one point, is a number of JSON to its end.
func (j *jsonReader) isShort(s []byte, at int) bool {
	if len(s) == 0 || s[0] == '.' || s[len(s)-1] == '.' || len(s) > 1 && s[0] == '0' && s[1] != '.' {
		return false
	}
	return at == len(j.text) || j.text[at]|0x20 != 'e' && j.text[at] != '.'
}

func (j *jsonReader) word() (value, bool) {
	rest := j.text[j.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("true")):
		j.at += 4
		return boolValue(true), true
	case bytes.HasPrefix(rest, []byte("false")):
		j.at += 5
		return boolValue(false), true
	case bytes.HasPrefix(rest, []byte("null")):
		j.at += 4
		return value{Ftag: lib.EJS_TAG_NULL}, true
	}
	return undefined(), false
}
