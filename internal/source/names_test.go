package source

import (
	"slices"
	"strings"
	"testing"
)

// TestAdvice holds the tables together: a name stands in one row, and what points to another row finds it.
func TestAdvice(t *testing.T) {
	names := slices.Concat(nodeNames(), browserNames(), libraryNames(), parameterNames(), []advice{{ctxNames, ""}})
	modules := slices.Concat(goneModules(), modulesLikeNames())
	for kind, table := range map[string][]advice{"names": names, "modules": modules} {
		seen := map[string]bool{}
		for _, a := range table {
			for _, name := range strings.Fields(a.names) {
				if seen[name] {
					t.Errorf("%s: %s stands in two rows", kind, name)
				}
				seen[name] = true
			}
		}
	}
	for _, a := range modules {
		for _, name := range strings.Fields(a.names) {
			if moduleReplacement(name) == "" || moduleReplacement("node:"+name) != moduleReplacement(name) {
				t.Errorf("there is no advice for the module %s", name)
			}
		}
	}
	for _, name := range watched() {
		if identifierHint(name) == "" {
			t.Errorf("the use of %s is told without advice", name)
		}
	}
	for name, want := range map[string]string{"$city": "write args.city", "fetchJson": "Write ctx.fetchJson.", "$": "", "total": ""} {
		if got := identifierHint(name); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
