package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"toolroom/tool"
)

// Options are what an operator may choose. The zero value has the defaults.
type Options struct {
	Hidden   []string // absolute paths that do not exist for tools: the room's own data
	Show     []string // patterns (path.Match, case ignored) of secret-like names or paths that tools may see
	Usage    string   // file, outside of the folder or hidden, that keeps what tools added between two openings; "": they start anew
	MaxBytes int64    // how much tools may add to the folder; default 1 GiB
	MaxFiles int64    // how many files and folders they may add; default 10,000
	MaxFile  int64    // the largest file that is read or written at once; default 16 MiB
	MaxList  int64    // how many entries one listing may have; default 10,000
}

// Folder is the files of one workspace.
type Folder struct {
	root   *os.Root
	opts   Options
	hidden []string // lower case, relative, with slashes

	changing sync.Mutex // one change at a time, so that the quota holds
	bytes    int64      // added by tools
	files    int64
	kept     usage // as Options.Usage has it

	recounted time.Time
}

// Open opens a workspace's folder, which must exist. The error is
// invalid_arguments, for the operator.
func Open(dir string, o Options) (*Folder, error) {
	f := &Folder{opts: o}
	f.opts.MaxBytes = orDefault(o.MaxBytes, 1<<30)
	f.opts.MaxFiles = orDefault(o.MaxFiles, 10_000)
	f.opts.MaxFile = orDefault(o.MaxFile, 16<<20)
	f.opts.MaxList = orDefault(o.MaxList, 10_000)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, tool.Errorf(tool.InvalidArguments, "the workspace's folder %s cannot be opened: %w", quote(dir), err)
	}
	for _, h := range o.Hidden {
		rel, err := inside(real, h)
		if err != nil {
			return nil, err
		}
		if rel != "" {
			f.hidden = append(f.hidden, rel)
		}
	}
	if f.root, err = os.OpenRoot(real); err != nil {
		return nil, tool.Errorf(tool.InvalidArguments, "the workspace's folder %s cannot be opened: %w", quote(dir), err)
	}
	if o.Usage != "" {
		f.remember()
	}
	return f, nil
}

func orDefault(v, otherwise int64) int64 {
	if v <= 0 {
		return otherwise
	}
	return v
}

// inside is path relative to root, or "" if it lies elsewhere.
func inside(root, path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", tool.Errorf(tool.InvalidArguments, "%s is not a path: %w", quote(path), err)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil { // what is not there yet has no links
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", nil
	}
	if rel == "." {
		return "", tool.Errorf(tool.InvalidArguments, "the room's data and the workspace are the same folder, %s", quote(root)).
			WithHint("Choose another --data or --root.")
	}
	return strings.ToLower(filepath.ToSlash(rel)), nil
}

// Hides says whether something of the room's own lies inside the folder.
func (f *Folder) Hides() bool { return len(f.hidden) > 0 }

// Close closes the folder. What is under way may fail.
func (f *Folder) Close() error {
	f.changing.Lock()
	defer f.changing.Unlock()
	return errors.Join(f.keep(), f.root.Close())
}

// grow takes from the quota, or gives back. The caller holds changing.
func (f *Folder) grow(p string, bytes, files int64) error {
	if f.bytes+bytes > f.opts.MaxBytes || f.files+files > f.opts.MaxFiles {
		f.recount()
	}
	switch {
	case bytes > 0 && f.bytes+bytes > f.opts.MaxBytes:
		return tool.Errorf(tool.QuotaExceeded, "%s was not written: the tools of this workspace may add %d bytes, and %d are used", quote(p), f.opts.MaxBytes, f.bytes).
			WithHint("Remove files that are no longer needed.")
	case files > 0 && f.files+files > f.opts.MaxFiles:
		return tool.Errorf(tool.QuotaExceeded, "%s was not made: the tools of this workspace may add %d files and folders", quote(p), f.opts.MaxFiles).
			WithHint("Remove files that are no longer needed.")
	}
	f.bytes, f.files = max(0, f.bytes+bytes), max(0, f.files+files)
	f.keepSome()
	return nil
}

// shrink gives back.
func (f *Folder) shrink(bytes, files int64) {
	f.bytes, f.files = max(0, f.bytes-bytes), max(0, f.files-files)
}

// makeDir makes a folder in the directory of to. The caller holds changing.
func (f *Folder) makeDir(to *place, name string) error {
	if err := f.grow(to.path, 0, 1); err != nil {
		return err
	}
	if err := to.dir().Mkdir(name, 0o755); err != nil {
		f.shrink(0, 1)
		return explain(to.path, err)
	}
	return nil
}
