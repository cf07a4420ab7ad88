// Package registry is where tools are defined, changed, found and trusted: every
// rule about who may change what, in one place and in the same words for every face.
//
//	Create, Update, SetEnabled, Restore, Delete     change, each in one step that happens whole or not at all
//	Get, List, Search, History, Version, Diff       read; also what was deleted
//	Resolve                                         what a call needs, compiled and cached
//	Follow                                          the change feed of a workspace
//	Inbox, Policy, Chain, ApproverFunc              ways to ask before a risky change
//
// A change runs through the same steps whoever asks: may this principal do it;
// complete the definition and check every field; compile body and schemas; run the examples; ask for approval if a model
// touches a global tool or widens a grant; store the version if the tool is still as it
// was read. Nothing is stored before the last step.
//
// Bodies and schemas are compiled by the packages source and schema. What needs the engine comes in as
// functions in Options, so the package knows neither the engine nor any face.
package registry
