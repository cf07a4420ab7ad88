package engine

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// nodeRunner runs a body as a tool's and prints its result, in Node.
const nodeRunner = `
const AsyncFunction = (async () => {}).constructor;
const [body, args] = JSON.parse(require('fs').readFileSync(0, 'utf8'));
new AsyncFunction('args', body)(args).then((v) => { process.stdout.write(JSON.stringify(v), () => process.exit(0)); });
`

// TestPrograms runs each program here and in Node, and compares what they return.
func TestPrograms(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: programs cannot be compared")
	}
	files, err := filepath.Glob("platform/testdata/programs/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	e, base := newEngine(t), webServer(t)
	args, _ := json.Marshal(map[string]string{"base": base})
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if testing.Short() && strings.HasPrefix(filepath.Base(file), "intl-") {
				t.Skip("thousands of formats, minutes under the race detector: run without -short")
			}
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			h := newWebHost()
			out, meta := h.run(t, e, string(body), string(args))
			if meta.Error != nil {
				t.Fatalf("%+v %q", meta.Error, h.lines)
			}
			compare(t, []byte(out), inNode(t, node, string(body), args))
			if len(h.lines) > 0 {
				t.Logf("log: %q", h.lines)
			}
		})
	}
}

func inNode(t *testing.T, node, body string, args json.RawMessage) []byte {
	t.Helper()
	in, _ := json.Marshal([]any{body, args})
	cmd := exec.Command(node, "--no-warnings", "-e", nodeRunner)
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("node: %v %s", err, stderr.String())
	}
	return out
}

// compare shows the members that differ.
func compare(t *testing.T, here, there []byte) {
	t.Helper()
	var a, b any
	if json.Unmarshal(here, &a) != nil || json.Unmarshal(there, &b) != nil {
		t.Fatalf("not JSON: %s | %s", here, there)
	}
	ma, ok1 := a.(map[string]any)
	mb, ok2 := b.(map[string]any)
	if !ok1 || !ok2 {
		if !reflect.DeepEqual(a, b) {
			t.Errorf("here %s\nnode %s", here, there)
		}
		return
	}
	for key := range mb {
		if !reflect.DeepEqual(ma[key], mb[key]) {
			x, _ := json.Marshal(ma[key])
			y, _ := json.Marshal(mb[key])
			t.Errorf("%s:\nhere %s\nnode %s", key, x, y)
		}
	}
	if len(ma) != len(mb) {
		t.Errorf("here %d members, in Node %d", len(ma), len(mb))
	}
}
