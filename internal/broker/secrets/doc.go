// Package secrets keeps what tools may use and never see.
//
//	Store (a room) ──one encrypted file a secret──▶ Wallet (a call) ──▶ stand-in for the body
//	                                                   │
//	                          what goes out: stand-in → value, only towards a bound host
//	                          what comes back: value, in all its spellings → stand-in
//
// A secret belongs to one workspace of one tenant and is bound to hosts. A body
// holds an opaque stand-in, new for every call. The Wallet swaps it for the value in URLs, headers
// and bodies that leave towards a bound host, and the Redactor swaps the value for the stand-in in
// everything that returns, also where it lies across the border of two reads.
//
// The limit of this: a bound host is trusted with the value. A host that hands
// it back cut into pieces or in a spelling of its own invention is not seen through.
//
// Store, Wallet and Redactor may be used concurrently.
package secrets
