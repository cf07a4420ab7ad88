package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"toolroom/internal/cli"
)

// TestNoTextActsOnTheTerminal makes a tool of nothing but text that acts, and looks at everything
// that the program shows of it.
func TestNoTextActsOnTheTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes: not with -short")
	}
	const acts = "\x1b[2J\x1b]0;t\x07 \r\n \u202e\u2066 \u009b31m <script>alert(1)</script> [x](javascript:y)"
	data, root := t.TempDir(), t.TempDir()
	run := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		code := cli.Run(t.Context(), append(args, "--data", data, "--root", root), strings.NewReader(""), &out, &out, func(string) string { return "" })
		if code != want {
			t.Errorf("%q ended with %d, want %d: %s", args, code, want, out.String())
		}
		for _, bad := range []string{"\x1b", "\x07", "\r", "\u202e", "\u2066", "\u009b"} {
			if strings.Contains(out.String(), bad) {
				t.Errorf("%q printed %q", args, bad)
			}
		}
		return out.String()
	}
	schema := `{"type":"object","properties":{"a":{"type":"string","description":"\u001b[2J\u202e"}}}`
	run(0, "tool", "create", "evil", "--description", acts, "--parameters", schema, "--body", "// "+strings.NewReplacer("\r\n", "\n// ").Replace(acts)+"\nconsole.log(args.a); return args.a", "--reason", acts)
	run(0, "tool", "create", "thrower", "--description", acts, "--parameters", schema, "--body", "throw new Error(args.a)")
	for _, json := range [][]string{nil, {"--json"}} {
		if got := run(0, append([]string{"tool", "list"}, json...)...); !strings.Contains(got, "evil") {
			t.Errorf("the list lacks the tool: %s", got)
		}
		run(0, append([]string{"tool", "show", "evil"}, json...)...)
		run(0, append([]string{"tool", "history", "evil"}, json...)...)
		args := `{"a":"\u001b[2J\u0007\r\u202e\u2066\u009b31m"}`
		run(0, append([]string{"call", "evil", "--args", args}, json...)...)
		run(1, append([]string{"call", "thrower", "--args", args}, json...)...)
		run(1, append([]string{"call", acts}, json...)...)
		run(1, append([]string{"call", "evil", "--args", `{"a":["\u001b[2J\u202e"]}`}, json...)...)
		run(1, append([]string{"tool", "edit", "evil", "--body", "return \u202e\x1b[2J"}, json...)...)
		run(2, append([]string{acts}, json...)...)
	}
	run(0, "tool", "edit", "evil", "--body", "return 1 // "+strings.ReplaceAll(acts, "\r\n", ""))
	run(0, "tool", "diff", "evil", "v000000001")
	run(0, "tool", "delete", "evil", "--reason", acts)
}
