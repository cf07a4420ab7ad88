package registry_test

import (
	"testing"

	"toolroom/internal/registry"
	"toolroom/tool"
)

func approveAll(o *registry.Options) { o.Approver = answering(registry.Approve) }

func TestAModelNeverChangesWhatAUserMade(t *testing.T) {
	r := open(t, approveAll)
	made := create(t, r, user(), definition("add"))
	none := registry.ChangeOptions{}
	for name, change := range map[string]func() error{
		"update": func() error {
			_, err := r.Update(t.Context(), model(), "add", tool.Patch{Body: to("return 0")}, none)
			return err
		},
		"replace": func() error {
			_, err := r.Create(t.Context(), model(), definition("add"), registry.CreateOptions{IfExists: registry.Replace})
			return err
		},
		"disable": func() error { _, err := r.SetEnabled(t.Context(), model(), "add", false, none); return err },
		"delete":  func() error { _, err := r.Delete(t.Context(), model(), "add", none); return err },
		"restore": func() error { _, err := r.Restore(t.Context(), model(), "add", made.Current.ID, none); return err },
		"import": func() error {
			_, err := r.PlanImport(t.Context(), model(), []registry.Item{{Definition: definition("add")}}, "")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, change(), tool.Forbidden) })
	}
	if _, err := r.Delete(t.Context(), user(), "add", none); err != nil {
		t.Fatal(err)
	}
	_, err := r.Restore(t.Context(), model(), "add", made.Current.ID, none)
	wantCode(t, err, tool.Forbidden)
}

func TestWhoMadeAToolStaysWhoMadeIt(t *testing.T) {
	r := open(t)
	create(t, r, model(), definition("add"))
	c, err := r.Update(t.Context(), user(), "add", tool.Patch{Body: to("return 1")}, registry.ChangeOptions{})
	if err != nil || c.Tool.Source != tool.ByModel || c.Tool.Current.Author != (tool.Author{Kind: tool.User, ID: "ann"}) {
		t.Fatalf("got %+v, %v", c.Tool, err)
	}
}

func TestAGlobalToolIsInEveryWorkspaceOfItsTenant(t *testing.T) {
	r := open(t)
	d := definition("shared")
	d.Location = tool.InTenant
	create(t, r, user(), d)
	if _, err := r.Resolve(t.Context(), at(user(), "two").Place, "shared"); err != nil {
		t.Fatal(err)
	}
	_, err := r.Resolve(t.Context(), tool.Place{Tenant: "other", Workspace: "one"}, "shared")
	wantCode(t, err, tool.NotFound)
	_, err = r.Create(t.Context(), at(user(), "two"), definition("Shared"), registry.CreateOptions{})
	wantCode(t, err, tool.NameConflict)

	create(t, r, user(), definition("mine"))
	g := definition("mine")
	g.Location = tool.InTenant
	_, err = r.Create(t.Context(), user(), g, registry.CreateOptions{})
	wantCode(t, err, tool.NameConflict)
}

func TestACollisionThatArisesLaterIsShown(t *testing.T) {
	r := open(t)
	create(t, r, at(user(), "two"), definition("add"))
	g := definition("add")
	g.Location, g.Body = tool.InTenant, "return 'global'"
	create(t, r, user(), g)
	page, err := r.List(t.Context(), at(user(), "two").Place, registry.ListOptions{})
	if err != nil || len(page.Tools) != 2 || page.Tools[0].Shadowed || !page.Tools[1].Shadowed {
		t.Fatalf("got %+v, %v", page.Tools, err)
	}
	for workspace, want := range map[string]tool.Location{"one": tool.InTenant, "two": tool.InWorkspace} {
		got, err := r.Resolve(t.Context(), at(user(), workspace).Place, "add")
		if err != nil || got.Tool.Location != want {
			t.Errorf("%s: %+v, %v", workspace, got, err)
		}
	}
	// The workspace's own tool can still be changed, and when it is gone the global one appears.
	if _, err := r.Update(t.Context(), at(user(), "two"), "add", tool.Patch{Body: to("return 2")}, registry.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Delete(t.Context(), at(user(), "two"), "add", registry.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Resolve(t.Context(), at(user(), "two").Place, "add"); err != nil || got.Tool.Location != tool.InTenant {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestAnOperatorCanForbidGlobalTools(t *testing.T) {
	r := open(t, func(o *registry.Options) { o.GlobalTools = func(tenant string) bool { return tenant != "acme" } })
	d := definition("shared")
	d.Location = tool.InTenant
	_, err := r.Create(t.Context(), user(), d, registry.CreateOptions{})
	wantCode(t, err, tool.Forbidden)
	create(t, r, user(), definition("mine"))
	_, err = r.Update(t.Context(), user(), "mine", tool.Patch{Location: to(tool.InTenant)}, registry.ChangeOptions{})
	wantCode(t, err, tool.Forbidden)
}

func TestAToolMovesBetweenWorkspaceAndTenant(t *testing.T) {
	r := open(t)
	two := at(user(), "two").Place
	create(t, r, user(), definition("add"))
	move := func(l tool.Location) {
		t.Helper()
		if _, err := r.Update(t.Context(), user(), "add", tool.Patch{Location: &l}, registry.ChangeOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	move(tool.InTenant)
	if _, err := r.Resolve(t.Context(), two, "add"); err != nil {
		t.Fatal(err)
	}
	move(tool.InWorkspace)
	_, err := r.Resolve(t.Context(), two, "add")
	wantCode(t, err, tool.NotFound)
}

func TestAWorkspaceHoldsNoMoreToolsThanItMay(t *testing.T) {
	r := open(t, func(o *registry.Options) { o.MaxTools = 2 })
	create(t, r, user(), definition("alpha"))
	create(t, r, user(), definition("beta"))
	_, err := r.Create(t.Context(), user(), definition("gamma"), registry.CreateOptions{})
	wantCode(t, err, tool.LimitReached)
	if _, err := r.Delete(t.Context(), user(), "alpha", registry.ChangeOptions{}); err != nil {
		t.Fatal(err)
	}
	create(t, r, user(), definition("gamma"))
}
