package engine

import (
	"testing"
	"time"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"toolroom/internal/engine/platform"
)

func TestSizes(t *testing.T) {
	t0 := time.Now()
	l, err := newLibrary(nil)
	t.Log("compile", time.Since(t0), err)
	t0 = time.Now()
	newLibrary(nil)
	t.Log("again", time.Since(t0))
	a, _ := mapArena(160 << 20)
	i := &isolate{arena: a, tls: libc.NewTLS(), natives: platform.NewNatives(), library: l}
	t0 = time.Now()
	i.allocate()
	i.rt = lib.XJS_NewRuntime2(i.tls, i.funcs, i.arena.base)
	lib.XJS_SetMaxStackSize(i.tls, i.rt, lib.MaxStackSlots)
	i.ctx = lib.XJS_NewContext(i.tls, i.rt)
	i.install()
	t.Log("base", i.used(), time.Since(t0))
	last := i.used()
	for _, s := range l.eager {
		t0 = time.Now()
		if err := i.runScript(s); err != nil {
			t.Fatal(err)
		}
		t.Log(s.name, "code", len(s.code), "used", i.used()-last, time.Since(t0))
		last = i.used()
	}
	t0 = time.Now()
	if err := i.freeze(); err != nil {
		t.Fatal(err)
	}
	for name, get := range l.lazy {
		t0 = time.Now()
		if _, err := get(); err != nil {
			t.Fatal(err)
		}
		t.Log("lazy", name, time.Since(t0))
	}
	t.Log("total", i.used(), len(i.snapshot), time.Since(t0))
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		newLibrary(nil)
	}
}
