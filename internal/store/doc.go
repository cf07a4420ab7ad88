// Package store is the contract between the registry and whatever keeps its
// tools: one room's tools, their versions, the change feed and the inbox of
// approvals. It decides nothing about who may do what; it only keeps promises
// that need a database to keep:
//
//   - a Write happens whole or not at all, and only if the tool is still at the
//     revision it was read at;
//   - two live tools of one place never share a Fold or a Look;
//   - a version, once there, never changes;
//   - every change has a revision of its own, and revisions only grow.
//
// Implementations are in the packages below, and all of them pass the one
// suite in storetest. Every error is a *tool.Error: not_found, conflict,
// name_conflict and limit_reached for what the contract says, storage_failed for what
// the medium did, stopped after Close. All methods may be called concurrently.
package store
