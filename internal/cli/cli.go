// Package cli is the command line: it turns arguments into calls of a room, and
// answers into text for people or, with --json, for machines. It decides
// nothing about tools. Everything it prints for people has been made inert:
// no escape sequence and no text direction that a tool carries reaches the terminal.
package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"toolroom/tool"
)

// Exit codes of Run.
const (
	exitFailed = 1 // a call or a change failed
	exitUsage  = 2 // the command was written wrongly
	exitRoom   = 3 // the room cannot start
)

// app is one run of the program.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	json     bool
	data     string
	root     string
	operator operator
	chosen   bool // the operator's choices came by flags
}

// Run runs the program with args (without its name) and returns its exit code:
// 0, 1 for a failure, 2 for wrong usage, 3 for a room that cannot start. It
// returns early when ctx ends.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	a := &app{in: stdin, out: stdout, err: stderr, getenv: getenv}
	root := a.command()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	return a.fail(err)
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "toolroom",
		Short: "Tools that models and people make at runtime, each call in an isolate of its own",
		Long: "Toolroom keeps tools that models and people make while an agent runs, and runs every call in an isolate of its own, " +
			"in a worker process that the operating system has locked down.",
		Example: "  toolroom demo                                        watch a scripted model make, break, mend and use a tool\n" +
			"  toolroom mcp --root .                                serve this folder's tools to an MCP client on stdio\n" +
			"  toolroom tool create add --description 'Adds two numbers' \\\n" +
			"      --parameters '{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"},\"b\":{\"type\":\"number\"}}}' \\\n" +
			"      --body 'return args.a + args.b'\n" +
			"  toolroom call add --args '{\"a\":1,\"b\":2}'",
		Version:       Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		Args:          noArgs,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print one JSON value, for machines")
	flags.StringVar(&a.data, "data", a.getenv("TOOLROOM_DATA"), "where the room keeps everything (TOOLROOM_DATA; default: your data directory)")
	flags.StringVar(&a.root, "root", a.getenv("TOOLROOM_ROOT"), "the workspace's folder (TOOLROOM_ROOT; default: the current one)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, err) })
	root.AddCommand(a.serveCommand(), a.mcpCommand(), a.demoCommand(), a.callCommand(), a.runCommand(), a.toolCommand(), a.secretCommand(), a.approvalCommand(), a.doctorCommand())
	return root
}

// usageError is a command written wrongly.
type usageError struct {
	err  error
	help string // the command whose help says how, if one is known
}

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usage(c *cobra.Command, err error) error {
	return usageError{err, c.CommandPath()}
}

// startError is a room that cannot start.
type startError struct{ err error }

func (e startError) Error() string { return e.err.Error() }
func (e startError) Unwrap() error { return e.err }

// saidError is a failure that has been printed already, within the one value that --json prints.
type saidError struct{ error }

// noArgs and oneName check the words after a command.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(c, fmt.Errorf("%q is not a command or argument of %s", args[0], c.CommandPath()))
	}
	return nil
}

func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return usage(c, fmt.Errorf("%s takes %s; got %d arguments", c.CommandPath(), strings.Join(names, " and "), len(args)))
	}
}

// fail prints an error and returns the exit code for it.
func (a *app) fail(err error) int {
	code := exitFailed
	var wrong usageError
	var start startError
	switch {
	case errors.As(err, &wrong) || strings.HasPrefix(err.Error(), "unknown command"):
		code = exitUsage
	case errors.As(err, &start):
		code = exitRoom
	}
	if errors.As(err, &saidError{}) {
		return code
	}
	if code == exitUsage && a.json {
		a.printJSON(map[string]any{"error": tool.Errorf(tool.InvalidArguments, "%v", err).WithHint("Try '%s --help'.", cmp.Or(wrong.help, "toolroom"))})
		return code
	}
	if code == exitUsage {
		fmt.Fprintln(a.err, "toolroom:", inert(err.Error()))
		fmt.Fprintf(a.err, "Try '%s --help'.\n", cmp.Or(wrong.help, "toolroom"))
		return code
	}
	e := tool.AsError(err)
	if a.json {
		a.printJSON(map[string]any{"error": e})
		return code
	}
	fmt.Fprintln(a.err, "toolroom:", inert(e.Error()))
	if e.Hint != "" {
		fmt.Fprintln(a.err, inert(e.Hint))
	}
	if cause := e.Unwrap(); cause != nil && e.Code == tool.Internal { // whoever runs the program is its operator
		fmt.Fprintln(a.err, "cause:", inert(cause.Error()))
	}
	return code
}

func (a *app) printJSON(v any) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		fmt.Fprintln(a.err, "toolroom:", err)
		return
	}
	fmt.Fprintln(a.out, inertJSON(string(b)))
}

func (a *app) printf(format string, args ...any) {
	fmt.Fprint(a.out, inert(fmt.Sprintf(format, args...)))
}
