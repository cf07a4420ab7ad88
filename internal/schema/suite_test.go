package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shared finds the data that tests read in place.
func shared(t *testing.T, path string) string {
	t.Helper()
	root := os.Getenv("TOOLROOM_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	full := filepath.Join(root, path)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("no test data at %s; set TOOLROOM_SHARED", full)
	}
	return full
}

type suiteGroup struct {
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Tests       []struct {
		Description string          `json:"description"`
		Data        json.RawMessage `json:"data"`
		Valid       bool            `json:"valid"`
	} `json:"tests"`
}

// TestSuite runs the official JSON Schema test suite. Every case must pass but
// those that differences lists, and those must fail.
func TestSuite(t *testing.T) {
	root := shared(t, "data/json-schema/tests")
	for _, draft := range []string{"draft2020-12", "draft7"} {
		passed, failed := 0, 0
		for _, file := range suiteFiles(t, filepath.Join(root, draft)) {
			name, _ := filepath.Rel(root, file)
			for _, g := range readSuite(t, file) {
				p, f := runGroup(t, draft, filepath.ToSlash(name), g)
				passed, failed = passed+p, failed+f
			}
		}
		t.Logf("%s: %d of %d cases as the suite says, %d differ on purpose", draft, passed, passed+failed, failed)
	}
}

func suiteFiles(t *testing.T, dir string) []string {
	var out []string
	for _, pattern := range []string{"*.json", "optional/*.json"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
	}
	if len(out) < 30 {
		t.Fatalf("only %d files in %s", len(out), dir)
	}
	return out
}

func readSuite(t *testing.T, file string) []suiteGroup {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []suiteGroup
	if err := json.Unmarshal(data, &groups); err != nil {
		t.Fatal(err)
	}
	return groups
}

func runGroup(t *testing.T, draft, file string, g suiteGroup) (passed, failed int) {
	s, err := CompileOutput(withDialect(g.Schema, draft))
	for _, c := range g.Tests {
		name := fmt.Sprintf("%s: %s: %s", file, g.Description, c.Description)
		problem := ""
		if err != nil {
			problem = err.Error()
		} else if got := s.ValidateOutput(c.Data); (got == nil) != c.Valid {
			problem = fmt.Sprintf("valid %v, want %v: %v", got == nil, c.Valid, got)
		}
		reason := difference(name)
		switch {
		case problem == "":
			passed++
			if reason != "" {
				t.Errorf("%s passes, but is listed as a difference: %s", name, reason)
			}
		default:
			failed++
			if reason == "" {
				t.Errorf("%s: %s", name, problem)
			}
		}
	}
	return passed, failed
}

// withDialect names the draft in schemas of draft 7, which the suite leaves out.
func withDialect(raw json.RawMessage, draft string) json.RawMessage {
	if draft != "draft7" || !strings.HasPrefix(string(raw), "{") || strings.Contains(string(raw), `"$schema"`) {
		return raw
	}
	rest := strings.TrimSpace(strings.TrimPrefix(string(raw), "{"))
	comma := ","
	if strings.HasPrefix(rest, "}") {
		comma = ""
	}
	return json.RawMessage(`{"$schema": "http://json-schema.org/draft-07/schema#"` + comma + rest)
}

// difference is why a case of the suite is answered differently, or "".
func difference(name string) string {
	for _, d := range differences() {
		for _, prefix := range d.cases {
			if strings.HasPrefix(name, prefix) {
				return d.reason
			}
		}
	}
	return ""
}

type deliberate struct {
	reason string
	cases  []string // prefixes of "file: group: test"
}

// differences lists every case that is answered otherwise than the suite does.
func differences() []deliberate {
	return []deliberate{
		{"nothing is ever loaded: a reference that leads out of the schema is refused when it is saved", []string{
			"draft2020-12/refRemote.json: ",
			"draft2020-12/dynamicRef.json: strict-tree schema, guards against misspelled properties: ",
			"draft2020-12/dynamicRef.json: tests for implementation dynamic anchor and reference link: ",
			"draft2020-12/dynamicRef.json: $ref and $dynamicAnchor are independent of order",
			"draft2020-12/dynamicRef.json: $ref to $dynamicRef finds detached $dynamicAnchor: ",
			"draft2020-12/optional/cross-draft.json: ",
			"draft7/refRemote.json: ",
			"draft7/optional/cross-draft.json: ",
		}},
		{"only the dialects 2020-12 and 7 are accepted: a $schema of someone's own would have to be loaded", []string{
			"draft2020-12/vocabulary.json: schema that uses custom metaschema with with no validation vocabulary: ",
			"draft2020-12/vocabulary.json: ignore unrecognized optional vocabulary: ",
			"draft2020-12/optional/format-assertion.json: ",
		}},
		{"contentEncoding and contentMediaType are annotations in draft 7 as they are in 2020-12", []string{
			"draft7/optional/content.json: validation of string-encoded content based on media type: an invalid JSON document",
			"draft7/optional/content.json: validation of binary string-encoding: an invalid base64 string (% is not a valid character)",
			"draft7/optional/content.json: validation of binary-encoded media type documents: a validly-encoded invalid JSON document",
			"draft7/optional/content.json: validation of binary-encoded media type documents: an invalid base64 string that is valid JSON",
		}},
	}
}
