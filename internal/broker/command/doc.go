// Package command runs the few commands that an operator has named, without a
// shell, confined to the workspace, and with nothing left over when a call ends.
//
//	room ──▶ supervisor ──▶ confined command ──▶ whatever it starts
//	   pipe: closes when the call ends, or the room dies
//
// Both processes in between are this same program, started again (Main). The
// supervisor adopts every orphan beneath it and kills all of them when the command has ended, when
// the room closes the pipe, and when the room is gone; should it be killed itself, the room inherits and ends them. The second gives up its
// privileges (Landlock, seccomp, capabilities) and becomes the command.
//
// A Set may be used concurrently and holds nothing that needs closing.
package command
