// Package bench measures what a caller waits for, through the front door: a real room on a
// real SQLite file, with real workers. Figures and what they mean are in
// docs/PERFORMANCE.md; compare only within one run on one machine.
package bench
