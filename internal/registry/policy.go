package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path"
	"slices"

	"toolroom/internal/store"
	"toolroom/tool"
)

// Policy answers questions by rules that an operator wrote down. It is JSON:
//
//	{
//	  "rules": [
//	    {"decision": "decline", "widens": {"exec": ["*"]}},
//	    {"decision": "approve", "tool": "report_*", "widens": {"net": ["*.example.com"]}},
//	    {"decision": "approve", "workspace": "sandbox", "global": false, "widens": {"net": ["any"], "secrets": ["TEST_*"]}}
//	  ],
//	  "otherwise": "ask"
//	}
//
// The first rule that fits decides; if none does, otherwise: approve, decline or ask
// (the default), which leaves the question to the next approver. A rule fits if all that it names
// fits: tool, tenant and workspace are patterns (* is any run of characters), actions a list
// (created, updated, restored, enabled, disabled, deleted, run), global whether the whole tenant would see the change.
// widens is by field (net, secrets, exec, call, files) a list of patterns. A rule that approves fits only if
// its lists cover everything that the change widens, so without lists it approves nothing that widens; a
// rule that declines or asks fits if its lists, when it has any, match anything that the change widens.
// For net, "*.example.com" is every host below it, and "any" is any host at all.
type Policy struct {
	Rules     []Rule `json:"rules"`
	Otherwise Ruling `json:"otherwise,omitempty"`
}

// Rule is one rule of a Policy.
type Rule struct {
	Decision  Ruling              `json:"decision"`
	Tool      string              `json:"tool,omitempty"`
	Tenant    string              `json:"tenant,omitempty"`
	Workspace string              `json:"workspace,omitempty"`
	Actions   []store.Action      `json:"actions,omitempty"`
	Global    *bool               `json:"global,omitempty"`
	Widens    map[string][]string `json:"widens,omitempty"`
}

// Ruling is what a rule says.
type Ruling string

// The rulings.
const (
	RuleApprove Ruling = "approve"
	RuleDecline Ruling = "decline"
	RuleAsk     Ruling = "ask"
)

var _ Approver = (*Policy)(nil)

// LoadPolicy reads a policy file. invalid_definition says what is wrong with it.
func LoadPolicy(file string) (*Policy, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, tool.Errorf(tool.InvalidDefinition, "cannot read the policy file: %w", err)
	}
	p, err := ParsePolicy(b)
	if err != nil {
		return nil, tool.Errorf(tool.InvalidDefinition, "the policy file %s does not hold: %v", file, err).WithCause(err)
	}
	return p, nil
}

// ParsePolicy reads a policy. A field or word that it does not know is an
// error: a rule that is misspelt must not be a rule that is not there.
func ParsePolicy(b []byte) (*Policy, error) {
	p := &Policy{}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		return nil, invalid("policy", "%v", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, invalid("policy", "there is something after its end")
	}
	p.Otherwise = orText(p.Otherwise, RuleAsk)
	if !p.Otherwise.known() {
		return nil, invalid("policy.otherwise", "%q is none of approve, decline, ask", cut(string(p.Otherwise), 40))
	}
	for i, r := range p.Rules {
		if err := r.check(); err != nil {
			return nil, invalid("policy", "rule %d: %v", i+1, err)
		}
	}
	return p, nil
}

func (r Ruling) known() bool { return r == RuleApprove || r == RuleDecline || r == RuleAsk }

func (r Rule) check() error {
	if !r.Decision.known() {
		return invalid("decision", "%q is none of approve, decline, ask", cut(string(r.Decision), 40))
	}
	actions := []store.Action{store.Created, store.Updated, store.Restored, store.Enabled, store.Disabled, store.Deleted, Ran}
	for _, a := range r.Actions {
		if !slices.Contains(actions, a) {
			return invalid("actions", "%q is no action", cut(string(a), 40))
		}
	}
	patterns := []string{r.Tool, r.Tenant, r.Workspace}
	for field, list := range r.Widens {
		if !slices.Contains([]string{"net", "secrets", "exec", "call", "files"}, field) {
			return invalid("widens", "%q is none of net, secrets, exec, call, files", cut(field, 40))
		}
		patterns = append(patterns, list...)
	}
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return invalid("pattern", "%q is not one", cut(p, 80))
		}
	}
	return nil
}

// Approve answers by the first rule that fits.
func (p *Policy) Approve(_ context.Context, q Question) (Answer, error) {
	ruling := p.Otherwise
	for _, r := range p.Rules {
		if r.fits(q) {
			ruling = r.Decision
			break
		}
	}
	switch ruling {
	case RuleApprove:
		return Answer{Decision: Approve, Hash: q.Hash, By: "policy"}, nil
	case RuleDecline:
		return Answer{Decision: Decline, By: "policy"}, nil
	}
	return Answer{}, nil
}

func (r Rule) fits(q Question) bool {
	switch {
	case !matches(r.Tool, q.Tool), !matches(r.Tenant, q.Asker.Tenant), !matches(r.Workspace, q.Asker.Workspace):
		return false
	case len(r.Actions) > 0 && !slices.Contains(r.Actions, q.Action):
		return false
	case r.Global != nil && *r.Global != q.Global:
		return false
	case r.Decision == RuleApprove:
		return r.covers(q.Widens)
	}
	return len(r.Widens) == 0 || r.touches(q.Widens)
}

// covers says whether everything that is widened is in the rule's lists.
func (r Rule) covers(all []Widening) bool {
	for _, w := range all {
		for _, added := range w.Added {
			if !listed(w.Field, r.Widens[w.Field], added) {
				return false
			}
		}
	}
	return true
}

// touches says whether anything that is widened is in the rule's lists, or has something of them in it.
func (r Rule) touches(all []Widening) bool {
	for _, w := range all {
		patterns := r.Widens[w.Field]
		for _, added := range w.Added {
			if listed(w.Field, patterns, added) || added == "any" && len(patterns) > 0 {
				return true
			}
			if w.Field == "net" && slices.ContainsFunc(patterns, func(p string) bool { return hostCovered([]string{added}, p) }) {
				return true
			}
		}
	}
	return false
}

func listed(field string, patterns []string, added string) bool {
	if field == "net" {
		return slices.Contains(patterns, "any") || added != "any" && (slices.Contains(patterns, "*") || hostCovered(patterns, added))
	}
	for _, p := range patterns {
		if matches(p, added) {
			return true
		}
	}
	return false
}

// matches says whether name fits a pattern; an empty one fits all.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return pattern == "" || ok && err == nil
}
