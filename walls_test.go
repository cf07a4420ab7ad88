package toolroom_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestWalls holds the picture of docs/ARCHITECTURE.md: who may know whom.
func TestWalls(t *testing.T) {
	workerSide := []string{"toolroom/internal/worker", "toolroom/internal/engine", "toolroom/internal/wire", "toolroom/internal/sandbox"}
	walls := []struct {
		packages, never []string
		why             string
	}{
		{workerSide, []string{"net/http", "database/sql", "toolroom", "toolroom/internal/store/...", "toolroom/internal/broker/...", "toolroom/internal/registry"},
			"a worker has no authority, so its code has no use for these"},
		{[]string{"toolroom/tool"}, []string{"toolroom", "toolroom/internal/..."}, "the vocabulary knows nobody"},
		{[]string{"toolroom/internal/registry"}, []string{"toolroom/internal/runner", "toolroom/internal/broker/...", "toolroom/internal/engine/..."},
			"rules do not depend on how calls are run"},
		{[]string{"toolroom/internal/runner"}, []string{"toolroom/internal/broker/...", "toolroom/internal/registry", "toolroom/internal/store/..."},
			"the runner asks a Host of one method and knows nothing of capabilities"},
		{[]string{"toolroom/internal/broker"}, []string{"toolroom/internal/registry", "toolroom/internal/engine/..."},
			"the broker answers requests and does not know who carries them"},
		{[]string{"toolroom"}, []string{"toolroom/internal/cli", "toolroom/mcpserver", "toolroom/internal/builtin"}, "faces know the room, never the other way"},
	}
	for _, w := range walls {
		for _, pkg := range w.packages {
			for _, dep := range deps(t, pkg) {
				for _, never := range w.never {
					if dep != pkg && forbidden(dep, never) {
						t.Errorf("%s reaches %s: %s", pkg, dep, w.why)
					}
				}
			}
		}
	}
}

// forbidden says whether dep is the package never or, for "path/...", one below path.
func forbidden(dep, never string) bool {
	if path, below := strings.CutSuffix(never, "..."); below {
		return dep == strings.TrimSuffix(path, "/") || strings.HasPrefix(dep, path)
	}
	return dep == never
}

// TestOneEngine keeps the JavaScript engine behind one package.
func TestOneEngine(t *testing.T) {
	for _, line := range golist(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...") {
		pkg, imports, _ := strings.Cut(line, " ")
		if strings.Contains(imports, "modernc.org/libquickjs") && !strings.HasPrefix(pkg, "toolroom/internal/engine") {
			t.Errorf("%s imports the JavaScript engine; only internal/engine may", pkg)
		}
	}
}

func deps(t *testing.T, pkg string) []string { return golist(t, "-deps", pkg) }

func golist(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
