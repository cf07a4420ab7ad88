package engine

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/gob"
	"fmt"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"

	"toolroom/internal/engine/platform"
)

//go:generate go test -vet=off -run ^TestScriptsAreFresh$ . -update

// packed are the platform's scripts as bytecode, made by go generate: compiling
// them takes longer than all the rest of a worker's start.
//
//go:embed scripts.bin
var packed []byte

// pack is what packed holds. Sum is that of the scripts it was made of.
type pack struct {
	Sum     [sha256.Size]byte
	Scripts []compiledScript
}

type compiledScript struct {
	Name string
	Lazy bool
	Code []byte
}

// library holds the platform's scripts as bytecode: those that run in every new
// isolate, in their order, and those that run when a body asks for what they make.
// It is immutable.
type library struct {
	eager []compiledScript
	lazy  map[string]compiledScript
}

// newLibrary unpacks the scripts, or compiles them when they were changed since they were packed.
func newLibrary() (*library, error) {
	scripts, err := platform.Scripts()
	if err != nil {
		return nil, err
	}
	var p pack
	if err := gob.NewDecoder(bytes.NewReader(packed)).Decode(&p); err != nil || p.Sum != sumOf(scripts) {
		if p.Scripts, err = compileScripts(scripts); err != nil {
			return nil, err
		}
	}
	l := &library{lazy: map[string]compiledScript{}}
	for _, s := range p.Scripts {
		if s.Lazy {
			l.lazy[s.Name] = s
		} else {
			l.eager = append(l.eager, s)
		}
	}
	return l, nil
}

func sumOf(scripts []platform.Script) [sha256.Size]byte {
	h := sha256.New()
	for _, s := range scripts {
		fmt.Fprintf(h, "%s %t %d\n%s", s.Name, s.Lazy, len(s.Source), s.Source)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// compilerMemory is the arena of the isolate that compiles the scripts.
const compilerMemory = 64 << 20

// compileScripts compiles scripts in an isolate that is thrown away.
func compileScripts(scripts []platform.Script) ([]compiledScript, error) {
	a, err := mapArena(compilerMemory)
	if err != nil {
		return nil, err
	}
	i := &isolate{arena: a, tls: libc.NewTLS()}
	i.allocate()
	defer i.close()
	i.rt = lib.XJS_NewRuntime2(i.tls, i.funcs, i.arena.base)
	i.ctx = lib.XJS_NewContext(i.tls, i.rt)
	lib.XJS_SetGCThreshold(i.tls, i.rt, gcThreshold)
	lib.XJS_SetStripInfo(i.tls, i.rt, lib.MJS_STRIP_SOURCE)
	var out []compiledScript
	for _, s := range scripts {
		// One line in front, so that lines in stacks are those of the file.
		code, ok := i.compile("platform/"+s.Name, "(function (host, internals) { 'use strict'; "+s.Source+"\n})")
		if !ok {
			return nil, fmt.Errorf("compiling %s: %s", s.Name, i.lastError())
		}
		out = append(out, compiledScript{Name: s.Name, Lazy: s.Lazy, Code: code})
	}
	return out, nil
}

// hostLoad(name) runs a script that isolates start without.
func hostLoad(i *isolate, args []value) value {
	name, _ := i.text(args[0])
	s, ok := i.library.lazy[name]
	if !ok {
		return i.throw("TypeError", "there is no script "+name)
	}
	fn := i.load(s.Code)
	if isException(fn) {
		return fn
	}
	defer i.free(fn)
	return i.invoke(fn, i.hooks.host, i.hooks.internals)
}
