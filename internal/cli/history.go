package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/tool"
)

func (a *app) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "history NAME",
		Short:   "List the versions of a tool, newest first",
		Example: "  toolroom tool history greet",
		Args:    exactly("NAME"),
		RunE: func(c *cobra.Command, words []string) error {
			return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
				versions, err := allVersions(c.Context(), w, words[0])
				if err != nil {
					return err
				}
				return a.printVersions(versions)
			})
		},
	}
}

func allVersions(ctx context.Context, w *toolroom.Workspace, name string) ([]tool.Version, error) {
	var versions []tool.Version
	for cursor := ""; ; {
		page, err := w.History(ctx, name, cursor)
		if err != nil {
			return nil, err
		}
		versions = append(versions, page.Versions...)
		if cursor = page.Next; cursor == "" {
			return versions, nil
		}
	}
}

func (a *app) printVersions(versions []tool.Version) error {
	if a.json {
		a.printJSON(map[string]any{"versions": versions})
		return nil
	}
	t := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "#\tVERSION\tWHEN\tBY\tCHANGED\tREASON")
	for _, v := range versions {
		by := strings.TrimSuffix(string(v.Author.Kind)+" "+v.Author.ID, " ")
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", v.Number, v.ID, v.Created.Format(time.DateTime), inertLine(by),
			inertLine(strings.Join(v.Changed, ", ")), inertLine(v.Reason))
	}
	return t.Flush()
}

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "diff NAME FROM [TO]",
		Short:   "Show what differs between two versions (TO: the current one)",
		Example: "  toolroom tool diff greet VERSION\n  toolroom tool diff greet VERSION VERSION",
		Args: func(c *cobra.Command, words []string) error {
			if len(words) == 2 || len(words) == 3 {
				return nil
			}
			return usage(c, fmt.Errorf("%s takes NAME, FROM and perhaps TO", c.CommandPath()))
		},
		RunE: func(c *cobra.Command, words []string) error {
			return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
				to := ""
				if len(words) == 3 {
					to = words[2]
				}
				return a.diff(c.Context(), w, words[0], words[1], to)
			})
		},
	}
}

func (a *app) diff(ctx context.Context, w *toolroom.Workspace, name, from, to string) error {
	d, err := w.Diff(ctx, name, from, to)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(d)
		return nil
	}
	a.printDiff(d)
	return nil
}

func (a *app) printDiff(d toolroom.Diff) {
	if len(d.Fields) == 0 && d.Body == "" {
		a.printf("The versions are the same.\n")
	}
	a.printChanges(d)
}

func (a *app) printChanges(d toolroom.Diff) {
	for _, f := range d.Fields {
		a.printf("%s\n- %s\n+ %s\n", f.Field, f.From, f.To)
	}
	if d.Body != "" {
		a.printf("body\n%s", d.Body)
	}
}

func (a *app) restoreCommand() *cobra.Command {
	return a.changeCommand("restore NAME VERSION", "Make an earlier version current again; also undoes a delete",
		"  toolroom tool restore greet VERSION", "restored", []string{"NAME", "VERSION"},
		func(ctx context.Context, w *toolroom.Workspace, words []string, how toolroom.ChangeOptions) (tool.Change, error) {
			return w.Restore(ctx, words[0], words[1], how)
		})
}

func (a *app) enableCommand(on bool) *cobra.Command {
	use, short, done := "enable", "Offer a disabled tool again", "enabled"
	if !on {
		use, short, done = "disable", "Keep a tool but stop offering it", "disabled"
	}
	return a.changeCommand(use+" NAME", short, "  toolroom tool "+use+" greet", done, []string{"NAME"},
		func(ctx context.Context, w *toolroom.Workspace, words []string, how toolroom.ChangeOptions) (tool.Change, error) {
			return w.SetEnabled(ctx, words[0], on, how)
		})
}

func (a *app) deleteCommand() *cobra.Command {
	return a.changeCommand("delete NAME", "Delete a tool; its versions stay, and restore brings it back",
		"  toolroom tool delete greet", "deleted; to undo, restore this", []string{"NAME"},
		func(ctx context.Context, w *toolroom.Workspace, words []string, how toolroom.ChangeOptions) (tool.Change, error) {
			return w.Delete(ctx, words[0], how)
		})
}

// changeCommand is a command that makes one change and prints it.
func (a *app) changeCommand(use, short, example, done string, words []string,
	do func(context.Context, *toolroom.Workspace, []string, toolroom.ChangeOptions) (tool.Change, error)) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Example: example, Args: exactly(words...)}
	var how toolroom.ChangeOptions
	c.Flags().StringVar(&how.Reason, "reason", "", "why, kept in the history")
	c.Flags().StringVar(&how.Expect, "if-version", "", "only if this is still the current version")
	c.RunE = func(c *cobra.Command, words []string) error {
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
			change, err := do(c.Context(), w, words, how)
			return a.printChange(change, err, done)
		})
	}
	return c
}
