// Package platform holds what a body finds in its isolate besides ECMAScript:
// the web's globals, console, ctx and fs. The scripts are JavaScript that runs once,
// before the snapshot; what is slow or hard there is a native: a Go function
// that computes and does nothing else. Neither has any authority: whatever
// touches the world is a request that leaves the isolate through host.request.
//
// A script is the body of a function of (host, internals). host is what the engine
// offers (see engine/host.go); internals is an object that scripts hand their
// parts to one another in, and that no body ever sees. Scripts keep the
// built-ins they need in constants of their own, so that a body which replaces
// a prototype's method changes nothing of what the host records.
package platform

import (
	"embed"
	"fmt"
	"maps"
	"slices"
)

//go:embed js/*.js
var files embed.FS

// Script is one part of the globals.
type Script struct {
	Name   string
	Source string
	Lazy   bool // runs when a body first asks for what it makes, not before the snapshot
}

// Func is a native. It returns nil, bool, int, float64, string, []byte, JSON, or
// []any of these. An *Error becomes an error object of its name; any other error
// a TypeError. A native must end by itself in milliseconds: nothing can
// interrupt it but the end of the worker.
type Func func(args Args) (any, error)

// Args are what a native was called with: nil, bool, float64, string (UTF-8,
// with lone surrogates as three bytes each) or []byte, which is the isolate's own memory:
// valid, and writable, during the call only. What is missing or of another
// type reads as zero: the scripts see to the types.
type Args []any

func arg[T any](a Args, n int) T {
	var zero T
	if n >= len(a) {
		return zero
	}
	v, _ := a[n].(T)
	return v
}

// Text is argument n as a string.
func (a Args) Text(n int) string { return arg[string](a, n) }

// Bytes is argument n as bytes.
func (a Args) Bytes(n int) []byte { return arg[[]byte](a, n) }

// Number is argument n as a number.
func (a Args) Number(n int) float64 { return arg[float64](a, n) }

// Bool is argument n as a boolean.
func (a Args) Bool(n int) bool { return arg[bool](a, n) }

// Has says whether argument n is there and neither undefined nor null.
func (a Args) Has(n int) bool { return n < len(a) && a[n] != nil }

// JSON is a result that the isolate parses.
type JSON []byte

// Error is an error that a native throws into the isolate.
type Error struct {
	Name    string // TypeError, RangeError, …; anything else is a DOMException of that name
	Message string
}

// Error is the name and the message.
func (e *Error) Error() string { return e.Name + ": " + e.Message }

// Throw makes an Error.
func Throw(name, format string, args ...any) *Error {
	return &Error{Name: name, Message: fmt.Sprintf(format, args...)}
}

// Scripts lists the scripts: those that run before the snapshot in the order
// they run, then the lazy ones.
func Scripts() ([]Script, error) {
	eager := []string{"base", "errors", "console", "timers", "text", "clone", "events", "url", "misc", "body", "fetch", "locale", "ctx", "entry"}
	lazy := []string{"blob", "forms", "streams", "writable", "compress", "subtle", "intl"}
	var out []Script
	for n, name := range slices.Concat(eager, lazy) {
		src, err := files.ReadFile("js/" + name + ".js")
		if err != nil {
			return nil, fmt.Errorf("reading the platform's scripts: %w", err)
		}
		out = append(out, Script{Name: name, Source: string(src), Lazy: n >= len(eager)})
	}
	return out, nil
}

// Natives are the natives of one isolate. Some keep something open from one call
// of theirs to the next, until Reset. Not safe for concurrent use.
type Natives struct {
	funcs   map[string]Func
	coders  coders
	locales locales
}

// NewNatives makes the natives of an isolate.
func NewNatives() *Natives {
	n := &Natives{funcs: map[string]Func{}}
	for _, group := range []map[string]Func{textNatives(), urlNatives(), randomNatives(), formNatives(), subtleNatives(), n.coders.natives(), n.locales.natives()} {
		maps.Copy(n.funcs, group)
	}
	return n
}

// Lookup finds a native by its name.
func (n *Natives) Lookup(name string) (Func, bool) {
	f, ok := n.funcs[name]
	return f, ok
}

// Reset closes what calls of natives left open: the end of a call.
func (n *Natives) Reset() { n.coders.reset() }

// Open is what the natives of an isolate have open for one call, while that call is
// set aside.
type Open struct{ coders coders }

// Take hands out what is open; the natives have nothing open afterwards.
func (n *Natives) Take() Open {
	o := Open{coders: n.coders}
	n.coders = coders{}
	return o
}

// Put is the reverse of Take.
func (n *Natives) Put(o Open) { n.coders = o.coders }

// Close ends what is open, for a call that will not go on.
func (o Open) Close() {
	o.coders.reset()
}
