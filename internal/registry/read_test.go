package registry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolroom/internal/registry"
	"toolroom/tool"
)

func TestAHistoryIsPagedAndComparedAndRestored(t *testing.T) {
	r := open(t)
	ids := []string{create(t, r, user(), definition("add")).Current.ID}
	for i := range 4 {
		p := tool.Patch{Body: to(fmt.Sprintf("let x = 1;\nreturn %d;", i))}
		if i == 3 {
			p.Description = to("Another.")
		}
		c, err := r.Update(t.Context(), user(), "add", p, registry.ChangeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.Tool.Current.ID)
	}
	var got []string
	for cursor := ""; ; {
		page, err := r.History(t.Context(), place(), "ADD", cursor, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range page.Versions {
			got = append([]string{v.ID}, got...)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Fatalf("history %v, want %v", got, ids)
	}
	d, err := r.Diff(t.Context(), place(), "add", ids[3], "")
	if err != nil || !strings.Contains(d.Body, "-return 2;\n+return 3;\n") || strings.Contains(d.Body, "No newline") {
		t.Fatalf("got %+v, %v", d, err)
	}
	if len(d.Fields) != 1 || d.Fields[0].Field != "description" || string(d.Fields[0].To) != `"Another."` || d.To != ids[4] {
		t.Errorf("fields %+v", d.Fields)
	}
	c, err := r.Restore(t.Context(), user(), "add", ids[0], registry.ChangeOptions{Reason: "back"})
	if err != nil || fmt.Sprint(c.Tool.Current.Changed) != "[restored description body]" || c.Tool.Current.Number != 6 {
		t.Fatalf("got %+v, %v", c.Tool.Current, err)
	}
}

func TestAVersionOfAnotherToolIsNotFound(t *testing.T) {
	r := open(t)
	create(t, r, user(), definition("add"))
	other := create(t, r, user(), definition("other")).Current.ID
	_, err := r.Version(t.Context(), place(), "add", other)
	wantCode(t, err, tool.VersionNotFound)
	_, err = r.Restore(t.Context(), user(), "add", other, registry.ChangeOptions{})
	wantCode(t, err, tool.VersionNotFound)
	_, err = r.Diff(t.Context(), place(), "add", other, "")
	wantCode(t, err, tool.VersionNotFound)
	_, err = r.Version(t.Context(), tool.Place{Tenant: "x", Workspace: "one"}, "other", other)
	wantCode(t, err, tool.VersionNotFound)
}

func TestACursorThatNoListGaveIsRefused(t *testing.T) {
	r := open(t)
	create(t, r, user(), definition("add"))
	for _, cursor := range []string{"!", "bm90IGpzb24", "' OR 1=1"} {
		_, err := r.List(t.Context(), place(), registry.ListOptions{Cursor: cursor})
		wantCode(t, err, tool.InvalidArguments)
		_, err = r.History(t.Context(), place(), "add", cursor, 0)
		wantCode(t, err, tool.InvalidArguments)
	}
}

func TestAListIsPagedToItsEnd(t *testing.T) {
	r := open(t)
	for i := range 7 {
		create(t, r, user(), definition(fmt.Sprintf("tool_%c", 'a'+i)))
	}
	var got int
	o := registry.ListOptions{Limit: 3, Query: "TOOL"}
	for pages := 1; ; pages++ {
		page, err := r.List(t.Context(), place(), o)
		if err != nil {
			t.Fatal(err)
		}
		got += len(page.Tools)
		if o.Cursor = page.Next; o.Cursor == "" {
			if pages != 3 {
				t.Errorf("%d pages", pages)
			}
			break
		}
	}
	if got != 7 {
		t.Errorf("got %d tools, want 7", got)
	}
}

func TestSearchFindsByNamePartsDescriptionAndParameters(t *testing.T) {
	r := open(t)
	for name, text := range map[string]string{
		"fetchWeather_v2": "Tells what the sky does.",
		"unit_convert":    "Converts units of length, such as metres.",
		"send_mail":       "Sends a letter.",
	} {
		d := definition(name)
		d.Description = text
		if name == "send_mail" {
			d.Parameters = json.RawMessage(`{"type":"object","properties":{"to":{"type":"object","properties":{"recipientAddress":{"type":"string"}}}}}`)
		}
		create(t, r, user(), d)
	}
	for query, want := range map[string]string{
		"weather": "fetchWeather_v2", "fetch the weather please": "fetchWeather_v2", "CONVERTING metres": "unit_convert",
		"recipient": "send_mail", "recipientAddress": "send_mail", "lett": "send_mail", `"; OR * NOT`: "", "": "",
	} {
		found, err := r.Search(t.Context(), place(), query, 5)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(found) > 0 {
			got = found[0].Name
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

func TestADisabledToolIsKeptAndNotCallable(t *testing.T) {
	r := open(t)
	create(t, r, user(), definition("add"))
	none := registry.ChangeOptions{}
	if _, err := r.SetEnabled(t.Context(), user(), "add", false, none); err != nil {
		t.Fatal(err)
	}
	_, err := r.Resolve(t.Context(), place(), "add")
	wantCode(t, err, tool.Disabled)
	page, err := r.List(t.Context(), place(), registry.ListOptions{})
	if err != nil || len(page.Tools) != 0 {
		t.Fatalf("it is offered: %+v, %v", page, err)
	}
	c, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: to("return 1")}, none)
	if err != nil || c.Tool.Enabled {
		t.Fatalf("an update enabled it: %+v, %v", c, err)
	}
	if _, err := r.SetEnabled(t.Context(), user(), "add", true, none); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resolve(t.Context(), place(), "add"); err != nil {
		t.Fatal(err)
	}
}

func TestAnUpdateThatChangesNothingMakesNoVersion(t *testing.T) {
	r := open(t)
	first := create(t, r, user(), definition("add"))
	c, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: &first.Current.Definition.Body}, registry.ChangeOptions{})
	if err != nil || c.Tool.Current.ID != first.Current.ID || len(c.Warnings) == 0 {
		t.Fatalf("got %+v, %v", c, err)
	}
}
