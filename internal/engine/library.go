package engine

import (
	"encoding/binary"
	"fmt"
	"sync"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"

	"toolroom/internal/engine/platform"
)

// library holds the platform's scripts as bytecode: compiled once for a worker,
// loaded by each of its isolates. Safe for concurrent use.
type library struct {
	eager []compiledScript
	lazy  map[string]func() (compiledScript, error)
}

type compiledScript struct {
	name string
	code []byte
}

// newLibrary compiles the scripts that every isolate starts with, and leaves the
// rest to whoever asks first. encoded is what encode of another process of this
// program gave: nothing has to be compiled then. It is bytecode, so it must come from
// a process that never ran anything but this program's own code.
func newLibrary(encoded []byte) (*library, error) {
	scripts, err := platform.Scripts()
	if err != nil {
		return nil, err
	}
	l := &library{lazy: map[string]func() (compiledScript, error){}}
	var now []platform.Script
	for _, s := range scripts {
		if s.Lazy {
			l.lazy[s.Name] = sync.OnceValues(func() (compiledScript, error) { return compileOne(s) })
			continue
		}
		now = append(now, s)
	}
	if len(encoded) > 0 {
		l.eager, err = decodeScripts(encoded, now)
	} else {
		l.eager, err = compileScripts(now)
	}
	return l, err
}

// encode is the compiled scripts as bytes: each code after its size.
func (l *library) encode() []byte {
	var out []byte
	for _, s := range l.eager {
		out = append(binary.AppendUvarint(out, uint64(len(s.code))), s.code...)
	}
	return out
}

func decodeScripts(encoded []byte, scripts []platform.Script) ([]compiledScript, error) {
	var out []compiledScript
	for _, s := range scripts {
		size, n := binary.Uvarint(encoded)
		if n <= 0 || size > uint64(len(encoded)-n) {
			return nil, fmt.Errorf("the compiled scripts end within %s", s.Name)
		}
		out = append(out, compiledScript{name: s.Name, code: encoded[n : n+int(size)]})
		encoded = encoded[n+int(size):]
	}
	return out, nil
}

func compileOne(s platform.Script) (compiledScript, error) {
	list, err := compileScripts([]platform.Script{s})
	if err != nil {
		return compiledScript{}, err
	}
	return list[0], nil
}

// compileScripts compiles scripts in an isolate that is thrown away.
func compileScripts(scripts []platform.Script) ([]compiledScript, error) {
	a, err := mapArena(32 << 20)
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
		out = append(out, compiledScript{name: s.Name, code: code})
	}
	return out, nil
}

// hostLoad(name) runs a script that isolates start without.
func hostLoad(i *isolate, args []value) value {
	name, _ := i.text(args[0])
	get, ok := i.library.lazy[name]
	if !ok {
		return i.throw("TypeError", "there is no script "+name)
	}
	s, err := get()
	if err != nil {
		return i.throw("TypeError", err.Error())
	}
	if r := i.call; r != nil && r.job.Code != nil {
		r.job.Code.needs.add(name)
	}
	fn := i.load(s.code)
	if isException(fn) {
		return fn
	}
	defer i.free(fn)
	return i.invoke(fn, i.hooks.host, i.hooks.internals)
}
