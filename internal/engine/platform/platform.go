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
)

//go:embed js/*.js
var files embed.FS

// Script is one part of the globals.
type Script struct {
	Name   string
	Source string
}

// Func is a native. Arguments are nil, bool, float64, string or []byte (a view
// that is only valid during the call); results are nil, bool, int, float64,
// string, []byte, JSON, or []any of these. An *Error becomes an error object of
// its name; any other error a TypeError. A native must end by itself in
// milliseconds: nothing can interrupt it but the end of the worker.
type Func func(args []any) (any, error)

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

// Scripts lists the scripts in the order they run.
func Scripts() ([]Script, error) {
	var out []Script
	for _, name := range order() {
		src, err := files.ReadFile("js/" + name + ".js")
		if err != nil {
			return nil, fmt.Errorf("reading the platform's scripts: %w", err)
		}
		out = append(out, Script{Name: name, Source: string(src)})
	}
	return out, nil
}

func order() []string {
	return []string{"base", "errors", "console", "timers", "ctx", "entry"}
}

// Natives lists the natives by the name that host.native takes.
func Natives() map[string]Func {
	return map[string]Func{}
}
