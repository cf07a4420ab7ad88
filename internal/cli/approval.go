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
			"Approve it, and the model's next attempt at the very same change goes through; with --approval-wait the first one waits. " +
			"The room may be running in another process meanwhile, as with toolroom mcp.",
		Example: "  toolroom approval list\n  toolroom approval show ID\n  toolroom approval approve ID\n  toolroom approval decline ID",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.approvalList(), a.approvalShow(), a.decideCommand("approve", toolroom.Approve), a.decideCommand("decline", toolroom.Decline))
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
		return a.withInbox(c.Context(), func(box *toolroom.Inbox, p tool.Principal) error {
			state := toolroom.Pending
			if *all {
				state = ""
			}
			found, err := allApprovals(c.Context(), box, p, state)
			if err != nil {
				return err
			}
			return a.printApprovals(found)
		})
	}
	return c
}

// withInbox opens the inbox alone, which a room in another process does not prevent.
func (a *app) withInbox(ctx context.Context, do func(*toolroom.Inbox, tool.Principal) error) (err error) {
	root, err := a.workspaceRoot()
	if err != nil {
		return startError{err}
	}
	data, err := a.dataDir()
	if err != nil {
		return startError{err}
	}
	box, err := toolroom.OpenInbox(ctx, data)
	if err != nil {
		return startError{err}
	}
	defer func() {
		if cerr := box.Close(); err == nil && cerr != nil {
			err = cerr
		}
	}()
	return do(box, principal(tool.User, root))
}

func allApprovals(ctx context.Context, box *toolroom.Inbox, p tool.Principal, state toolroom.ApprovalState) ([]toolroom.Approval, error) {
	found := []toolroom.Approval{}
	for cursor := ""; ; {
		page, next, err := box.List(ctx, p, state, cursor)
		if err != nil {
			return nil, err
		}
		found = append(found, page...)
		if cursor = next; cursor == "" {
			return found, nil
		}
	}
}

func (a *app) approvalShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show a question whole: what would change, and what it would allow",
		Example: "  toolroom approval show ID",
		Args:    exactly("ID"),
		RunE: func(c *cobra.Command, words []string) error {
			return a.withInbox(c.Context(), func(box *toolroom.Inbox, p tool.Principal) error {
				x, err := box.Get(c.Context(), p, words[0])
				if err != nil {
					return err
				}
				if a.json {
					a.printJSON(x)
					return nil
				}
				q, err := questionOf(x)
				if err != nil {
					return err
				}
				a.printf("%s (%s)\n\n%s", x.ID, x.State, q.Text())
				return nil
			})
		},
	}
}

func questionOf(x toolroom.Approval) (q toolroom.Question, err error) {
	if err := json.Unmarshal(x.Question, &q); err != nil {
		return q, tool.Errorf(tool.StorageFailed, "the question %s cannot be read", x.ID).WithCause(err)
	}
	return q, nil
}

func (a *app) printApprovals(found []toolroom.Approval) error {
	if a.json {
		a.printJSON(map[string]any{"approvals": found})
		return nil
	}
	if len(found) == 0 {
		a.printf("Nothing waits for an answer in this folder's workspace; --root names another.\n")
		return nil
	}
	t := tabwriter.NewWriter(a.out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tSTATE\tUNTIL\tTOOL\tWHY")
	for _, x := range found {
		q, err := questionOf(x)
		if err != nil {
			return err
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
			return a.withInbox(c.Context(), func(box *toolroom.Inbox, p tool.Principal) error {
				done, err := box.Decide(c.Context(), p, words[0], decision)
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
