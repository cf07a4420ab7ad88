package platform

import (
	"regexp"
	"strings"
	"testing"
)

// What a script takes from internals and does not use is read by every isolate that starts, and by every reader.
func TestScriptsUseWhatTheyTake(t *testing.T) {
	scripts, err := Scripts()
	if err != nil {
		t.Fatal(err)
	}
	taken := regexp.MustCompile(`(?m)^const \{([^}]*)\} = internals`)
	for _, s := range scripts {
		for _, m := range taken.FindAllStringSubmatch(s.Source, -1) {
			for _, part := range strings.Split(m[1], ",") {
				_, local, renamed := strings.Cut(part, ":")
				if !renamed {
					local = part
				}
				name := strings.TrimSpace(local)
				if name != "" && len(regexp.MustCompile(`\b`+name+`\b`).FindAllString(s.Source, 2)) < 2 {
					t.Errorf("%s takes %s and does not use it", s.Name, name)
				}
			}
		}
	}
}
