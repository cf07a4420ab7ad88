// Package toolroom is what an embedder imports: a room keeps the tools that
// models and people make while an agent runs, and runs every call in an isolate of its own.
//
//	Open(Options) ──▶ Room ──Workspace(principal, root)──▶ Workspace: one principal in one workspace
//	                                                           │ Create, Update, Restore, Delete …
//	                                                           │ Tools, Tool, Search, History, Diff …
//	                                                           └ Call, Run
//
// A program that opens a room calls WorkerMain first thing in main: workers are
// the same program, started again. A Room and its Workspaces may be used concurrently; whoever
// opened the Room closes it. Every error is a *tool.Error.
package toolroom
