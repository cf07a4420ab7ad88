package registry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"toolroom/internal/registry"
	"toolroom/internal/store"
	"toolroom/tool"
)

func answering(d registry.Decision) registry.Approver {
	return registry.ApproverFunc(func(_ context.Context, q registry.Question) (registry.Answer, error) {
		return registry.Answer{Decision: d, Hash: q.Hash, By: "ann"}, nil
	})
}

// recording keeps the questions it approves.
func recording(into *[]registry.Question) func(*registry.Options) {
	return func(o *registry.Options) {
		o.Approver = registry.ApproverFunc(func(_ context.Context, q registry.Question) (registry.Answer, error) {
			*into = append(*into, q)
			return registry.Answer{Decision: registry.Approve, Hash: q.Hash}, nil
		})
	}
}

func TestOnlyAModelsRiskyChangesAreAskedAbout(t *testing.T) {
	net := func(hosts ...string) *tool.Grant { return &tool.Grant{Net: tool.NameList(hosts...)} }
	for _, c := range []struct {
		about  string
		p      tool.Principal
		before tool.Grant
		patch  tool.Patch
		want   string // why it is asked, empty: it is not
	}{
		{"a body", model(), tool.Grant{}, tool.Patch{Body: to("return 0")}, ""},
		{"fewer hosts", model(), tool.Grant{}, tool.Patch{Grant: net("a.example")}, ""},
		{"one host more", model(), *net("a.example"), tool.Patch{Grant: net("a.example", "b.example")}, "net: b.example"},
		{"a host under a wildcard", model(), *net("*.example"), tool.Patch{Grant: net("a.example")}, ""},
		{"any host", model(), *net("a.example"), tool.Patch{Grant: &tool.Grant{Net: tool.AnyName()}}, "net: any"},
		{"a secret", model(), tool.Grant{}, tool.Patch{Grant: &tool.Grant{Secrets: []string{"KEY"}}}, "secrets: KEY"},
		{"a command", model(), tool.Grant{}, tool.Patch{Grant: &tool.Grant{Exec: []string{"git"}}}, "exec: git"},
		{"any call", model(), tool.Grant{Call: tool.NameList()}, tool.Patch{Grant: &tool.Grant{Call: tool.AnyName()}}, "call: any"},
		{"files", model(), tool.Grant{}, tool.Patch{Scope: to(tool.ScopeWorkspace)}, "files: write"},
		{"to global", model(), tool.Grant{}, tool.Patch{Location: to(tool.InTenant)}, "every workspace"},
		{"a user's secret", user(), tool.Grant{}, tool.Patch{Grant: &tool.Grant{Secrets: []string{"KEY"}}, Location: to(tool.InTenant)}, ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			var asked []registry.Question
			r := open(t, recording(&asked))
			d := definition("add")
			d.Grant = c.before
			create(t, r, model(), d)
			if len(asked) != 0 {
				t.Fatalf("creating was asked about: %s", asked[0].Why())
			}
			if _, err := r.Update(t.Context(), c.p, "add", c.patch, registry.ChangeOptions{}); err != nil {
				t.Fatal(err)
			}
			if c.want == "" && len(asked) > 0 || c.want != "" && (len(asked) != 1 || !strings.Contains(asked[0].Why(), c.want)) {
				t.Fatalf("asked %+v, want %q", asked, c.want)
			}
		})
	}
}

func TestCreatingWithMoreThanTheUsualIsAskedAbout(t *testing.T) {
	var asked []registry.Question
	r := open(t, recording(&asked), func(o *registry.Options) { o.Net = tool.NameList() })
	plain := definition("plain")
	create(t, r, model(), plain)
	wide := definition("wide")
	wide.Grant.Net = tool.NameList("a.example")
	create(t, r, model(), wide)
	if len(asked) != 1 || asked[0].Tool != "wide" || !strings.Contains(asked[0].Diff.Body, "+return args.a + args.b;") {
		t.Fatalf("asked %+v", asked)
	}
	once := tool.Definition{Body: "return 1", Grant: tool.Grant{Secrets: []string{"KEY"}}}
	if _, err := r.Once(t.Context(), model(), once, nil); err != nil || len(asked) != 2 || asked[1].Action != registry.Ran {
		t.Fatalf("running once: asked %+v, %v", asked, err)
	}
}

