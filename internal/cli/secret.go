package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/tool"
)

func (a *app) secretCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "secret",
		Short: "Keep secrets that tools may use and never see",
		Long: "A secret is kept encrypted, and bound to the hosts it may be sent to. A tool that was granted it holds a stand-in; the value is put in on the way out. " +
			"The key is made in the data directory, or comes from TOOLROOM_SECRET_KEY, or from what the command in TOOLROOM_SECRET_KEY_COMMAND prints.",
		Example: "  printf %s \"$KEY\" | toolroom secret set API_KEY --host api.example.com\n  toolroom secret list\n  toolroom secret delete API_KEY",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.secretSet(), a.secretList(), a.secretDelete())
	return c
}

// secretKey is where the key comes from when not from the data directory.
func (a *app) secretKey() toolroom.SecretKey {
	if words := strings.Fields(a.getenv("TOOLROOM_SECRET_KEY_COMMAND")); len(words) > 0 {
		return toolroom.SecretKeyCommand(words[0], words[1:]...)
	}
	if a.getenv("TOOLROOM_SECRET_KEY") != "" {
		return toolroom.SecretKeyVariable("TOOLROOM_SECRET_KEY")
	}
	return nil
}

// maxSecret bounds a value, in bytes.
const maxSecret = 64 << 10

func (a *app) secretSet() *cobra.Command {
	c := &cobra.Command{
		Use:     "set NAME",
		Short:   "Keep a secret; the value comes from standard input",
		Example: "  printf %s \"$KEY\" | toolroom secret set API_KEY --host api.example.com --host '*.example.org'",
		Args:    exactly("NAME"),
	}
	hosts := c.Flags().StringArray("host", nil, "a host the secret may be sent to (repeatable); without any it can only sign")
	c.RunE = func(c *cobra.Command, words []string) error {
		value, err := io.ReadAll(io.LimitReader(a.in, maxSecret+1))
		if err != nil || len(value) > maxSecret {
			return usageError{err: fmt.Errorf("the value on standard input cannot be read, or has more than %d bytes", maxSecret)}
		}
		value = []byte(strings.TrimSuffix(strings.TrimSuffix(string(value), "\n"), "\r"))
		if len(value) == 0 {
			return usage(c, fmt.Errorf("there is no value on standard input"))
		}
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
			if err := w.SetSecret(c.Context(), words[0], value, *hosts); err != nil {
				return err
			}
			a.say("%s: kept\n", map[string]any{"name": words[0], "hosts": *hosts}, words[0])
			return nil
		})
	}
	return c
}

// say prints text for people, or v for machines.
func (a *app) say(format string, v any, args ...any) {
	if a.json {
		a.printJSON(v)
		return
	}
	a.printf(format, args...)
}

func (a *app) secretList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the names of the secrets; values are never shown",
		Example: "  toolroom secret list",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
				found, err := w.Secrets(c.Context())
				if err != nil {
					return err
				}
				return a.printSecrets(found)
			})
		},
	}
}

func (a *app) printSecrets(found []toolroom.Secret) error {
	if a.json {
		a.printJSON(map[string]any{"secrets": found})
		return nil
	}
	t := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tUPDATED\tHOSTS")
	for _, s := range found {
		fmt.Fprintf(t, "%s\t%s\t%s\n", inertLine(s.Name), s.Updated.Format(time.DateTime), inertLine(strings.Join(s.Hosts, ", ")))
	}
	return t.Flush()
}

func (a *app) secretDelete() *cobra.Command {
	return &cobra.Command{
		Use:     "delete NAME",
		Short:   "Forget a secret",
		Example: "  toolroom secret delete API_KEY",
		Args:    exactly("NAME"),
		RunE: func(c *cobra.Command, words []string) error {
			return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
				if err := w.DeleteSecret(c.Context(), words[0]); err != nil {
					return err
				}
				a.say("%s: forgotten\n", map[string]any{"name": words[0]}, words[0])
				return nil
			})
		},
	}
}
