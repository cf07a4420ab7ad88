package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/tool"
)

func (a *app) testCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "test [NAME…]",
		Short:   "Run the examples of tools (of all, without a name)",
		Example: "  toolroom tool test\n  toolroom tool test greet",
		RunE: func(c *cobra.Command, names []string) error {
			return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error { return a.test(c.Context(), w, names) })
		},
	}
}

// tested is what came of one tool's examples.
type tested struct {
	Name     string                   `json:"name"`
	Examples int                      `json:"examples"`
	Failed   []toolroom.FailedExample `json:"failed"`
}

func (a *app) test(ctx context.Context, w *toolroom.Workspace, names []string) error {
	var tools []tool.Tool
	for _, name := range names {
		t, err := w.Tool(ctx, name)
		if err != nil {
			return err
		}
		tools = append(tools, t)
	}
	if len(names) == 0 {
		var err error
		if tools, err = allTools(ctx, w, toolroom.ListOptions{}); err != nil {
			return err
		}
	}
	results, failed := []tested{}, 0
	for _, t := range tools {
		bad, err := w.Test(ctx, t.Name)
		if err != nil { // such as a tool that cannot be read: the others are tested all the same
			bad = []toolroom.FailedExample{{Example: "all", Expected: "a tool that can be called", Got: tool.AsError(err).Error()}}
		}
		failed += len(bad)
		results = append(results, tested{t.Name, len(t.Current.Definition.Examples), bad})
	}
	if failed == 0 {
		a.printTests(results)
		return nil
	}
	if !a.json { // of which the error is the one value
		a.printTests(results)
	}
	return tool.Errorf(tool.ExampleFailed, "%s failed", plural(failed, "example")).WithDetails(map[string]any{"tools": results})
}

func (a *app) printTests(results []tested) {
	if a.json {
		a.printJSON(map[string]any{"tools": results})
		return
	}
	for _, r := range results {
		state := "ok    "
		if len(r.Failed) > 0 {
			state = "FAILED"
		}
		a.printf("%s  %s  %s\n", state, r.Name, plural(r.Examples, "example"))
		for _, f := range r.Failed {
			a.printf("        %s: expected %s, got %s\n%s", f.Example, f.Expected, f.Got, f.Diff)
		}
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
