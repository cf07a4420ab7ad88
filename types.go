package toolroom

import (
	"toolroom/internal/registry"
	"toolroom/internal/sandbox"
	"toolroom/internal/store"
)

// What the registry asks and answers with, under the names an embedder uses.
type (
	// ChangeOptions go with every change of a tool.
	ChangeOptions = registry.ChangeOptions
	// CreateOptions go with Workspace.Create.
	CreateOptions = registry.CreateOptions
	// IfExists says what Create does about a name that is taken.
	IfExists = registry.IfExists
	// ListOptions say which tools Workspace.Tools gives.
	ListOptions = registry.ListOptions
	// Page is a part of a list of tools.
	Page = registry.Page
	// Versions is a page of a history.
	Versions = registry.Versions
	// Diff is how two versions differ.
	Diff = registry.Diff
	// FailedExample is an example that gave something else than it says.
	FailedExample = registry.FailedExample
	// Event is one entry of the change feed.
	Event = store.Change
)

// Refuse and Replace are the choices of IfExists. Refuse is the default.
const (
	Refuse  = registry.Refuse
	Replace = registry.Replace
)

// How a person's word is asked for.
type (
	// Question is what a person is shown before a risky change is made.
	Question = registry.Question
	// Answer is what an approver says.
	Answer = registry.Answer
	// Decision is yes, no, or left to the next approver.
	Decision = registry.Decision
	// Approver is one way to ask. It may be called concurrently.
	Approver = registry.Approver
	// ApproverFunc is a callback as an Approver.
	ApproverFunc = registry.ApproverFunc
	// Approval is a question that was kept in the inbox.
	Approval = store.Approval
	// ApprovalState is how far a kept question has come.
	ApprovalState = store.ApprovalState
)

// The decisions.
const (
	Unanswered = registry.Unanswered
	Approve    = registry.Approve
	Decline    = registry.Decline
)

// Pending is the state of a question that waits for its answer.
const Pending = store.Pending

// Layer is one wall around workers, as it stands on this machine.
type Layer = sandbox.Layer

// Layers is what stands between tool code and this machine, outermost first.
func Layers() []Layer { return sandbox.Layers() }
