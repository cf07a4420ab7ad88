// Package runner runs calls in worker processes and keeps the room healthy while
// they crash, hang, leak and flood.
//
//	Call ─▶ crew of the workspace: admit, or wait in its queue ─▶ worker: an outbox, pending calls
//	                                                                │ one at a time reads its pipe: see lead
//	Job.Host ◀── requests, all at once ─────────────────────────────┘ every frame checked as an attacker's
//
// A worker serves one workspace for its whole life. It is ended, never mended:
// whatever it does that an honest worker would not ends it, and its calls are
// told so. Spares wait, unassigned, so that a workspace's first call finds one.
//
// All methods of a Runner may be called concurrently. Nothing here knows what a
// capability is: a request goes to the Host of the call that it came from, and
// which call that is follows from the pipe.
package runner
