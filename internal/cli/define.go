package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	exp "github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolroom"
	"toolroom/tool"
)

const grantHelp = `a capability: net=HOST,HOST or net=none, call=TOOL, secrets=NAME, exec=COMMAND, files=none|read|write (repeatable), or all of it as JSON`

// definition is the flags that hold the fields of a tool, the same for create and edit.
type definition struct {
	text  map[string]*string // flag → what was given; @FILE and - are read later
	grant []string
}

// textFields are the fields given as they are, jsonFields those given as JSON.
func textFields() [][2]string {
	return [][2]string{
		{"description", "what the tool does, when to use it, what it returns"},
		{"body", "the body: text, @FILE, or - for standard input"},
		{"language", "javascript or typescript (default: by the name of the body's file)"},
		{"runtime", "isolate or node"},
		{"scope", "global, or workspace: with the workspace's files"},
		{"location", "workspace, or global: in every workspace"},
	}
}

func jsonFields() [][2]string {
	return [][2]string{
		{"parameters", "JSON Schema of the arguments: JSON, @FILE or -"},
		{"output-schema", "JSON Schema that results must meet: JSON, @FILE or -"},
		{"examples", "list of {name, args, result or error}: JSON, @FILE or -"},
		{"annotations", "{title, read_only, destructive, idempotent, open_world}: JSON, @FILE or -"},
		{"limits", "{timeout_ms, memory_mb, max_result_bytes}: JSON, @FILE or -"},
	}
}

func definitionFlags(f *pflag.FlagSet) *definition {
	d := &definition{text: map[string]*string{}}
	for _, field := range append(textFields(), jsonFields()...) {
		d.text[field[0]] = f.String(field[0], "", field[1])
	}
	f.StringArrayVar(&d.grant, "grant", nil, grantHelp)
	return d
}

// read fills into (a Definition or a Patch) with the flags that were given.
func (a *app) read(c *cobra.Command, d *definition, into any) error {
	fields := map[string]json.RawMessage{}
	for _, field := range textFields() {
		if err := a.readText(c, d, field[0], fields); err != nil {
			return err
		}
	}
	for _, field := range jsonFields() {
		if err := a.readJSON(c, d, field[0], fields); err != nil {
			return err
		}
	}
	if body := *d.text["body"]; fields["language"] == nil && strings.HasPrefix(body, "@") && languageOf(body, "") != "" {
		fields["language"] = quote(string(languageOf(body, "")))
	}
	if c.Flags().Changed("grant") {
		raw, err := a.grant(d.grant)
		if err != nil {
			return err
		}
		fields["grant"] = raw
	}
	return decodeFields(fields, into)
}

func (a *app) readText(c *cobra.Command, d *definition, flag string, fields map[string]json.RawMessage) error {
	if !c.Flags().Changed(flag) {
		return nil
	}
	text, err := a.value("--"+flag, *d.text[flag])
	fields[fieldName(flag)] = quote(text)
	return err
}

func (a *app) readJSON(c *cobra.Command, d *definition, flag string, fields map[string]json.RawMessage) error {
	if !c.Flags().Changed(flag) {
		return nil
	}
	text, err := a.jsonValue("--"+flag, *d.text[flag])
	fields[fieldName(flag)] = text
	return err
}

func fieldName(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

func quote(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}

func decodeFields(fields map[string]json.RawMessage, into any) error {
	b, err := json.Marshal(fields)
	if err == nil {
		err = exp.Unmarshal(b, into, exp.RejectUnknownMembers(true))
	}
	if err != nil {
		return usageError{err: fmt.Errorf("the fields of the tool: %w", err)}
	}
	return nil
}

// grant turns --grant flags into the JSON of a grant.
func (a *app) grant(given []string) (json.RawMessage, error) {
	if len(given) == 1 && strings.ContainsAny(given[0][:min(1, len(given[0]))], "{@-") {
		text, err := a.value("grant", given[0])
		return json.RawMessage(text), err
	}
	fields := map[string]any{}
	for _, g := range given {
		name, value, ok := strings.Cut(g, "=")
		if !ok {
			return nil, usageError{err: fmt.Errorf("--grant %q: want NAME=VALUE, such as net=api.example.com", g)}
		}
		fields[name] = grantValue(name, value)
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return nil, usageError{err: err}
	}
	return b, nil
}

func grantValue(name, value string) any {
	if name == "files" || value == "any" || value == "none" {
		return value
	}
	if value == "" {
		return []string{}
	}
	return strings.Split(value, ",")
}

func (a *app) createCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a tool",
		Example: "  toolroom tool create greet --description 'Greets somebody by name' \\\n" +
			"      --parameters '{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}' \\\n" +
			"      --body 'return `Hello, ${args.name}!`'\n" +
			"  toolroom tool create report --description @about.txt --parameters @schema.json --body @report.ts --grant net=api.example.com",
		Args: exactly("NAME"),
	}
	fields := definitionFlags(c.Flags())
	replace := c.Flags().Bool("replace", false, "save a new version when the tool exists")
	reason := c.Flags().String("reason", "", "why, kept in the history")
	c.RunE = func(c *cobra.Command, words []string) error {
		def := tool.Definition{Name: words[0]}
		if err := a.read(c, fields, &def); err != nil {
			return err
		}
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
			how := toolroom.CreateOptions{ChangeOptions: toolroom.ChangeOptions{Reason: *reason}}
			if *replace {
				how.IfExists = toolroom.Replace
			}
			change, err := w.Create(c.Context(), def, how)
			return a.printChange(change, err, "saved")
		})
	}
	return c
}

func (a *app) editCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "edit NAME",
		Short: "Change fields of a tool; the rest stays",
		Example: "  toolroom tool edit greet --body 'return `Good day, ${args.name}!`' --reason 'more formal'\n" +
			"  toolroom tool edit greet --body @greet.js --if-version 01J9… ",
		Args: exactly("NAME"),
	}
	fields := definitionFlags(c.Flags())
	reason := c.Flags().String("reason", "", "why, kept in the history")
	expect := c.Flags().String("if-version", "", "only if this is still the current version")
	c.RunE = func(c *cobra.Command, words []string) error {
		var patch tool.Patch
		if err := a.read(c, fields, &patch); err != nil {
			return err
		}
		if patch == (tool.Patch{}) {
			return usage(c, fmt.Errorf("nothing to change: name a field, such as --body @file.js"))
		}
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
			change, err := w.Update(c.Context(), words[0], patch, toolroom.ChangeOptions{Expect: *expect, Reason: *reason})
			return a.printChange(change, err, "saved")
		})
	}
	return c
}
