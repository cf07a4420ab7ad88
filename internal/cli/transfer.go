package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/tool"
)

func (a *app) exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "export DIR",
		Short:   "Write all tools into a folder, to be kept in git",
		Long:    "Writes two files per tool: NAME.json has the definition, NAME.js or NAME.ts the body. Files of tools that are gone are named and left alone.",
		Example: "  toolroom tool export tools && git add tools",
		Args:    exactly("DIR"),
		RunE: func(c *cobra.Command, words []string) error {
			return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
				names, stale, err := w.Export(c.Context(), words[0])
				if err != nil {
					return err
				}
				a.printExport(words[0], names, stale)
				return nil
			})
		},
	}
}

func (a *app) printExport(dir string, names, stale []string) {
	if a.json {
		a.printJSON(map[string]any{"exported": names, "stale": stale})
		return
	}
	a.printf("%s written to %s\n", plural(len(names), "tool"), dir)
	for _, file := range stale {
		a.printf("no tool has %s any more\n", inertLine(file))
	}
}

func (a *app) importCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "import DIR",
		Short:   "Read tools from a folder that export wrote: shows what would change, asks, applies all or nothing",
		Example: "  toolroom tool import tools\n  toolroom tool import tools --yes --json",
		Args:    exactly("DIR"),
	}
	yes := c.Flags().Bool("yes", false, "do not ask")
	reason := c.Flags().String("reason", "", "why, kept in the history")
	c.RunE = func(c *cobra.Command, words []string) error {
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
			plan, err := w.Import(c.Context(), words[0], *reason)
			if err != nil {
				return err
			}
			return a.carryOut(c.Context(), plan, *yes)
		})
	}
	return c
}

// carryOut shows a plan, asks, and applies it.
func (a *app) carryOut(ctx context.Context, plan *toolroom.Plan, yes bool) error {
	if !a.json {
		a.printPlan(plan)
	}
	if !yes && !a.confirm() {
		return tool.Errorf(tool.ApprovalDeclined, "nothing was imported").WithHint("Answer y, or give --yes.")
	}
	if err := plan.Apply(ctx, nil); err != nil {
		return err
	}
	if a.json {
		a.printJSON(plan)
	}
	return nil
}

func (a *app) printPlan(plan *toolroom.Plan) {
	for _, step := range plan.Steps {
		action := string(step.Action)
		if action == "" {
			action = "same"
		}
		a.printf("%-8s  %s\n", action, inertLine(step.Name))
		if step.Action != "" {
			a.printChanges(step.Diff)
		}
	}
}

func (a *app) confirm() bool {
	fmt.Fprint(a.err, "Apply these changes? [y/N] ")
	line, _ := bufio.NewReader(a.in).ReadString('\n') // the end of input is a no
	return strings.EqualFold(strings.TrimSpace(line), "y")
}