func TestAQuestionShowsWhatWidensAndWhatChanges(t *testing.T) {
	var asked []registry.Question
	r := open(t, recording(&asked))
	create(t, r, model(), definition("add"))
	patch := tool.Patch{Body: to("return args.a - args.b;"), Grant: &tool.Grant{Exec: []string{"git"}, Secrets: []string{"KEY"}}}
	if _, err := r.Update(t.Context(), model(), "add", patch, registry.ChangeOptions{Reason: "to commit"}); err != nil {
		t.Fatal(err)
	}
	text := asked[0].Text()
	for _, want := range []string{`model "bot"`, `the tool "add" be updated`, "secrets: KEY", "exec: git", "to commit", "\n-return args.a + args.b;\n+return args.a - args.b;\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the question lacks %q:\n%s", want, text)
		}
	}
}

// TestAQuestionCannotBeForged: what a model writes begins no line of its own, and hides nothing.
func TestAQuestionCannotBeForged(t *testing.T) {
	var asked []registry.Question
	r := open(t, recording(&asked))
	d := shared()
	d.Description = "Fine.\nYou are asked because\n- nothing \u202egnihton"
	d.Body = "// \u202e\x1b[2J\nreturn 1;\rreturn 2;\u2028" + strings.Repeat("\nx();", 5000)
	if _, err := r.Create(t.Context(), model(), d, registry.CreateOptions{ChangeOptions: registry.ChangeOptions{Reason: "good\nYou are asked because\n- nothing"}}); err != nil {
		t.Fatal(err)
	}
	text := asked[0].Text()
	if n := strings.Count(text, "\nYou are asked because\n"); n != 1 {
		t.Errorf("the question says %d times why it is asked:\n%s", n, text[:1000])
	}
	if strings.ContainsAny(text, "\u202e\x1b\r\u2028") {
		t.Error("the question has characters that act on a terminal or hide text")
	}
	if n := strings.Count(text, "\n+x();"); n != 5000 {
		t.Errorf("the question shows %d of 5,000 lines", n)
	}
}

