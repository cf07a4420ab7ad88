package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// lazyBodies use scripts that isolates start without.
var lazyBodies = map[string]string{
	"subtle":   `return [...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(args.text)))].slice(0, 4)`,
	"blob":     `return await new Blob([args.text]).text()`,
	"form":     `const f = new FormData(); f.append('a', args.text); return [...f]`,
	"streams":  `return await new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode(args.text)); c.close() } })).text()`,
	"compress": `return await new Response(new Response(args.text).body.pipeThrough(new CompressionStream('gzip')).pipeThrough(new DecompressionStream('gzip'))).text()`,
	"intl":     `return new Intl.NumberFormat('de').format(args.text.length + 1234.5) + (1234.5).toLocaleString('fr')`,
	"two":      `const n = new Intl.NumberFormat('en').format(1e6); return n + await new Blob([args.text]).text()`,
}

// A code's later calls start with the scripts that its first call asked for: every one must see what the first saw, in
// whatever isolate, also when it was set aside meanwhile.
func TestCallsInAnOutfitAreLikeTheFirst(t *testing.T) {
	e, err := New(Options{Isolates: 2, Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	h := &noHost{}
	for name, body := range lazyBodies {
		code := compiled(t, e, `globalThis.mark ??= 0; if (globalThis.mark++) throw new Error('another call was here');
			const out = await (async () => {`+body+`})(); await new Promise(r => setTimeout(r, args.ms)); return [out, typeof Blob, typeof Intl.NumberFormat, new Blob(['x']).size]`)
		first, meta := ran(e.Start(h.job(code, `{"text":"hello","ms":0}`, 5*time.Second)))
		if meta.Error != nil {
			t.Fatalf("%s: %+v", name, meta.Error)
		}
		if len(code.needs.list()) == 0 {
			t.Fatalf("%s asked for no script", name)
		}
		done := make(chan string)
		for range 6 { // more than there are isolates: some are set aside
			go func() {
				out, meta := ran(e.Start(h.job(code, `{"text":"hello","ms":20}`, 5*time.Second)))
				done <- fmt.Sprintf("%s %v", out, meta.Error)
			}()
		}
		for range 6 {
			if got := <-done; got != string(first)+" <nil>" {
				t.Errorf("%s: %s, and the first gave %s", name, got, first)
			}
		}
	}
}

// A body with an outfit leaves nothing to the next call, of its own code or another's.
func TestAnOutfitHoldsNothingOfABody(t *testing.T) {
	e := newEngine(t)
	h := &noHost{}
	spoil := compiled(t, e, `Blob.prototype.text = () => 'spoiled'; Intl.NumberFormat = undefined; globalThis.left = 1; delete globalThis.FormData; return typeof crypto.subtle`)
	look := compiled(t, e, `return [await new Blob(['a']).text(), typeof Intl.NumberFormat, typeof left, typeof FormData]`)
	for n := range 5 {
		if _, meta := ran(e.Start(h.job(spoil, `{}`, 5*time.Second))); meta.Error != nil {
			t.Fatal(meta.Error)
		}
		out, meta := ran(e.Start(h.job(look, `{}`, 5*time.Second)))
		if string(out) != `["a","function","undefined","function"]` {
			t.Errorf("call %d: %s %+v", n, out, meta.Error)
		}
	}
}

// What scripts give the engine as functions used to stay with the isolate for every call that ran them.
func TestScriptsThatCallsRunDoNotPileUp(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of calls: not with -short")
	}
	e, err := New(Options{Isolates: 1, Memory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	h := &noHost{}
	i := e.idle[0]
	for n := range 3 * maxOutfits { // more combinations than an isolate keeps
		for name, body := range lazyBodies {
			code := compiled(t, e, strings.Repeat(`typeof FormData;`, n%2)+strings.Repeat(`typeof crypto.subtle;`, n/2%2)+strings.Repeat(`typeof CompressionStream;`, n/4%2)+body)
			for range 2 {
				if _, meta := ran(e.Start(h.job(code, `{"text":"hello"}`, 5*time.Second))); meta.Error != nil {
					t.Fatalf("%s: %+v", name, meta.Error)
				}
			}
		}
	}
	if len(i.keep) != i.kept || len(i.outfits) > maxOutfits {
		t.Errorf("%d functions are kept, %d of them the snapshot's; %d outfits", len(i.keep), i.kept, len(i.outfits))
	}
}

// A call that is over its time before it began ends as one that is not.
func TestADeadlineWhileAnOutfitIsMade(t *testing.T) {
	e := newEngine(t)
	h := &noHost{}
	code := compiled(t, e, lazyBodies["two"])
	if _, meta := ran(e.Start(h.job(code, `{"text":"x"}`, 5*time.Second))); meta.Error != nil {
		t.Fatal(meta.Error)
	}
	e.idle[0].outfits = nil
	c := e.Start(h.job(code, `{"text":"x"}`, 5*time.Second))
	c.run.stop(interruptDeadline)
	if _, meta := ran(c); meta.Error == nil || meta.Error.Code != "timeout" {
		t.Errorf("%+v", meta.Error)
	}
	if out, meta := ran(e.Start(h.job(code, `{"text":"x"}`, 5*time.Second))); string(out) != `"1,000,000x"` {
		t.Errorf("the next: %s %+v", out, meta.Error)
	}
}

// What a rarely needed script costs a call of a code that has asked for it before, beside a body that needs none.
func BenchmarkLazyScripts(b *testing.B) {
	for _, name := range []string{"none", "subtle", "blob", "form", "streams", "intl"} {
		b.Run(name, func(b *testing.B) {
			e := newEngine(b)
			h := &noHost{}
			body := lazyBodies[name]
			if name == "none" {
				body = "return args.text.length"
			}
			code := compiled(b, e, body)
			for b.Loop() {
				if _, meta := ran(e.Start(h.job(code, `{"text":"hello"}`, 2*time.Second))); meta.Error != nil {
					b.Fatal(meta.Error)
				}
			}
		})
	}
}
