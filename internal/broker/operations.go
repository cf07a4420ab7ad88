package broker

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"toolroom/internal/broker/command"
	"toolroom/internal/broker/egress"
	"toolroom/internal/broker/files"
	"toolroom/tool"
)

type stream struct {
	Stream uint64 `json:"stream"`
}

func (s *Session) fetch(ctx context.Context, args json.RawMessage, data []byte) (any, []byte, error) {
	r, err := decode[egress.Request](args)
	if err != nil {
		return nil, nil, err
	}
	r.Body = data
	head, first, err := s.net.Fetch(ctx, &r)
	if err != nil {
		return nil, nil, err
	}
	return head, first, nil
}

func (s *Session) readBody(ctx context.Context, args json.RawMessage, _ []byte) (any, []byte, error) {
	r, err := decode[stream](args)
	if err != nil {
		return nil, nil, err
	}
	chunk, done, err := s.net.Read(ctx, r.Stream)
	if err != nil {
		return nil, nil, err
	}
	return struct {
		Done bool `json:"done"`
	}{done}, chunk, nil
}

func (s *Session) closeBody(_ context.Context, args json.RawMessage, _ []byte) (any, []byte, error) {
	r, err := decode[stream](args)
	if err == nil {
		s.net.CloseStream(r.Stream)
	}
	return nil, nil, err
}

// folder is the workspace's, if the call may use it that way.
func (s *Session) folder(write bool) (*files.Folder, error) {
	access := s.call.Grant.Files
	switch {
	case s.call.Scope != tool.ScopeWorkspace || s.call.Root == "":
		return nil, tool.Errorf(tool.CapabilityDenied, "this tool has no files").WithHint("Only tools of scope \"workspace\" have; change the tool's scope.")
	case access != tool.ReadFiles && access != tool.WriteFiles:
		return nil, tool.Errorf(tool.CapabilityDenied, "this tool was not granted files").WithHint("Its grant needs files: \"read\" or \"write\".")
	case write && access != tool.WriteFiles:
		return nil, tool.Errorf(tool.CapabilityDenied, "this tool may read files and not change them").WithHint("Its grant needs files: \"write\".")
	}
	return s.space.files(s.call, s.broker.opts.Files, s.broker.usageFile(s.call))
}

// filePath and deepPath are what most file operations take.
type filePath struct {
	Path string `json:"path"`
}

type deepPath struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive"`
}

type writing struct {
	Path   string `json:"path"`
	Append bool   `json:"append"`
}

// withFiles makes the handler of an operation on the workspace's folder: arguments are
// read into a T, and the call must be granted files, to be changed if it writes.
func withFiles[T any](s *Session, writes bool, do func(f *files.Folder, r T, data []byte) (any, []byte, error)) handler {
	return func(_ context.Context, args json.RawMessage, data []byte) (any, []byte, error) {
		r, err := decode[T](args)
		if err != nil {
			return nil, nil, err
		}
		f, err := s.folder(writes)
		if err != nil {
			return nil, nil, err
		}
		return do(f, r, data)
	}
}

func readFile(f *files.Folder, r filePath, _ []byte) (any, []byte, error) {
	data, err := f.Read(r.Path)
	return nil, data, err
}

func writeFile(f *files.Folder, r writing, data []byte) (any, []byte, error) {
	write := f.Write
	if r.Append {
		write = f.Append
	}
	size, err := write(r.Path, data)
	return struct {
		Size int64 `json:"size"`
	}{size}, nil, err
}

// listFiles answers in data: a listing may be larger than a value can be.
func listFiles(f *files.Folder, r deepPath, _ []byte) (any, []byte, error) {
	list, err := f.List(r.Path, r.Recursive)
	if err != nil {
		return nil, nil, err
	}
	data, err := json.Marshal(list)
	return nil, data, err
}

func statFile(f *files.Folder, r filePath, _ []byte) (any, []byte, error) {
	entry, err := f.Stat(r.Path)
	return entry, nil, err
}

func removeFile(f *files.Folder, r deepPath, _ []byte) (any, []byte, error) {
	return nil, nil, f.Remove(r.Path, r.Recursive)
}

func makeFolder(f *files.Folder, r filePath, _ []byte) (any, []byte, error) {
	return nil, nil, f.Mkdir(r.Path)
}

// runCommand answers with both outputs in data, stdout first.
func (s *Session) runCommand(ctx context.Context, args json.RawMessage, data []byte) (any, []byte, error) {
	r, err := decode[struct {
		Command   string   `json:"command"`
		Args      []string `json:"args"`
		TimeoutMS int64    `json:"timeoutMs"`
		Cwd       string   `json:"cwd"`
	}](args)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(s.call.Grant.Exec, r.Command) {
		return nil, nil, tool.Errorf(tool.ExecDenied, "this tool was not granted the command %.64q", r.Command).
			WithHint("Its grant needs exec: [%q]; widening a grant needs an approval.", r.Command)
	}
	run := command.Run{Name: r.Command, Args: r.Args, Input: data, Timeout: time.Duration(max(0, r.TimeoutMS)) * time.Millisecond}
	if err := s.placeCommand(&run, r.Cwd); err != nil {
		return nil, nil, err
	}
	result, err := s.broker.commands.Run(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	return struct {
		ExitCode    int  `json:"exitCode"`
		StdoutBytes int  `json:"stdoutBytes"`
		StderrBytes int  `json:"stderrBytes"`
		Truncated   bool `json:"truncated"`
	}{result.ExitCode, len(result.Stdout), len(result.Stderr), result.Truncated}, slices.Concat(result.Stdout, result.Stderr), nil
}

// placeCommand gives a command the workspace, as far as the call has it.
func (s *Session) placeCommand(run *command.Run, cwd string) error {
	folder, err := s.folder(false)
	if err != nil {
		if cwd != "" {
			return err
		}
		return nil // it runs without a workspace
	}
	if folder.Hides() {
		return tool.Errorf(tool.ExecDenied, "commands do not run here, because the room keeps its own data inside of the workspace").
			WithHint("The operator can move it with --data.")
	}
	if cwd == "" {
		cwd = "."
	}
	at, err := folder.Stat(cwd)
	switch {
	case err != nil:
		return err
	case at.Type != "dir":
		return tool.Errorf(tool.NotAFile, "cwd %.120q is not a folder", cwd)
	}
	run.Root, run.Dir, run.Write = s.call.Root, at.Path, s.call.Grant.Files == tool.WriteFiles
	return nil
}

func (s *Session) standIn(ctx context.Context, args json.RawMessage, _ []byte) (any, []byte, error) {
	r, err := decode[struct {
		Name string `json:"name"`
	}](args)
	if err != nil {
		return nil, nil, err
	}
	standin, err := s.wallet.StandIn(ctx, r.Name)
	return standin, nil, err
}

func (s *Session) sign(ctx context.Context, args json.RawMessage, data []byte) (any, []byte, error) {
	r, err := decode[struct {
		Name      string `json:"name"`
		Algorithm string `json:"algorithm"`
	}](args)
	if err != nil {
		return nil, nil, err
	}
	signature, err := s.wallet.Sign(ctx, r.Name, r.Algorithm, data)
	return nil, signature, err
}
