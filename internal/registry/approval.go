package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolroom/internal/store"
	"toolroom/tool"
)

// Question is what a person is shown before a model's risky change is made.
type Question struct {
	Asker      tool.Principal  `json:"asker"`
	Action     store.Action    `json:"action"`
	Tool       string          `json:"tool"`
	Location   tool.Location   `json:"location"`
	Global     bool            `json:"global"` // every workspace of the tenant sees the change
	Widens     []Widening      `json:"widens,omitempty"`
	Base       string          `json:"base,omitempty"` // the version the change is made from
	Diff       Diff            `json:"diff"`
	Reason     string          `json:"reason,omitempty"`
	Hash       string          `json:"hash"` // of the whole definition
	Definition tool.Definition `json:"definition"`

	before tool.Definition // what Diff is from
}

// Key is what an answer is bound to: this change, of this version, to exactly this definition.
func (q Question) Key() string {
	b, _ := json.Marshal([]string{q.Asker.Tenant, q.Asker.Workspace, string(q.Action), store.Fold(q.Tool), q.Base, q.Hash}) // strings
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Why says in a line what makes the change one to ask about.
func (q Question) Why() string { return strings.Join(q.reasons(), "; ") }

func (q Question) reasons() (all []string) {
	if q.Global {
		all = append(all, "every workspace of the tenant sees it")
	}
	for _, w := range q.Widens {
		all = append(all, "it adds to "+w.Field+": "+visible(strings.Join(w.Added, ", "), ""))
	}
	return all
}

// Text is the question as a person reads it, whole, and the same wherever it is asked. What the model
// wrote can neither begin a line of its own in it nor hide anything: it is quoted, or marked line by line as the
// body's difference is.
func (q Question) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s asks: may %s?\nYou are asked because\n", asker(q.Asker), q.wish())
	for _, why := range q.reasons() {
		fmt.Fprintf(&b, "- %s\n", why)
	}
	if q.Reason != "" {
		fmt.Fprintf(&b, "Its reason: %s\n", strconv.Quote(q.Reason))
	}
	b.WriteByte('\n')
	for _, f := range q.Diff.Fields {
		fmt.Fprintf(&b, "%s: %s", f.Field, visible(string(f.To), ""))
		if q.Base != "" {
			fmt.Fprintf(&b, " (was %s)", visible(string(f.From), ""))
		}
		b.WriteByte('\n')
	}
	if q.Diff.Body != "" {
		fmt.Fprintf(&b, "\nThe body:\n%s", visible(q.Diff.Body, "\n\t"))
	}
	return b.String()
}

func (q Question) wish() string {
	if q.Action == Ran {
		return "this body be run once"
	}
	return fmt.Sprintf("the tool %q be %s", q.Tool, q.Action)
}

func asker(p tool.Principal) string {
	if p.ID == "" {
		return "A model"
	}
	return fmt.Sprintf("The model %q", p.ID)
}

// Decision is an answer to a Question.
type Decision string

// The decisions. Unanswered leaves the question to the next approver.
const (
	Unanswered Decision = ""
	Approve    Decision = "approve"
	Decline    Decision = "decline"
)

// Answer is what an approver says. Hash repeats the question's: an answer about
// another definition counts for nothing.
type Answer struct {
	Decision Decision
	Hash     string
	By       string
}

// Approver is one way to ask. It may block until ctx ends, and be called concurrently. An error is
// as good as no answer, and is told to the asker if nobody else answers.
type Approver interface {
	Approve(ctx context.Context, q Question) (Answer, error)
}

// ApproverFunc is an embedder's callback as an Approver.
type ApproverFunc func(ctx context.Context, q Question) (Answer, error)

// Approve calls f.
func (f ApproverFunc) Approve(ctx context.Context, q Question) (Answer, error) { return f(ctx, q) }

// Chain asks one after the other until somebody answers. Nil approvers are left out.
func Chain(approvers ...Approver) Approver {
	return ApproverFunc(func(ctx context.Context, q Question) (Answer, error) {
		var last error
		for _, a := range approvers {
			if a == nil {
				continue
			}
			answer, err := a.Approve(ctx, q)
			if err == nil && answer.Decision != Unanswered {
				return answer, nil
			}
			if err != nil {
				last = err
			}
		}
		return Answer{}, last
	})
}

// question is what there is to ask about a change, or nil if it needs no asking: users and admins
// answer for themselves, and a model may do what touches its workspace only and widens nothing.
func (r *Registry) question(p tool.Principal, old *store.Record, d tool.Definition, hash string, a store.Action, reason string) *Question {
	if p.Kind != tool.Model {
		return nil
	}
	q := &Question{Asker: p, Action: a, Tool: d.Name, Location: d.Location, Reason: reason, Hash: hash, Definition: d}
	base := r.completeGrant(tool.Grant{}, d.Scope)
	var before tool.Definition
	if old != nil {
		q.Base, before = old.Current.ID, old.Current.Definition
	}
	if old != nil && old.Broken == nil {
		base = before.Grant
	}
	q.Global = d.Location == tool.InTenant || old != nil && old.Place.Workspace == ""
	if a != store.Deleted && a != store.Disabled {
		q.Widens = widens(base, d.Grant)
	}
	if !q.Global && len(q.Widens) == 0 {
		return nil
	}
	q.before = before
	return q
}

// ask puts q to the operator's policy, then to first and then to the room's approver. It answers whether anybody had to be asked;
// every error means that the change is not to be made.
func (r *Registry) ask(ctx context.Context, q *Question, first Approver) (asked bool, err error) {
	if q == nil {
		return false, nil
	}
	q.Diff = diffDefinitions(q.before, q.Definition)
	answer, err := Chain(r.opts.Policy, first, r.opts.Approver).Approve(ctx, *q)
	switch {
	case ctx.Err() != nil:
		return true, tool.AsError(ctx.Err())
	case err != nil || answer.Decision == Unanswered:
		return true, unavailable(*q, err)
	case answer.Decision == Approve && answer.Hash == q.Hash:
		return true, nil
	case answer.Decision == Approve:
		return true, tool.Errorf(tool.ApprovalUnavailable, "what was approved is not the definition that %q would get", q.Tool).
			WithHint("Ask again: an approval holds for one definition only.")
	}
	return true, tool.Errorf(tool.ApprovalDeclined, "the change of %q was declined: %s", q.Tool, q.Why()).
		WithHint("Nothing was changed. Do without it, or talk it over with the user.")
}

func unavailable(q Question, cause error) error {
	e := tool.Errorf(tool.ApprovalUnavailable, "the change of %q needs an approval (%s), and nobody answered", q.Tool, q.Why()).
		WithHint("Nothing was changed. Ask for less, or ask the user to make this change.").WithCause(cause)
	if known := tool.AsError(cause); known != nil && known.Code == tool.ApprovalUnavailable {
		e.Hint, e.Details = known.Hint, known.Details
	}
	return e
}
