package platform

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// shared is where the public test data lies, which is no part of the project.
func shared(t *testing.T, name string, into any) {
	t.Helper()
	dir := os.Getenv("TOOLROOM_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	b, err := os.ReadFile(filepath.Join(dir, "data", "url", name))
	if err != nil {
		t.Skipf("the web platform's URL tests are not here (set TOOLROOM_SHARED): %v", err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

func partNames() []string {
	return []string{"href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash", "origin"}
}

func TestURLParsing(t *testing.T) {
	var cases []any
	shared(t, "urltestdata.json", &cases)
	ran, failed := 0, 0
	for _, c := range cases {
		c, ok := c.(map[string]any)
		if !ok {
			continue // a comment
		}
		ran++
		if !checkParse(t, c) {
			failed++
		}
	}
	t.Logf("%d of %d: %.2f%%", ran-failed, ran, 100*float64(ran-failed)/float64(ran))
}

func checkParse(t *testing.T, c map[string]any) bool {
	got, err := parseURL(Args{c["input"], c["base"]})
	if err != nil {
		t.Fatal(err)
	}
	list, ok := got.([]any)
	if c["failure"] == true {
		if ok {
			t.Errorf("%q against %v parsed as %v", c["input"], c["base"], list[0])
		}
		return !ok
	}
	if !ok {
		t.Errorf("%q against %v: %v", c["input"], c["base"], got)
		return false
	}
	good := true
	for n, name := range partNames() {
		if want, there := c[name]; there && want != list[n] {
			t.Errorf("%q against %v: %s is %q, want %q", c["input"], c["base"], name, list[n], want)
			good = false
		}
	}
	return good
}

func TestURLSetters(t *testing.T) {
	var groups map[string]json.RawMessage
	shared(t, "setters_tests.json", &groups)
	ran, failed := 0, 0
	for part, raw := range groups {
		var cases []struct {
			Href, NewValue string
			Expected       map[string]string
		}
		if part == "comment" {
			continue
		}
		if err := json.Unmarshal([]byte(renameNewValue(raw)), &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			ran++
			if !checkSetter(t, part, c.Href, c.NewValue, c.Expected) {
				failed++
			}
		}
	}
	t.Logf("%d of %d: %.2f%%", ran-failed, ran, 100*float64(ran-failed)/float64(ran))
}

func renameNewValue(raw json.RawMessage) string {
	var list []map[string]any
	json.Unmarshal(raw, &list)
	for _, c := range list {
		c["NewValue"] = c["new_value"]
	}
	b, _ := json.Marshal(list)
	return string(b)
}

func checkSetter(t *testing.T, part, href, value string, want map[string]string) bool {
	var got any
	if part == "href" {
		got, _ = parseURL(Args{value})
	} else {
		got, _ = setURL(Args{href, part, value})
	}
	list, ok := got.([]any)
	if !ok {
		first, _ := parseURL(Args{href})
		list = first.([]any) // a setter that fails changes nothing
	}
	good := true
	for n, name := range partNames() {
		if v, there := want[name]; there && v != list[n] {
			t.Errorf("%q.%s = %q: %s is %q, want %q", href, part, value, name, list[n], v)
			good = false
		}
	}
	return good
}

func TestURLToASCII(t *testing.T) {
	var cases []any
	shared(t, "toascii.json", &cases)
	ran, failed := 0, 0
	for _, c := range cases {
		c, ok := c.(map[string]any)
		if !ok {
			continue
		}
		ran++
		got, _ := parseURL(Args{"https://" + c["input"].(string) + "/x"})
		var host any
		if list, ok := got.([]any); ok {
			host = list[4]
		}
		if host != c["output"] {
			failed++
			t.Errorf("%q is %v, want %v (%v)", c["input"], host, c["output"], c["comment"])
		}
	}
	t.Logf("%d of %d: %.2f%%", ran-failed, ran, 100*float64(ran-failed)/float64(ran))
}
