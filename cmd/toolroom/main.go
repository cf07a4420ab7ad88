// Command toolroom keeps tools that models and people make at runtime, and runs
// each call in an isolate of its own.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"toolroom"
	"toolroom/internal/cli"
)

func main() {
	toolroom.WorkerMain() // does not return when this process is a worker
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}
