package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/internal/builtin"
	"toolroom/tool"
)

func (a *app) toolCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "tool",
		Short: "List, show, make and change tools",
		Example: "  toolroom tool list\n" +
			"  toolroom tool show greet\n" +
			"  toolroom tool history greet\n" +
			"  toolroom tool restore greet VERSION",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.listCommand(), a.showCommand(), a.createCommand(), a.editCommand(), a.historyCommand(), a.diffCommand(), a.restoreCommand(),
		a.enableCommand(true), a.enableCommand(false), a.deleteCommand(), a.testCommand(), a.importCommand(), a.exportCommand())
	return c
}

func (a *app) listCommand() *cobra.Command {
	var which toolroom.ListOptions
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the tools of the workspace",
		Example: "  toolroom tool list --query invoice\n  toolroom tool list --disabled --deleted --json",
		Args:    noArgs,
	}
	c.Flags().StringVar(&which.Query, "query", "", "only tools whose name or description contains this")
	c.Flags().BoolVar(&which.Disabled, "disabled", false, "disabled tools too")
	c.Flags().BoolVar(&which.Deleted, "deleted", false, "deleted tools too")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
			tools, err := allTools(c.Context(), w, which)
			if err != nil {
				return err
			}
			return a.printTools(tools)
		})
	}
	return c
}

func allTools(ctx context.Context, w *toolroom.Workspace, which toolroom.ListOptions) ([]tool.Tool, error) {
	tools := []tool.Tool{}
	for {
		page, err := w.Tools(ctx, which)
		if err != nil {
			return nil, err
		}
		tools = append(tools, page.Tools...)
		if page.Next == "" {
			return tools, nil
		}
		which.Cursor = page.Next
	}
}

func (a *app) printTools(tools []tool.Tool) error {
	if a.json {
		a.printJSON(map[string]any{"tools": tools})
		return nil
	}
	if len(tools) == 0 {
		a.printf("No tools here yet. Make one with: toolroom tool create --help\n")
		return nil
	}
	t := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tVERSION\tBY\tSTATE\tDESCRIPTION")
	for _, x := range tools {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", inertLine(x.Name), x.Current.Number, x.Source, state(x), shorten(inertLine(x.Current.Definition.Description), 60))
	}
	return t.Flush()
}

func state(t tool.Tool) string {
	switch {
	case t.Deleted:
		return "deleted"
	case t.Broken != nil:
		return "broken"
	case t.Shadowed:
		return "shadowed"
	case !t.Enabled:
		return "disabled"
	}
	return "on"
}

func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func (a *app) showCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "show NAME",
		Short:   "Show a tool: schema, body, what it may do",
		Example: "  toolroom tool show greet\n  toolroom tool show greet --version VERSION --json\n  toolroom tool show greet --provider openai-strict",
		Args:    exactly("NAME"),
	}
	version := c.Flags().String("version", "", "an earlier version instead of the current one")
	provider := c.Flags().String("provider", "", "only the schema, as it is sent to "+strings.Join(toolroom.Providers(), ", "))
	c.RunE = func(c *cobra.Command, words []string) error {
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
			t, err := w.Tool(c.Context(), words[0])
			if err == nil && *version != "" {
				t.Current, err = w.Version(c.Context(), words[0], *version)
			}
			if err != nil {
				return err
			}
			if *provider != "" {
				return a.printSent(*provider, t)
			}
			last, err := w.LastChange(c.Context(), t)
			if err != nil {
				return err
			}
			return a.printTool(t, last)
		})
	}
	return c
}

func (a *app) printTool(t tool.Tool, last toolroom.Event) error {
	if a.json {
		a.printJSON(t)
		return nil
	}
	d := t.Current.Definition
	a.printf("%s  (%s, by %s, version %d)\n%s\n\n%s\n\n", inertLine(t.Name), state(t), t.Source, t.Current.Number, t.Current.ID, d.Description)
	if last.Revision > 0 && (t.Deleted || !t.Enabled) {
		a.printf("%s by %s %s: %s\n\n", last.Action, last.Author.Kind, inertLine(last.Author.ID), inertLine(cmp.Or(last.Reason, "no reason given")))
	}
	a.printf("Parameters\n%s\n\nBody\n%s\n\nWhat it may do\n", indent(string(d.Parameters)), numbered(d.Body))
	for _, words := range builtin.Grants(d) {
		a.printf("  %s\n", words)
	}
	for _, e := range d.Examples {
		a.printf("  example %s: %s\n", inertLine(e.Name), string(e.Args))
	}
	return nil
}

// printSent prints a tool's schema in a provider's form, and what that provider would have refused.
func (a *app) printSent(provider string, t tool.Tool) error {
	if err := oneOf("--provider", provider, toolroom.Providers()...); err != nil {
		return err
	}
	sent, err := toolroom.SchemaFor(provider, t.Current.Definition.Parameters)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(sent)
		return nil
	}
	a.printf("%s\n", indent(string(sent.Parameters)))
	for _, w := range sent.Warnings {
		a.printf("warning: %s: %s\n", inertLine(w.Path), inertLine(w.Message))
	}
	return nil
}

func indent(raw string) string {
	var v any
	if json.Unmarshal([]byte(raw), &v) != nil {
		return raw
	}
	b, err := json.MarshalIndent(v, "  ", "  ")
	if err != nil {
		return raw
	}
	return "  " + string(b)
}

func numbered(body string) string {
	lines := strings.Split(strings.TrimRight(body, "\n"), "\n")
	for i, line := range lines {
		lines[i] = fmt.Sprintf("%4d  %s", i+1, line)
	}
	return strings.Join(lines, "\n")
}

// printChange prints what a change did.
func (a *app) printChange(c tool.Change, err error, what string) error {
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(c)
		return nil
	}
	a.printf("%s: %s, version %d (%s)\n", inertLine(c.Tool.Name), what, c.Tool.Current.Number, c.Tool.Current.ID)
	for _, w := range c.Warnings {
		a.printf("warning: %s: %s\n", inertLine(strings.TrimSuffix(w.About+" "+w.Path, " ")), inertLine(w.Message))
	}
	return nil
}
