// Package tool is Toolroom's vocabulary: what a tool, a version, a grant, a
// call and an error are, as Go types with the JSON shapes the product promises
// to the outside. It imports the standard library only, and every other
// package may import it.
//
//	Definition ──saved by a Principal──▶ Version ──run with arguments──▶ Outcome
//	     │                                  │
//	     └── Grant, Limits, Examples        └── immutable; a Tool points at one
//
// Values of this package hold no resources and may be copied. None is safe for
// concurrent modification; all are safe for concurrent reading.
package tool
