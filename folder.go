package toolroom

import (
	"context"

	"toolroom/internal/registry"
	"toolroom/internal/registry/folder"
)

// Plan is an import that was checked and not made yet. Apply makes it, all or nothing.
type Plan = registry.Plan

// Export writes all tools of this workspace to the folder dir: for each NAME.json
// and a file with its code. It answers with the names written, and with the definitions in dir that no tool has
// any more; those stay.
func (w *Workspace) Export(ctx context.Context, dir string) (names, stale []string, err error) {
	if err := w.room.enter(); err != nil {
		return nil, nil, err
	}
	defer w.room.work.Done()
	names, stale, err = folder.Write(ctx, w.room.registry, w.principal.Place, dir)
	return names, stale, wrap(err)
}

// Import reads a folder that Export wrote and shows what would change. Nothing has changed
// until the Plan is applied.
func (w *Workspace) Import(ctx context.Context, dir, reason string) (*Plan, error) {
	return reading(w, func(r *registry.Registry) (*Plan, error) {
		items, err := folder.Read(dir)
		if err != nil {
			return nil, err
		}
		return r.PlanImport(ctx, w.principal, items, reason)
	})
}
