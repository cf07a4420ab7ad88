package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"toolroom/internal/store"
	"toolroom/tool"
)

func testList(t *testing.T, s store.Store) {
	var want []string
	for i := range 25 {
		place := one()
		if i%3 == 0 {
			place = global()
		}
		name := fmt.Sprintf("%c_tool", 'a'+i)
		apply(t, s, fresh(place, name, "return 1"))
		want = append(want, name)
	}
	var got []string
	q := store.Query{Limit: 7}
	for {
		page, err := s.List(t.Context(), one(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			got = append(got, r.Name)
		}
		last := page[len(page)-1]
		q.After = store.Cursor{Fold: store.Fold(last.Name), ID: last.ID}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func testFilter(t *testing.T, s store.Store) {
	apply(t, s, fresh(one(), "alpha", "return 1"))
	off := apply(t, s, fresh(one(), "beta", "return 1"))
	gone := apply(t, s, fresh(one(), "gamma", "return 1"))
	apply(t, s, headOnly(off, store.Disabled, false, false))
	apply(t, s, headOnly(gone, store.Deleted, true, true))
	for _, c := range []struct {
		q    store.Query
		want []string
	}{
		{store.Query{}, []string{"alpha"}},
		{store.Query{Disabled: true}, []string{"alpha", "beta"}},
		{store.Query{Deleted: true}, []string{"alpha", "gamma"}},
		{store.Query{Disabled: true, Deleted: true}, []string{"alpha", "beta", "gamma"}},
		{store.Query{Text: "LPH"}, []string{"alpha"}},
		{store.Query{Text: "about alpha"}, []string{"alpha"}},
		{store.Query{Text: "%"}, []string{}},
	} {
		if got := names(t, s, one(), c.q); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v, want %v", c.q, got, c.want)
		}
	}
}

func testShadowed(t *testing.T, s store.Store) {
	mine := apply(t, s, fresh(one(), "add", "return 1"))
	apply(t, s, fresh(global(), "Add", "return 2"))
	if got := find(t, s, one(), "Add"); got.ID != mine.ID || got.Shadowed {
		t.Fatalf("the workspace's own tool does not win: %+v", got)
	}
	for place, want := range map[tool.Place][]bool{one(): {false, true}, two(): {false}} {
		found, err := s.List(t.Context(), place, store.Query{})
		if err != nil {
			t.Fatal(err)
		}
		var got []bool
		for _, r := range found {
			got = append(got, r.Shadowed)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: shadowed %v, want %v", place, got, want)
		}
	}
}

func testSearch(t *testing.T, s store.Store) {
	named := fresh(one(), "weather", "return 1")
	told := fresh(one(), "forecast", "return 1")
	told.Words.Description = "Tells the weather of tomorrow."
	asked := fresh(global(), "report", "return 1")
	asked.Words.Parameters = "weather city"
	off := fresh(one(), "weather_off", "return 1")
	off.Enabled = false
	for _, w := range []store.Write{asked, told, named, off, fresh(one(), "other", "return 1")} {
		apply(t, s, w)
	}
	search := func(words ...string) (got []string) {
		found, err := s.Search(t.Context(), one(), words, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found {
			got = append(got, r.Name)
		}
		return got
	}
	if got := search("weather"); len(got) != 3 || got[0] != "weather" {
		t.Errorf("got %v", got)
	}
	if got := search("weath", "nothing"); len(got) != 3 {
		t.Errorf("by its beginning: got %v", got)
	}
	if got := search(); len(got) != 0 {
		t.Errorf("no words: got %v", got)
	}
	w := next(find(t, s, one(), "weather"), "return 2")
	w.Words = store.Words{Name: "weather", Description: "rain"}
	apply(t, s, w)
	if got := search("rain"); len(got) != 1 {
		t.Errorf("after a change: got %v", got)
	}
}

func testHostileWords(t *testing.T, s store.Store) {
	apply(t, s, fresh(one(), "add", "return 1"))
	for _, word := range []string{`"`, `add" OR "`, "NEAR", "AND", "*", "name:add", "'; DROP TABLE tools; --", "\x00", "a\xff"} {
		if _, err := s.Search(t.Context(), one(), []string{word}, 10); err != nil {
			t.Errorf("%q: %v", word, err)
		}
		if _, err := s.List(t.Context(), one(), store.Query{Text: word}); err != nil {
			t.Errorf("list %q: %v", word, err)
		}
	}
	find(t, s, one(), "add")
}
