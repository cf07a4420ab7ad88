package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	exp "github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/tool"
)

func (a *app) exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "export DIR",
		Short:   "Write all tools into a folder, to be kept in git",
		Long:    "Writes two files per tool: NAME.json has the definition, NAME.js or NAME.ts the body. Files of tools that are gone are left alone.",
		Example: "  toolroom tool export tools && git add tools",
		Args:    exactly("DIR"),
		RunE: func(c *cobra.Command, words []string) error {
			return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
				tools, err := allTools(c.Context(), w, toolroom.ListOptions{Disabled: true})
				if err != nil {
					return err
				}
				return a.export(tools, words[0])
			})
		},
	}
}

func (a *app) export(tools []tool.Tool, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usageError{err}
	}
	names := []string{}
	for _, t := range tools {
		if t.Broken != nil {
			return t.Broken
		}
		if err := exportOne(t.Current.Definition, dir); err != nil {
			return usageError{err}
		}
		names = append(names, t.Name)
	}
	if a.json {
		a.printJSON(map[string]any{"exported": names})
		return nil
	}
	a.printf("%s written to %s\n", plural(len(names), "tool"), dir)
	return nil
}

func exportOne(d tool.Definition, dir string) error {
	body := d.Body
	d.Body = ""
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	delete(fields, "body") // it has a file of its own
	if b, err = json.MarshalIndent(fields, "", "  "); err != nil {
		return err
	}
	base := filepath.Join(dir, d.Name)
	return errors.Join(os.WriteFile(base+".json", append(b, '\n'), 0o644), os.WriteFile(base+extension(d.Language), []byte(body), 0o644))
}

func extension(lang tool.Language) string {
	if lang == tool.TypeScript {
		return ".ts"
	}
	return ".js"
}

func (a *app) importCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "import DIR",
		Short:   "Read tools from a folder that export wrote: shows what would change, asks, applies all or nothing",
		Example: "  toolroom tool import tools\n  toolroom tool import tools --yes --json",
		Args:    exactly("DIR"),
	}
	yes := c.Flags().Bool("yes", false, "do not ask")
	c.RunE = func(c *cobra.Command, words []string) error {
		defs, err := readFolder(words[0])
		if err != nil {
			return usageError{err}
		}
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error { return a.importAll(c.Context(), w, defs, *yes) })
	}
	return c
}

func readFolder(dir string) ([]tool.Definition, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no NAME.json in this folder", dir)
	}
	slices.Sort(files)
	var defs []tool.Definition
	for _, file := range files {
		d, err := readOne(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		defs = append(defs, d)
	}
	return defs, nil
}

func readOne(file string) (d tool.Definition, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return d, err
	}
	if err := exp.Unmarshal(b, &d, exp.RejectUnknownMembers(true)); err != nil {
		return d, err
	}
	body, err := os.ReadFile(strings.TrimSuffix(file, ".json") + extension(d.Language))
	d.Body = string(body)
	return d, err
}

// planned is one change that an import would make.
type planned struct {
	Name   string `json:"name"`
	Action string `json:"action"` // create, update, same
	def    tool.Definition
	before *tool.Tool
}

func plan(ctx context.Context, w *toolroom.Workspace, defs []tool.Definition) ([]planned, error) {
	var steps []planned
	for _, d := range defs {
		p := planned{Name: d.Name, Action: "create", def: d}
		t, err := w.Tool(ctx, d.Name)
		switch {
		case err == nil && !t.Deleted:
			p.Action, p.before = "update", &t
			if sameDefinition(t.Current.Definition, d) {
				p.Action = "same"
			}
		case err != nil && tool.CodeOf(err) != tool.NotFound:
			return nil, err
		}
		steps = append(steps, p)
	}
	return steps, nil
}

func sameDefinition(a, b tool.Definition) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func (a *app) importAll(ctx context.Context, w *toolroom.Workspace, defs []tool.Definition, yes bool) error {
	steps, err := plan(ctx, w, defs)
	if err != nil {
		return err
	}
	if !a.json {
		for _, p := range steps {
			a.printf("%-6s  %s\n", p.Action, inertLine(p.Name))
		}
	}
	if !yes && !a.confirm() {
		return tool.Errorf(tool.ApprovalDeclined, "nothing was imported").WithHint("Answer y, or give --yes.")
	}
	if err := apply(ctx, w, steps); err != nil {
		return err
	}
	if a.json {
		a.printJSON(map[string]any{"imported": steps})
	}
	return nil
}

func (a *app) confirm() bool {
	fmt.Fprint(a.err, "Apply these changes? [y/N] ")
	line, _ := bufio.NewReader(a.in).ReadString('\n') // the end of input is a no
	return strings.EqualFold(strings.TrimSpace(line), "y")
}

// apply makes the changes one after the other. When one is refused, those before
// it are undone.
func apply(ctx context.Context, w *toolroom.Workspace, steps []planned) error {
	how := toolroom.CreateOptions{IfExists: toolroom.Replace, ChangeOptions: toolroom.ChangeOptions{Reason: "imported"}}
	for i, p := range steps {
		if p.Action == "same" {
			continue
		}
		if _, err := w.Create(ctx, p.def, how); err != nil {
			return errors.Join(named(p.Name, err), undo(context.WithoutCancel(ctx), w, steps[:i]))
		}
	}
	return nil
}

func named(name string, err error) error {
	e := tool.AsError(err)
	e.Message = name + ": " + e.Message
	return e
}

func undo(ctx context.Context, w *toolroom.Workspace, done []planned) error {
	how := toolroom.ChangeOptions{Reason: "import undone"}
	var failed error
	for _, p := range slices.Backward(done) {
		var err error
		switch p.Action {
		case "create":
			_, err = w.Delete(ctx, p.Name, how)
		case "update":
			_, err = w.Restore(ctx, p.Name, p.before.Current.ID, how)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