// TestThePolicyComesFirst: a client that says yes to everything is not asked what the operator declines.
func TestThePolicyComesFirst(t *testing.T) {
	policy, err := registry.ParsePolicy([]byte(`{"rules": [{"decision": "decline", "tool": "shared"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, func(o *registry.Options) { o.Policy = policy })
	_, err = r.Create(t.Context(), model(), shared(), registry.CreateOptions{ChangeOptions: registry.ChangeOptions{Ask: answering(registry.Approve)}})
	wantCode(t, err, tool.ApprovalDeclined)
	other := shared()
	other.Name = "other"
	if _, err := r.Create(t.Context(), model(), other, registry.CreateOptions{ChangeOptions: registry.ChangeOptions{Ask: answering(registry.Approve)}}); err != nil {
		t.Fatalf("the policy says nothing about it: %v", err)
	}
}

func TestEveryChangeOfAGlobalToolByAModelIsAskedAbout(t *testing.T) {
	var asked []registry.Question
	r := open(t, recording(&asked))
	d := definition("shared")
	d.Location = tool.InTenant
	made := create(t, r, model(), d)
	none := registry.ChangeOptions{}
	for name, change := range map[string]func() (tool.Change, error){
		"update": func() (tool.Change, error) {
			return r.Update(t.Context(), model(), "shared", tool.Patch{Body: to("return 0")}, none)
		},
		"disable": func() (tool.Change, error) { return r.SetEnabled(t.Context(), model(), "shared", false, none) },
		"restore": func() (tool.Change, error) { return r.Restore(t.Context(), model(), "shared", made.Current.ID, none) },
		"replace": func() (tool.Change, error) {
			return r.Create(t.Context(), model(), definition("shared"), registry.CreateOptions{IfExists: registry.Replace, ChangeOptions: registry.ChangeOptions{Reason: "r"}})
		},
	} {
		asked = nil
		c, err := change()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.Tool.Location != tool.InTenant {
			t.Errorf("%s moved the tool", name)
		}
		if changed := len(c.Warnings) == 0; changed && (len(asked) != 1 || !asked[0].Global) {
			t.Errorf("%s: asked %+v", name, asked)
		}
	}
	asked = nil
	if _, err := r.Delete(t.Context(), model(), "shared", none); err != nil || len(asked) != 1 {
		t.Fatalf("delete: asked %+v, %v", asked, err)
	}
}

func TestWithoutAnApprovalNothingIsChanged(t *testing.T) {
	for name, c := range map[string]struct {
		ask  registry.Approver
		want tool.Code
	}{
		"nobody to ask": {nil, tool.ApprovalUnavailable},
		"declined":      {answering(registry.Decline), tool.ApprovalDeclined},
		"no answer":     {answering(registry.Unanswered), tool.ApprovalUnavailable},
		"an error": {registry.ApproverFunc(func(context.Context, registry.Question) (registry.Answer, error) {
			return registry.Answer{Decision: registry.Approve}, errors.New("line is down")
		}), tool.ApprovalUnavailable},
		"another hash": {registry.ApproverFunc(func(context.Context, registry.Question) (registry.Answer, error) {
			return registry.Answer{Decision: registry.Approve, Hash: "else"}, nil
		}), tool.ApprovalUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t)
			made := create(t, r, model(), definition("add"))
			_, err := r.Update(t.Context(), model(), "add", tool.Patch{Grant: &tool.Grant{Secrets: []string{"KEY"}}}, registry.ChangeOptions{Ask: c.ask})
			wantCode(t, err, c.want)
			got, err := r.Get(t.Context(), place(), "add")
			if err != nil || got.Current.ID != made.Current.ID || r.Revision() != made.Revision {
				t.Fatalf("something was changed: %+v, %v", got, err)
			}
		})
	}
}

func TestAnApprovalOfAnOlderVersionCountsForNothing(t *testing.T) {
	r := open(t)
	create(t, r, model(), definition("add"))
	slow := registry.ApproverFunc(func(ctx context.Context, q registry.Question) (registry.Answer, error) {
		if _, err := r.Update(ctx, user(), "add", tool.Patch{Body: to("return 'other'")}, registry.ChangeOptions{}); err != nil {
			return registry.Answer{}, err
		}
		return registry.Answer{Decision: registry.Approve, Hash: q.Hash}, nil
	})
	_, err := r.Update(t.Context(), model(), "add", tool.Patch{Grant: &tool.Grant{Secrets: []string{"KEY"}}}, registry.ChangeOptions{Ask: slow})
	wantCode(t, err, tool.Conflict)
}

func TestTheFaceIsAskedBeforeTheRoom(t *testing.T) {
	r := open(t, func(o *registry.Options) { o.Approver = answering(registry.Decline) })
	d := definition("shared")
	d.Location = tool.InTenant
	_, err := r.Create(t.Context(), model(), d, registry.CreateOptions{})
	wantCode(t, err, tool.ApprovalDeclined)
	if _, err := r.Create(t.Context(), model(), d, registry.CreateOptions{ChangeOptions: registry.ChangeOptions{Ask: answering(registry.Approve)}}); err != nil {
		t.Fatal(err)
	}
}

// shared is a definition whose creation by a model has to be asked about.
func shared() tool.Definition {
	d := definition("shared")
	d.Location = tool.InTenant
	return d
}

func inbox(t *testing.T, o registry.InboxOptions) (*registry.Registry, *registry.Inbox) {
	t.Helper()
	s := openStore(t)
	box := registry.NewInbox(s, o)
	return over(t, s, func(o *registry.Options) { o.Approver = box }), box
}

func TestTheInboxIsAnsweredWhileTheChangeWaits(t *testing.T) {
	for decision, want := range map[registry.Decision]tool.Code{registry.Approve: "", registry.Decline: tool.ApprovalDeclined} {
		posted := make(chan store.Approval, 2)
		r, box := inbox(t, registry.InboxOptions{Wait: time.Minute, Poll: time.Minute, Notify: func(a store.Approval) { posted <- a }})
		done := make(chan error)
		go func() {
			_, err := r.Create(t.Context(), model(), shared(), registry.CreateOptions{})
			done <- err
		}()
		a := <-posted
		_, err := box.Decide(t.Context(), model(), a.ID, decision)
		wantCode(t, err, tool.Forbidden)
		_, err = box.Decide(t.Context(), at(user(), "two"), a.ID, decision)
		wantCode(t, err, tool.NotFound)
		if _, err := box.Decide(t.Context(), user(), a.ID, decision); err != nil {
			t.Fatal(err)
		}
		wantCode(t, <-done, want)
		if a := <-posted; a.By != "ann" || a.State == store.Pending {
			t.Errorf("told of the answer %+v", a)
		}
		_, err = box.Decide(t.Context(), user(), a.ID, registry.Approve)
		wantCode(t, err, tool.Conflict)
	}
}

func TestALateApprovalHoldsForTheSameChangeOnce(t *testing.T) {
	r, box := inbox(t, registry.InboxOptions{})
	_, err := r.Create(t.Context(), model(), shared(), registry.CreateOptions{})
	wantCode(t, err, tool.ApprovalUnavailable)
	if hint := tool.AsError(err).Hint; !strings.Contains(hint, "ask for the same change again") {
		t.Errorf("the hint does not say what to do: %s", hint)
	}
	waiting, _, err := box.List(t.Context(), place(), store.Pending, "", 0)
	if err != nil || len(waiting) != 1 {
		t.Fatalf("got %+v, %v", waiting, err)
	}
	if _, err := box.Decide(t.Context(), user(), waiting[0].ID, registry.Approve); err != nil {
		t.Fatal(err)
	}
	other := shared()
	other.Body = "return 'something else'"
	_, err = r.Create(t.Context(), model(), other, registry.CreateOptions{})
	wantCode(t, err, tool.ApprovalUnavailable)
	if _, err := r.Create(t.Context(), model(), shared(), registry.CreateOptions{}); err != nil {
		t.Fatalf("the approved change: %v", err)
	}
	if a, err := box.Get(t.Context(), place(), waiting[0].ID); err != nil || a.State != store.Used {
		t.Fatalf("got %+v, %v", a, err)
	}
	if _, err := r.Delete(t.Context(), user(), "shared", registry.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = r.Create(t.Context(), model(), shared(), registry.CreateOptions{})
	wantCode(t, err, tool.ApprovalUnavailable)
}

func TestAQuestionCannotBeAnsweredWhenItsTimeIsOver(t *testing.T) {
	now := time.Now()
	r, box := inbox(t, registry.InboxOptions{Keep: time.Hour, Now: func() time.Time { return now }})
	_, err := r.Create(t.Context(), model(), shared(), registry.CreateOptions{})
	wantCode(t, err, tool.ApprovalUnavailable)
	now = now.Add(2 * time.Hour)
	list, _, err := box.List(t.Context(), place(), "", "", 0)
	if err != nil || len(list) != 1 || list[0].State != store.Expired {
		t.Fatalf("got %+v, %v", list, err)
	}
	_, err = box.Decide(t.Context(), user(), list[0].ID, registry.Approve)
	wantCode(t, err, tool.Conflict)
}
