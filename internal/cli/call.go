package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/tool"
)

func (a *app) callCommand() *cobra.Command {
	var args string
	c := &cobra.Command{
		Use:   "call NAME",
		Short: "Call a tool and print what it returns",
		Example: "  toolroom call add --args '{\"a\":1,\"b\":2}'\n" +
			"  toolroom call add --args @args.json\n" +
			"  echo '{\"a\":1,\"b\":2}' | toolroom call add --args -",
		Args: exactly("NAME"),
	}
	a.operatorFlags(c)
	c.Flags().StringVar(&args, "args", "{}", "the arguments: JSON, @FILE, or - for standard input")
	c.RunE = func(c *cobra.Command, words []string) error {
		given, err := a.jsonValue("--args", args)
		if err != nil {
			return err
		}
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
			out, err := w.View(a.hooks()).Call(c.Context(), words[0], given)
			return a.printOutcome(out, err)
		})
	}
	return c
}

func (a *app) runCommand() *cobra.Command {
	var args, scope, language string
	var grant []string
	c := &cobra.Command{
		Use:   "run FILE.js",
		Short: "Run a body once, saving nothing",
		Example: "  toolroom run sum.js --args '{\"n\":[1,2,3]}'\n" +
			"  toolroom run notes.ts --scope workspace --grant files=read\n" +
			"  echo 'return 6 * 7' | toolroom run -",
		Args: exactly("FILE.js"),
	}
	a.operatorFlags(c)
	c.Flags().StringVar(&args, "args", "{}", "the arguments: JSON, @FILE, or - for standard input")
	c.Flags().StringVar(&scope, "scope", "", "global, or workspace: with the workspace's files")
	c.Flags().StringVar(&language, "language", "", "javascript or typescript (default: by the file's name)")
	c.Flags().StringArrayVar(&grant, "grant", nil, grantHelp)
	c.RunE = func(c *cobra.Command, words []string) error {
		def, given, err := a.once(words[0], args, scope, language, grant)
		if err != nil {
			return err
		}
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
			out, err := w.View(a.hooks()).Run(c.Context(), def, given)
			return a.printOutcome(out, err)
		})
	}
	return c
}

// once is the definition of a body that is run and not kept.
func (a *app) once(file, args, scope, language string, grant []string) (tool.Definition, json.RawMessage, error) {
	def := tool.Definition{Scope: tool.Scope(scope), Language: languageOf(file, language)}
	given, err := a.jsonValue("--args", args)
	if err != nil {
		return def, nil, err
	}
	if file != "-" {
		file = "@" + file
	}
	if def.Body, err = a.value("FILE", file); err != nil {
		return def, nil, err
	}
	if len(grant) > 0 {
		raw, err := a.grant(grant)
		if err != nil {
			return def, nil, err
		}
		if err := json.Unmarshal(raw, &def.Grant); err != nil {
			return def, nil, usageError{err: fmt.Errorf("--grant: %w", err)}
		}
	}
	return def, given, nil
}

// languageOf is the language said, else the one that the name of a file tells.
func languageOf(file, said string) tool.Language {
	if said == "" && (strings.HasSuffix(file, ".ts") || strings.HasSuffix(file, ".mts")) {
		return tool.TypeScript
	}
	return tool.Language(said)
}

// hooks show a call's log and progress on standard error, as they come.
func (a *app) hooks() toolroom.Hooks {
	if a.json {
		return toolroom.Hooks{}
	}
	return toolroom.Hooks{
		Log: func(l tool.LogLine) { fmt.Fprintf(a.err, "%s: %s\n", l.Level, inert(l.Text)) },
		Progress: func(p tool.Progress) {
			of := ""
			if p.Total > 0 {
				of = fmt.Sprintf(" of %g", p.Total)
			}
			fmt.Fprintf(a.err, "progress: %g%s %s\n", p.Done, of, inertLine(p.Message))
		},
	}
}

// printOutcome prints what a call gave: the value itself when it is a string, else its JSON.
func (a *app) printOutcome(out tool.Outcome, err error) error {
	switch {
	case err != nil:
		return err
	case a.json:
		a.printJSON(out)
		return nil
	}
	var text string
	if json.Unmarshal(out.Value, &text) == nil && len(out.Value) > 0 && out.Value[0] == '"' {
		a.printf("%s\n", text)
		return nil
	}
	fmt.Fprintln(a.out, inertJSON(string(out.Value)))
	return nil
}

// colour says whether the output is a terminal that wants colour.
func (a *app) colour() bool {
	f, ok := a.out.(*os.File)
	if !ok || a.getenv("NO_COLOR") != "" || a.getenv("TERM") == "dumb" || a.json {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
