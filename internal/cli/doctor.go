package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/tool"
)

func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can confine, layer by layer",
		Long: "Lists every layer that stands between tool code and this machine, and why a missing one is missing; then what the operator's flags and variables " +
			"open beyond the defaults, and what they rule about changes by models. With --require-sandbox, a missing layer is a failure.",
		Example: "  toolroom doctor\n  toolroom doctor --require-sandbox && toolroom serve --require-sandbox",
		Args:    noArgs,
	}
	a.operatorFlags(c)
	c.RunE = func(*cobra.Command, []string) error {
		opts, err := a.options()
		if err != nil {
			return err
		}
		layers := toolroom.Layers()
		report := report{System: runtime.GOOS + "/" + runtime.GOARCH, Layers: layers, Missing: len(missing(layers)), Opened: openings(opts), Rules: a.rulings(opts)}
		if opts.RequireSandbox {
			report.Error = lacking(layers)
		}
		return a.printReport(report)
	}
	return c
}

// report is all that doctor says.
type report struct {
	System  string           `json:"system"`
	Layers  []toolroom.Layer `json:"layers"`
	Missing int              `json:"missing"`
	Opened  []opening        `json:"opened"`
	Rules   []ruling         `json:"rules"`
	Error   *tool.Error      `json:"error,omitempty"` // what is missing although it is required
}

// missing are the names of the required layers that do not stand.
func missing(layers []toolroom.Layer) []string {
	var names []string
	for _, l := range layers {
		if l.Required && !l.Stands {
			names = append(names, l.Name)
		}
	}
	return names
}

// lacking is the failure of a machine that lacks layers, nil for one that has them all.
func lacking(layers []toolroom.Layer) *tool.Error {
	names := missing(layers)
	if len(names) == 0 {
		return nil
	}
	return tool.Errorf(tool.Stopped, "the sandbox is required, and these of its layers are missing here: %s", strings.Join(names, ", ")).
		WithHint("The list says what each takes. Without --require-sandbox a room starts with those that stand.")
}

// opening is something that the operator opened beyond the defaults.
type opening struct {
	Flag string `json:"flag"`
	To   string `json:"to"`
	Why  string `json:"gives_up"`
}

func openings(o toolroom.Options) []opening {
	found := []opening{}
	add := func(flag, why string, values []string) {
		for _, v := range values {
			found = append(found, opening{flag, v, why})
		}
	}
	add("--allow-private", "tools reach this private address", o.AllowPrivate)
	add("--exec", "tools that are granted it start this program", o.Exec)
	add("--expose-secret-files", "tools of scope workspace read and change such files, secrets in them included", o.ExposeSecretFiles)
	return found
}

// ruling is a choice of the operator that opens nothing: what is held tighter, and what models may change.
type ruling struct {
	Flag string `json:"flag"`
	To   string `json:"to"`
	Says string `json:"says"`
}

func (a *app) rulings(o toolroom.Options) []ruling {
	found := []ruling{}
	if o.Isolation == toolroom.PerProcess {
		found = append(found, ruling{"--isolation", string(o.Isolation), "each call has a worker process of its own"})
	}
	if o.NoNet {
		found = append(found, ruling{"--net", "none", "no tool reaches the network"})
	}
	for _, tenant := range o.NoGlobalTools {
		found = append(found, ruling{"--no-global-tools", tenant, "this tenant (* is each) can make, change or enable no global tools"})
	}
	file := o.Policy
	if data, err := a.dataDir(); file == "" && err == nil {
		if _, err := os.Stat(filepath.Join(data, "policy.json")); err == nil {
			file = filepath.Join(data, "policy.json")
		}
	}
	if file != "" {
		found = append(found, ruling{"--policy", file, "answers approvals by its rules before anybody is asked"})
	}
	if o.ApprovalWait > 0 {
		found = append(found, ruling{"--approval-wait", o.ApprovalWait.String(), "a change waits this long for an answer from the inbox"})
	}
	return found
}

// printReport prints one JSON value for machines, and for people a line for each layer and choice.
func (a *app) printReport(r report) error {
	if a.json {
		a.printJSON(r)
		if r.Error != nil {
			return saidError{r.Error}
		}
		return nil
	}
	a.printLayers(r)
	for _, o := range r.Opened {
		a.printf("OPENED   %s %s: %s\n", o.Flag, inertLine(o.To), o.Why)
	}
	for _, rule := range r.Rules {
		a.printf("RULE     %s %s: %s\n", rule.Flag, inertLine(rule.To), rule.Says)
	}
	if r.Error != nil {
		return r.Error
	}
	return nil
}

func (a *app) printLayers(r report) {
	t := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	for _, l := range r.Layers {
		stands := "stands "
		if !l.Stands {
			stands = "MISSING"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", stands, l.Name, inertLine(l.Promise), inertLine(l.Detail))
	}
	if err := t.Flush(); err != nil {
		return // nobody reads
	}
	a.printf("\n%d of %d layers stand on %s.\n", len(r.Layers)-r.Missing, len(r.Layers), r.System)
	if r.Missing > 0 {
		a.printf("Without the missing ones, code that takes over the JavaScript engine has there what this user has. Serve only tools you trust.\n")
	}
}
