// Package files gives tools the files of one workspace and nothing else.
//
// Access goes through os.Root: no path is ever put together with the name of the
// workspace's folder. On top of it a walk opens a path directory by directory and
// holds each against what it looked at before, so that the place it ends in is
// known by its real name, whatever links led there and whoever swaps them meanwhile. That is
// what hiding needs: the room's own data does not exist for tools, and files that usually
// hold secrets are refused by every name they can be reached under.
//
//	path ──clean──▶ names ──walk──▶ place (an open directory, a name in it) ──▶ read, write, list …
//
// A Folder may be used concurrently; whoever opens it closes it.
package files
