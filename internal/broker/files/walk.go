package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// maxLinks is how many symbolic links one path may lead through.
const maxLinks = 40

// intent is what a path is walked for.
type intent uint8

const (
	looking  intent = iota // nothing changes
	making                 // missing folders on the way are made
	removing               // a link at the end is not followed
)

// place is where a path led: an open directory, and in it a leaf unless the
// directory itself is meant.
type place struct {
	path  string      // as its author wrote it
	dirs  []*os.Root  // from the folder, which stays open, down to the directory
	names []string    // real names of dirs[1:]
	leaf  string      // a file or whatever else is no directory; "" for none
	info  fs.FileInfo // of the leaf; nil if nothing is there
}

func (p *place) dir() *os.Root { return p.dirs[len(p.dirs)-1] }

// real is the place's own path in the folder.
func (p *place) real() []string {
	if p.leaf == "" {
		return p.names
	}
	return append(p.names[:len(p.names):len(p.names)], p.leaf)
}

// close closes what the walk opened.
func (p *place) close() {
	for len(p.dirs) > 1 {
		p.up()
	}
}

func (p *place) up() {
	_ = p.dir().Close() // it was only looked through
	p.dirs, p.names = p.dirs[:len(p.dirs)-1], p.names[:len(p.names)-1]
}

// step is a name still to go. One that a link added must exist.
type step struct {
	name   string
	linked bool
}

// walk goes to a path, which must be visible to tools. The caller closes the place.
func (f *Folder) walk(p string, what intent) (*place, error) {
	names, err := split(p)
	if err != nil {
		return nil, err
	}
	w := walker{folder: f, intent: what, to: &place{path: p, dirs: []*os.Root{f.root}}}
	w.push(names, false)
	for len(w.steps) > 0 && err == nil {
		s := w.steps[0]
		w.steps = w.steps[1:]
		err = w.step(s)
	}
	if err != nil {
		w.to.close()
		return nil, err
	}
	return w.to, nil
}

type walker struct {
	folder *Folder
	intent intent
	to     *place
	steps  []step
	links  int
}

func (w *walker) push(names []string, linked bool) {
	steps := make([]step, 0, len(names)+len(w.steps))
	for _, n := range names {
		steps = append(steps, step{n, linked})
	}
	w.steps = append(steps, w.steps...)
}

// step goes one name further.
func (w *walker) step(s step) error {
	to := w.to
	switch {
	case to.leaf != "":
		return notFile(to.path, "leads through something that is not a folder")
	case s.name == "..":
		if len(to.dirs) == 1 {
			return deny(to.path, "is a symbolic link that leads out of the workspace")
		}
		to.up()
		return nil
	}
	if err := w.visible(s.name); err != nil {
		return err
	}
	info, err := w.lstat(s)
	switch {
	case err != nil:
		return err
	case info != nil && info.Mode()&fs.ModeSymlink != 0:
		return w.link(s.name)
	case info != nil && info.IsDir():
		return w.enter(s.name, info)
	}
	to.leaf, to.info = s.name, info
	return nil
}

// visible refuses the names that are not for tools.
func (w *walker) visible(name string) error {
	names := append(w.to.names[:len(w.to.names):len(w.to.names)], name)
	switch {
	case w.folder.invisible(names) && w.intent == making:
		return deny(w.to.path, "is a name that the room keeps for itself")
	case w.folder.invisible(names):
		return missing(w.to.path)
	case w.folder.secret(names):
		return deny(w.to.path, "is hidden from tools, because files of that name usually hold secrets").
			WithHint("The operator can show it to this workspace; a tool that needs a key should use ctx.secret.")
	}
	return nil
}

// lstat looks at a name; nil is a last name where nothing is yet. A folder that
// is missing on the way is made if that is what the walk is for.
func (w *walker) lstat(s step) (fs.FileInfo, error) {
	info, err := w.to.dir().Lstat(s.name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return info, explain(w.to.path, err)
	}
	switch {
	case s.linked:
		return nil, deny(w.to.path, "is a symbolic link that leads nowhere")
	case len(w.steps) == 0:
		return nil, nil
	case w.intent != making:
		return nil, missing(w.to.path)
	}
	if err := w.folder.makeDir(w.to, s.name); err != nil {
		return nil, err
	}
	info, err = w.to.dir().Lstat(s.name)
	return info, explain(w.to.path, err)
}

// link puts what a symbolic link says in front of what is still to go.
func (w *walker) link(name string) error {
	to := w.to
	if w.intent == removing && len(w.steps) == 0 {
		return deny(to.path, "is a symbolic link, which tools do not remove")
	}
	if w.links++; w.links > maxLinks {
		return deny(to.path, "is a symbolic link that leads in a circle")
	}
	target, err := to.dir().Readlink(name)
	if err != nil {
		return explain(to.path, err)
	}
	if clean := path.Clean(target); strings.HasPrefix(clean, "/proc/") || strings.HasPrefix(clean, "/dev/") {
		return notFile(to.path, "is a link to a device or a process")
	}
	if path.IsAbs(target) || strings.Contains(target, `\`) {
		return deny(to.path, "is a symbolic link that leads out of the workspace")
	}
	w.push(slices.DeleteFunc(strings.Split(target, "/"), func(n string) bool { return n == "" || n == "." }), true)
	return nil
}

// enter opens a directory and makes sure that it is the one that was looked at.
func (w *walker) enter(name string, seen fs.FileInfo) error {
	next, err := w.to.dir().OpenRoot(name)
	if err != nil {
		return explain(w.to.path, err)
	}
	info, err := next.Stat(".")
	if err != nil || !os.SameFile(info, seen) {
		_ = next.Close()
		return deny(w.to.path, "was changed while it was being opened")
	}
	w.to.dirs, w.to.names = append(w.to.dirs, next), append(w.to.names, name)
	return nil
}
