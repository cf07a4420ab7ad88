package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/mcpserver"
	"toolroom/tool"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Watch a scripted model make, break, mend and use a tool (no key, no network)",
		Long: "A scripted model talks MCP to a room of its own, in a folder that is removed afterwards: it makes a tool with a mistake, " +
			"reads the error, mends it, calls it, breaks it, rolls it back. What you see is what a model would.",
		Example: "  toolroom demo",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.demo(c.Context()) },
	}
}

func (a *app) demo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "toolroom-demo-")
	if err != nil {
		return startError{err}
	}
	defer os.RemoveAll(dir)
	room, err := toolroom.Open(ctx, toolroom.Options{Data: dir})
	if err != nil {
		return startError{err}
	}
	defer room.Close()
	w, err := room.Workspace(principal(tool.Model, "demo"), dir)
	if err != nil {
		return startError{err}
	}
	return a.play(ctx, w)
}

// play connects a client to an MCP server for w, as a model's program would, and runs the script.
func (a *app) play(ctx context.Context, w *toolroom.Workspace) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- mcpserver.New(ctx, w, mcpserver.Options{Version: Version()}).Serve(ctx, toServer, fromServer)
		fromServer.Close()
	}()
	s := &scene{app: a, changed: make(chan struct{}, 1), began: time.Now()}
	client := mcp.NewClient(&mcp.Implementation{Name: "scripted-model", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			select {
			case s.changed <- struct{}{}:
			default:
			}
		},
	})
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		return fmt.Errorf("connecting the scripted model: %w", err)
	}
	s.session = session
	err = s.run(ctx)
	_ = session.Close() // the server sees the end of its input
	if serr := <-served; err == nil {
		err = serr
	}
	return err
}

// scene is one showing of the demo.
type scene struct {
	app     *app
	session *mcp.ClientSession
	changed chan struct{}
	began   time.Time
	calls   int
	version string // of the tool when it was right
}

func (s *scene) run(ctx context.Context) error {
	s.app.printf("A scripted model and a room of its own. No key, no network.\n")
	for _, step := range script() {
		if err := s.step(ctx, step); err != nil {
			return err
		}
	}
	s.app.printf("\nThat was %d calls in %.1f s. The same over MCP for your own agent:  toolroom mcp --root .\n", s.calls, time.Since(s.began).Seconds())
	return nil
}

func (s *scene) step(ctx context.Context, step step) error {
	s.pause()
	s.app.printf("\n")
	s.say("model", "1", step.says)
	args := strings.ReplaceAll(step.args, "$VERSION", s.version)
	s.say("calls", "36", step.tool+preview(args))
	res, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: step.tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return fmt.Errorf("the demo's %s: %w", step.tool, err)
	}
	s.calls++
	text := textOf(res)
	saved := resultOf(res)
	if step.keeps {
		s.version = saved.Version
	}
	switch {
	case res.IsError:
		s.say("error", "31", text)
	case step.diff:
		s.say("gets", "32", "{ … \"diff\": … }\n"+saved.Diff.Body)
	default:
		s.say("gets", "32", shorten(text, 600))
	}
	if res.IsError != step.fails || !strings.Contains(text, step.wants) {
		return tool.Errorf(tool.Internal, "the demo did not go as written: %s should answer with %q", step.tool, step.wants)
	}
	return s.notice(ctx, step)
}

// notice waits until the server says that its list has changed, and looks.
func (s *scene) notice(ctx context.Context, step step) error {
	if !step.lists {
		return nil
	}
	select {
	case <-s.changed:
	case <-time.After(5 * time.Second):
		return tool.Errorf(tool.Internal, "the demo was not told that the list of tools changed")
	case <-ctx.Done():
		return ctx.Err()
	}
	list, err := s.session.ListTools(ctx, nil)
	if err != nil {
		return fmt.Errorf("the demo's list of tools: %w", err)
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	s.say("notice", "35", "the list of tools changed: "+strings.Join(names, ", "))
	return nil
}

// result is what the demo reads in an answer.
type result struct {
	Version string        `json:"version"`
	Diff    toolroom.Diff `json:"diff"`
}

// resultOf is the structured content of an answer; zero for values of another shape.
func resultOf(res *mcp.CallToolResult) result {
	var content struct {
		Result json.RawMessage `json:"result"`
	}
	var out result
	b, err := json.Marshal(res.StructuredContent)
	if err != nil || json.Unmarshal(b, &content) != nil || json.Unmarshal(content.Result, &out) != nil {
		return result{}
	}
	return out
}

func textOf(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// preview is arguments as a person reads them: short ones on the same line, long ones a
// field a line, a body with its line numbers.
func preview(args string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &fields) != nil || fields["body"] == nil && len(args) <= maxPreview {
		return " " + args
	}
	var b strings.Builder
	for _, name := range fieldOrder(fields) {
		var text string
		if json.Unmarshal(fields[name], &text) != nil {
			text = string(fields[name])
		}
		if name == "body" {
			fmt.Fprintf(&b, "\n  body\n%s", numbered(text))
			continue
		}
		fmt.Fprintf(&b, "\n  %-12s %s", name, shorten(text, maxPreview))
	}
	return b.String()
}

// maxPreview is how many characters of a value are shown.
const maxPreview = 100

// fieldOrder has the name first and the body last.
func fieldOrder(fields map[string]json.RawMessage) []string {
	rank := func(name string) int { return strings.Count("name", name) - strings.Count("body", name) }
	return slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a, b))
	})
}

// maxWidth is how wide a text is shown beside its label: the two fit a terminal of 80 columns.
const maxWidth = 71

// wrap breaks the lines of s that are wider than width, after a space or a comma where there is
// one, and begins the rest further in.
func wrap(s string, width int) string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		indent := strings.Repeat(" ", len(line)-len(strings.TrimLeft(line, " "))+2)
		for rest := []rune(line); ; {
			if len(rest) <= width {
				out = append(out, string(rest))
				break
			}
			at := breakAt(rest, width, len(indent))
			out = append(out, strings.TrimRight(string(rest[:at]), " "))
			rest = append([]rune(indent), rest[at:]...)
		}
	}
	return strings.Join(out, "\n")
}

// breakAt is where a line of width is broken, past its first columns.
func breakAt(line []rune, width, past int) int {
	for i := width; i > past+width/2; i-- {
		if line[i-1] == ' ' || line[i-1] == ',' {
			return i
		}
	}
	return width
}

// say prints one turn: who, then the text beside it, every line under the first.
func (s *scene) say(who, colour, text string) {
	text = strings.ReplaceAll(wrap(inert(strings.TrimRight(text, "\n")), maxWidth), "\n", "\n         ")
	label := fmt.Sprintf("%-9s", who)
	if s.app.colour() {
		label = "\x1b[" + colour + "m" + label + "\x1b[0m"
	}
	fmt.Fprintln(s.app.out, label+text)
}

// pause gives a reader time; a pipe needs none.
func (s *scene) pause() {
	if s.app.colour() {
		time.Sleep(700 * time.Millisecond)
	}
}
