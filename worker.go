package toolroom

import (
	"fmt"
	"os"

	"toolroom/internal/broker/command"
	"toolroom/internal/sandbox"
	"toolroom/internal/worker"
)

// WorkerMain makes this process a worker, or what stands between a room and a command,
// if a room started it as one, and then does not return; in any other process it returns at once. Call it first thing in main, and
// in TestMain of tests that open a room.
func WorkerMain() {
	command.Main()
	if !sandbox.Started(os.Args) {
		return
	}
	conn, err := sandbox.Enter()
	if err == nil {
		err = worker.Serve(conn)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // the room keeps the start of it, to say why a worker ended
		os.Exit(1)
	}
	os.Exit(0)
}
