package store

import (
	"context"
	"errors"

	"toolroom/tool"
)

// NoTool is the answer for a name that means nothing in its place.
func NoTool(name string) *tool.Error {
	return tool.Errorf(tool.NotFound, "there is no tool %q in this workspace", name).
		WithHint("list_tools shows what there is; include_deleted shows what was.")
}

// NoVersion is the answer for a version that its place does not have.
func NoVersion(id string) *tool.Error {
	return tool.Errorf(tool.VersionNotFound, "there is no version %q in this workspace", id).
		WithHint("read_tool with history lists a tool's versions.")
}

// Stale is the answer for a change that was made from an older revision.
func Stale(name string) *tool.Error {
	return tool.Errorf(tool.Conflict, "the tool %q was changed by somebody else in the meantime", name).
		WithHint("Read it again, look at what changed, and make your change from there.")
}

// Taken is the answer for a name that another live tool holds.
func Taken(name string, holder Record) *tool.Error {
	where := "this workspace"
	if holder.Place.Workspace == "" {
		where = "every workspace of the tenant"
	}
	e := tool.Errorf(tool.NameConflict, "the name %q is taken by the tool %q of %s", name, holder.Name, where).
		WithDetails(map[string]any{"holder": holder.Name, "location": holder.Location, "version": holder.Current.ID})
	if Fold(name) != Fold(holder.Name) {
		return e.WithHint("The two names look alike and would be taken for each other; choose a name that differs by more.")
	}
	if name != holder.Name {
		return e.WithHint("Names are the same without regard to case. Choose another name, or change %q with update_tool.", holder.Name)
	}
	return e.WithHint("Choose another name, change the tool with update_tool, or create it with if_exists: replace.")
}

// Full is the answer for one tool too many.
func Full(limit int) *tool.Error {
	return tool.Errorf(tool.LimitReached, "there are %d tools already, which is the most there may be", limit).
		WithHint("Delete tools that are no longer needed, or ask the operator to raise --max-tools.")
}

// Failed is the answer when the medium failed while doing something. The
// context's own errors stay what they are.
func Failed(doing string, cause error) error {
	var known *tool.Error
	switch {
	case cause == nil:
		return nil
	case errors.As(cause, &known):
		return known
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return tool.AsError(cause)
	}
	return tool.Errorf(tool.StorageFailed, "the room could not %s: its storage failed", doing).WithCause(cause).
		WithHint("Nothing was changed. The room's log names the cause; a full disk is the usual one.")
}

// Damaged is what a record's Broken says when it cannot be read.
func Damaged(name string, cause error) *tool.Error {
	e := tool.Errorf(tool.StorageFailed, "the stored tool %q is damaged: %v", name, cause).WithCause(cause).
		WithHint("Restore an earlier version of it, or delete it and make it anew. Other tools are not affected.")
	e.Retryable = false
	return e
}

// NoApproval is the answer for a question that its place does not have.
func NoApproval(id string) *tool.Error {
	return tool.Errorf(tool.NotFound, "there is no approval %q in this workspace", id).
		WithHint("toolroom approval list shows those that wait.")
}

// Answered is the answer for an answer that comes too late.
func Answered(id string, state ApprovalState) *tool.Error {
	e := tool.Errorf(tool.Conflict, "the approval %q is %s already", id, state).
		WithHint("The change has to be asked for again.")
	e.Retryable = false
	return e
}
