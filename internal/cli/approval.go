package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"toolroom"
	"toolroom/tool"
)

func (a *app) approvalCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "approval",
		Short: "Answer what models may not do without you",
		Long: "When a model asks for what needs a person's word and nobody can be asked at once, the question waits here. " +
			"Approve it, and the model's next attempt at the very same change goes through.",
		Example: "  toolroom approval list\n  toolroom approval approve ID\n  toolroom approval decline ID",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.approvalList(), a.decideCommand("approve", toolroom.Approve), a.decideCommand("decline", toolroom.Decline))
	return c
}

func (a *app) approvalList() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the questions that wait (or all, with --all)",
		Example: "  toolroom approval list --json",
		Args:    noArgs,
	}
	all := c.Flags().Bool("all", false, "answered and expired ones too")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
			state := toolroom.Pending
			if *all {
				state = ""
			}
			found, err := allApprovals(c.Context(), w, state)
			if err != nil {
				return err
			}
			return a.printApprovals(found)
		})
	}
	return c
}

func allApprovals(ctx context.Context, w *toolroom.Workspace, state toolroom.ApprovalState) ([]toolroom.Approval, error) {
	found := []toolroom.Approval{}
	for cursor := ""; ; {
		page, next, err := w.Approvals(ctx, state, cursor)
		if err != nil {
			return nil, err
		}
		found = append(found, page...)
		if cursor = next; cursor == "" {
			return found, nil
		}
	}
}

func (a *app) printApprovals(found []toolroom.Approval) error {
	if a.json {
		a.printJSON(map[string]any{"approvals": found})
		return nil
	}
	if len(found) == 0 {
		a.printf("Nothing waits for an answer.\n")
		return nil
	}
	t := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tSTATE\tUNTIL\tTOOL\tWHY")
	for _, x := range found {
		var q toolroom.Question
		if err := json.Unmarshal(x.Question, &q); err != nil {
			return tool.Errorf(tool.StorageFailed, "the question %s cannot be read", x.ID).WithCause(err)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", x.ID, x.State, x.Expires.Format(time.DateTime), inertLine(q.Tool), inertLine(q.Why()))
	}
	return t.Flush()
}

func (a *app) decideCommand(word string, decision toolroom.Decision) *cobra.Command {
	return &cobra.Command{
		Use:     word + " ID",
		Short:   map[toolroom.Decision]string{toolroom.Approve: "Allow a change, exactly as it was asked for", toolroom.Decline: "Refuse a change"}[decision],
		Example: "  toolroom approval " + word + " ID",
		Args:    exactly("ID"),
		RunE: func(c *cobra.Command, words []string) error {
			return a.withWorkspace(c.Context(), tool.User, func(w *toolroom.Workspace) error {
				done, err := w.Decide(c.Context(), words[0], decision)
				if err != nil {
					return err
				}
				if a.json {
					a.printJSON(done)
					return nil
				}
				a.printf("%s: %s\n", done.ID, done.State)
				return nil
			})
		},
	}
}
