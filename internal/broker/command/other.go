//go:build !linux

package command

import (
	"context"

	"toolroom/tool"
)

// Main does nothing here: no process stands between room and command.
func Main() {}

func confinable() error {
	return tool.Errorf(tool.InvalidArguments, "this system cannot confine commands, so none can be named").WithHint("Leave --exec out; it works on Linux.")
}

func run(context.Context, string, Run) (Result, error) {
	return Result{}, tool.Errorf(tool.ExecDenied, "this system cannot confine commands")
}
