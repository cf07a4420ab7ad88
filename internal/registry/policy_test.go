package registry_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolroom/internal/registry"
	"toolroom/tool"
)

func TestAPolicyAnswersByItsFirstRuleThatFits(t *testing.T) {
	policy, err := registry.ParsePolicy([]byte(`{"rules": [
		{"decision": "decline", "widens": {"exec": ["*"], "net": ["evil.example"]}},
		{"decision": "ask", "actions": ["deleted"]},
		{"decision": "approve", "tool": "report_*", "global": false, "widens": {"net": ["*.good.example"], "secrets": ["TEST_*"]}},
		{"decision": "approve", "workspace": "sandbox"}
	], "otherwise": "ask"}`))
	if err != nil {
		t.Fatal(err)
	}
	widen := func(field string, added ...string) registry.Widening {
		return registry.Widening{Field: field, Added: added}
	}
	for _, c := range []struct {
		about string
		q     registry.Question
		want  registry.Decision
	}{
		{"covered", registry.Question{Tool: "report_a", Widens: []registry.Widening{widen("net", "a.good.example"), widen("secrets", "TEST_KEY")}}, registry.Approve},
		{"one thing not covered", registry.Question{Tool: "report_a", Widens: []registry.Widening{widen("net", "a.good.example"), widen("secrets", "KEY")}}, registry.Unanswered},
		{"any host is not covered", registry.Question{Tool: "report_a", Widens: []registry.Widening{widen("net", "any")}}, registry.Decline},
		{"another tool", registry.Question{Tool: "other", Widens: []registry.Widening{widen("net", "a.good.example")}}, registry.Unanswered},
		{"global", registry.Question{Tool: "report_a", Global: true}, registry.Unanswered},
		{"a command", registry.Question{Tool: "report_a", Widens: []registry.Widening{widen("exec", "git")}}, registry.Decline},
		{"a wildcard around a declined host", registry.Question{Tool: "report_a", Widens: []registry.Widening{widen("net", "*.example")}}, registry.Decline},
		{"an action", registry.Question{Tool: "report_a", Action: "deleted"}, registry.Unanswered},
		{"no lists approve no widening", registry.Question{Tool: "x", Asker: at(model(), "sandbox"), Widens: []registry.Widening{widen("files", "write")}}, registry.Unanswered},
		{"no lists approve the rest", registry.Question{Tool: "x", Asker: at(model(), "sandbox"), Global: true}, registry.Approve},
	} {
		c.q.Hash = "h"
		got, err := policy.Approve(t.Context(), c.q)
		if err != nil || got.Decision != c.want || c.want == registry.Approve && got.Hash != "h" {
			t.Errorf("%s: got %+v, %v, want %q", c.about, got, err, c.want)
		}
	}
}

func TestAPolicyThatIsMisspeltDoesNotHold(t *testing.T) {
	for about, text := range map[string]string{
		"not JSON":          `{`,
		"two values":        `{} {}`,
		"unknown field":     `{"rules": [{"decision": "approve", "tools": "a"}]}`,
		"no decision":       `{"rules": [{"tool": "a"}]}`,
		"unknown decision":  `{"rules": [{"decision": "allow"}]}`,
		"unknown otherwise": `{"otherwise": "yes"}`,
		"unknown action":    `{"rules": [{"decision": "ask", "actions": ["create"]}]}`,
		"unknown grant":     `{"rules": [{"decision": "ask", "widens": {"network": []}}]}`,
		"bad pattern":       `{"rules": [{"decision": "ask", "tool": "[a"}]}`,
	} {
		file := filepath.Join(t.TempDir(), "policy.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := registry.LoadPolicy(file)
		if tool.CodeOf(err) != tool.InvalidDefinition || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: got %v", about, err)
		}
	}
	_, err := registry.LoadPolicy(filepath.Join(t.TempDir(), "none.json"))
	wantCode(t, err, tool.InvalidDefinition)
}

func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte(`{"rules": [{"decision": "approve", "tool": "a*", "widens": {"net": ["*.example.com"]}}], "otherwise": "decline"}`))
	f.Add([]byte(`{"rules": [{"decision": "ask", "actions": ["deleted"], "global": true}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := registry.ParsePolicy(b)
		if err != nil {
			return
		}
		q := registry.Question{Tool: "a", Hash: "h", Widens: []registry.Widening{{Field: "exec", Added: []string{"git"}}}}
		a, err := p.Approve(t.Context(), q)
		if err != nil || a.Decision == registry.Approve && a.Hash != q.Hash {
			t.Fatalf("got %+v, %v", a, err)
		}
	})
}
