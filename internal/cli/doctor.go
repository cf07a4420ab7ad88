package cli

import (
	"fmt"
	"runtime"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/tool"
)

func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "doctor",
		Short:   "Say what this machine can confine, layer by layer",
		Long:    "Lists every layer that stands between tool code and this machine, and why a missing one is missing. With --require-sandbox, a missing layer is a failure.",
		Example: "  toolroom doctor\n  toolroom doctor --require-sandbox && toolroom serve --require-sandbox",
		Args:    noArgs,
	}
	required := c.Flags().Bool("require-sandbox", false, "fail when a layer is missing")
	c.RunE = func(*cobra.Command, []string) error {
		layers := toolroom.Layers()
		missing := a.printLayers(layers)
		if *required && missing > 0 {
			return tool.Errorf(tool.CapabilityDenied, "%d of the sandbox's layers are missing here", missing)
		}
		return nil
	}
	return c
}

func (a *app) printLayers(layers []toolroom.Layer) (missing int) {
	for _, l := range layers {
		if l.Required && !l.Stands {
			missing++
		}
	}
	if a.json {
		a.printJSON(map[string]any{"system": runtime.GOOS + "/" + runtime.GOARCH, "layers": layers, "missing": missing})
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
	return missing
}
