package toolroom

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"toolroom/internal/broker"
	"toolroom/internal/registry"
	"toolroom/tool"
)

// registryOptions gives the registry what it needs of the other parts.
func (r *Room) registryOptions() registry.Options {
	o := registry.Options{
		Check:       r.checkInEngine,
		RunExample:  r.runExample,
		CheckGrant:  broker.CheckGrant,
		Policy:      r.policy,
		Approver:    registry.Chain(r.patient(r.opts.Approver), r.patient(r.inbox)),
		GlobalTools: r.opts.globalTools,
		MaxTools:    r.opts.MaxTools,
		Limits:      r.opts.limits(),
		Log:         r.opts.Logger,
	}
	if r.opts.NoNet {
		o.Net = tool.NameList()
	}
	return o
}

// checkInEngine has the engine compile a body before its version is stored, so
// that what the parser takes and the engine does not is found now and not at the first call.
func (r *Room) checkInEngine(ctx context.Context, place tool.Place, built *registry.Resolved) error {
	failure, err := r.runner.Check(ctx, place, fileName(built.Tool.Name), built.Body.Code)
	switch {
	case err != nil:
		return err
	case failure != nil:
		return built.Body.Explain(failure)
	}
	return nil
}

// runExample runs a version that is not stored yet, without network, files,
// secrets or commands: an example that needs them would not be the same test everywhere.
func (r *Room) runExample(ctx context.Context, p tool.Principal, built *registry.Resolved, e tool.Example) (tool.Outcome, error) {
	w := &Workspace{room: r, principal: p, quoted: quoteJSON(p.Workspace)}
	c := w.newCall(built, "example:"+built.Tool.Current.Hash)
	c.sealed = true
	return c.run(ctx, e.Args)
}

// loadPolicy reads the operator's rules for approvals: the file that was named, which then must be there, or
// policy.json in the room's directory, if it is there.
func loadPolicy(o Options) (registry.Approver, error) {
	if o.Policy != "" {
		return registry.LoadPolicy(o.Policy)
	}
	file := filepath.Join(o.Data, "policy.json")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return registry.LoadPolicy(file)
}

func fileName(name string) string { return name + ".js" }
