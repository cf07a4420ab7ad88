// Package egress is fetch behind a guard: the only way from a tool to the
// network. What arrives here was written by a body, so every part of it is
// checked again, whatever the isolate's own fetch did.
//
//	Client (a call) ──▶ Pool (a workspace) ──▶ Guard (the room)
//	grant, redirects,    connections, never     which addresses
//	headers, streams     shared across           may be dialled
//
// A URL is parsed once, by the WHATWG rules, into a Target; every decision and
// the dialler use that Target's host. Names are resolved here, once per
// connection; every address is checked, and the socket is connected to a checked
// address and to no other, so that neither a second answer of the name server nor
// a redirect can lead anywhere else.
//
// A Guard and a Pool may be used concurrently, and so may a Client. Whoever
// opens a Pool or a Client closes it.
package egress
