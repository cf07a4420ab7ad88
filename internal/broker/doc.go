// Package broker holds all authority that tools can borrow: the network, the
// files of their workspace, commands and secrets. (Calls of other tools are the Room's own.)
//
//	Broker (a room) ──▶ space (a workspace: its connections, its folder)
//	      └── Session (a call) ──▶ Serve(op, args, data)
//	               grant, scope, limits      egress │ files │ command │ secrets
//
// Whatever reaches Serve was written by an attacker, until it has been checked
// here: arguments are read strictly, the grant of the call's version decides, and the identity
// of the call comes from whoever opened the Session, never from a request. The
// operations stand in the table in docs/ARCHITECTURE.md.
//
// A Broker and a Session may be used concurrently; whoever opens one closes it.
package broker
