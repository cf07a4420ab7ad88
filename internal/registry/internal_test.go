package registry

import (
	"testing"

	"toolroom/internal/store"
	"toolroom/tool"
)

func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add(encodeCursor(store.Cursor{Fold: "add", ID: 7}))
	f.Add("bm90IGpzb24")
	f.Fuzz(func(t *testing.T, cursor string) {
		var c store.Cursor
		if err := decodeCursor(cursor, &c); err != nil {
			if tool.CodeOf(err) != tool.InvalidArguments {
				t.Fatalf("got %v", err)
			}
			return
		}
		var again store.Cursor
		if err := decodeCursor(encodeCursor(c), &again); err != nil || again != c {
			t.Fatalf("%+v became %+v, %v", c, again, err)
		}
	})
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"get_weather", "1st", "Create-Tool", "a\u202eb", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if better := suggestName(name); better != "" && nameProblem(better) != "" {
			t.Fatalf("%q is suggested for %q and is none", better, name)
		}
		if nameProblem(name) == "" && suggestName(name+"!") == "" {
			t.Fatalf("nothing is suggested for %q", name+"!")
		}
		if store.Fold(store.Fold(name)) != store.Fold(name) || store.Look(store.Look(name)) != store.Look(name) {
			t.Fatalf("the forms of %q have forms of their own", name)
		}
		for _, w := range splitWords(name) {
			if w == "" {
				t.Fatalf("%q has an empty word", name)
			}
		}
	})
}
