package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
		missing := a.printLayers(layers, openings(opts), a.rulings(opts))
		if opts.RequireSandbox && missing > 0 {
			return tool.Errorf(tool.CapabilityDenied, "%d of the sandbox's layers are missing here", missing)
		}
		return nil
	}
	return c
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

// ruling is a choice of the operator about what models may change.
type ruling struct {
	Flag string `json:"flag"`
	To   string `json:"to"`
	Says string `json:"says"`
}

func (a *app) rulings(o toolroom.Options) []ruling {
	found := []ruling{}
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

func (a *app) printLayers(layers []toolroom.Layer, opened []opening, ruled []ruling) (missing int) {
	for _, l := range layers {
		if l.Required && !l.Stands {
			missing++
		}
	}
	if a.json {
		a.printJSON(map[string]any{"system": runtime.GOOS + "/" + runtime.GOARCH, "layers": layers, "missing": missing, "opened": opened, "rules": ruled})
		return missing
	}
	t := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	for _, l := range layers {
		stands := "stands "
		if !l.Stands {
			stands = "MISSING"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", stands, l.Name, inertLine(l.Promise), inertLine(l.Detail))
	}
	if err := t.Flush(); err != nil {
		return missing
	}
	a.printf("\n%d of %d layers stand on %s/%s.\n", len(layers)-missing, len(layers), runtime.GOOS, runtime.GOARCH)
	if missing > 0 {
		a.printf("Without the missing ones, code that takes over the JavaScript engine has there what this user has. Serve only tools you trust.\n")
	}
	for _, o := range opened {
		a.printf("OPENED   %s %s: %s\n", o.Flag, inertLine(o.To), o.Why)
	}
	for _, r := range ruled {
		a.printf("RULE     %s %s: %s\n", r.Flag, inertLine(r.To), r.Says)
	}
	return missing
}
