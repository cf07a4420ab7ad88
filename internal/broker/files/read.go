package files

import (
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"time"

	"toolroom/tool"
)

// batch is how many names are read from a directory at once.
const batch = 500

// Entry describes a file or a folder.
type Entry struct {
	Name     string    `json:"name"`
	Path     string    `json:"path"` // in the workspace, with slashes
	Type     string    `json:"type"` // file or dir
	Size     int64     `json:"size"` // bytes; of a folder 0
	Modified time.Time `json:"modified"`
}

// Read is the content of a regular file of at most Options.MaxFile bytes.
func (f *Folder) Read(p string) ([]byte, error) {
	to, err := f.walk(p, looking)
	if err != nil {
		return nil, err
	}
	defer to.close()
	file, info, err := to.open(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	if info.Size() > f.opts.MaxFile {
		return nil, f.tooLarge(p, info.Size())
	}
	data, err := io.ReadAll(io.LimitReader(file, f.opts.MaxFile+1))
	if int64(len(data)) > f.opts.MaxFile {
		return nil, f.tooLarge(p, int64(len(data)))
	}
	return data, explain(p, err)
}

func (f *Folder) tooLarge(p string, size int64) error {
	return tool.Errorf(tool.QuotaExceeded, "%s has %d bytes; %d can be read or written at once", quote(p), size, f.opts.MaxFile)
}

// check says what is wrong with the leaf as a regular file, nil if nothing is.
func (p *place) check(info fs.FileInfo) error {
	switch {
	case p.leaf == "":
		return notFile(p.path, "is a folder")
	case info == nil:
		return missing(p.path)
	case !info.Mode().IsRegular():
		return notFile(p.path, "is not a regular file")
	case links(info) > 1:
		return deny(p.path, "has a second name (a hard link), which may lie outside of the workspace")
	}
	return nil
}

// open opens the leaf without ever waiting for it, and makes sure that it is
// the regular file that was looked at. A file that was replaced in between is looked at
// again: writers replace files whole.
func (p *place) open(flag int) (*os.File, fs.FileInfo, error) {
	for range 20 {
		if err := p.check(p.info); err != nil {
			return nil, nil, err
		}
		file, info, err := p.try(flag)
		if err != nil || file != nil {
			return file, info, explain(p.path, err)
		}
		if p.info, err = p.dir().Lstat(p.leaf); err != nil {
			return nil, nil, explain(p.path, err)
		}
	}
	return nil, nil, deny(p.path, "was changed while it was being opened")
}

// try is one attempt of open; no file and no error means that another file was
// there than before.
func (p *place) try(flag int) (*os.File, fs.FileInfo, error) {
	file, err := p.dir().OpenFile(p.leaf, flag|noWait, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && os.SameFile(info, p.info) {
		if err = p.check(info); err == nil {
			return file, info, nil
		}
	}
	_ = file.Close()
	return nil, nil, err
}

// Stat describes what is at p; a missing file is not_a_file.
func (f *Folder) Stat(p string) (Entry, error) {
	to, err := f.walk(p, looking)
	if err != nil {
		return Entry{}, err
	}
	defer to.close()
	return to.entry()
}

func (p *place) entry() (Entry, error) {
	info, kind := p.info, "file"
	switch {
	case p.leaf == "":
		var err error
		if info, err = p.dir().Stat("."); err != nil {
			return Entry{}, explain(p.path, err)
		}
		kind = "dir"
	case info == nil:
		return Entry{}, missing(p.path)
	case !info.Mode().IsRegular():
		return Entry{}, notFile(p.path, "is not a regular file")
	}
	return describe(p.real(), kind, info), nil
}

func describe(names []string, kind string, info fs.FileInfo) Entry {
	full := path.Join(append([]string{"."}, names...)...)
	e := Entry{Name: path.Base(full), Path: full, Type: kind, Modified: info.ModTime().UTC().Truncate(time.Millisecond)}
	if kind == "file" {
		e.Size = info.Size()
	}
	return e
}

// List describes what is in a folder, in order; recursive goes into folders,
// but never through links. Nothing hidden is in it, and nothing that is neither file nor
// folder. More than Options.MaxList entries are quota_exceeded.
func (f *Folder) List(p string, recursive bool) ([]Entry, error) {
	to, err := f.walk(p, looking)
	if err != nil {
		return nil, err
	}
	defer to.close()
	if to.leaf != "" {
		if to.info == nil {
			return nil, missing(p)
		}
		return nil, notFile(p, "is not a folder")
	}
	l := lister{folder: f, path: p, recursive: recursive, out: []Entry{}}
	if err := l.list(to.dir(), to.names); err != nil {
		return nil, err
	}
	sort.Slice(l.out, func(i, j int) bool { return l.out[i].Path < l.out[j].Path })
	return l.out, nil
}

type lister struct {
	folder    *Folder
	path      string
	recursive bool
	seen      int64
	out       []Entry
}

// list adds what is in dir, whose real names are given.
func (l *lister) list(dir *os.Root, names []string) error {
	if len(names) > maxDepth {
		return l.tooMany()
	}
	open, err := dir.Open(".")
	if err != nil {
		return explain(l.path, err)
	}
	defer open.Close() // it was only read
	for {
		found, err := open.ReadDir(batch)
		for _, entry := range found {
			if err := l.add(dir, append(names[:len(names):len(names)], entry.Name())); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return explain(l.path, err)
		}
	}
}

func (l *lister) tooMany() error {
	return tool.Errorf(tool.QuotaExceeded, "%s holds more than the %d entries that one listing shows", quote(l.path), l.folder.opts.MaxList).
		WithHint("List its folders one by one.")
}

// add describes one name, if it is for tools to see.
func (l *lister) add(dir *os.Root, names []string) error {
	if l.seen++; l.seen > 2*l.folder.opts.MaxList || int64(len(l.out)) == l.folder.opts.MaxList {
		return l.tooMany()
	}
	if l.folder.invisible(names) || l.folder.secret(names) {
		return nil
	}
	name := names[len(names)-1]
	info, err := dir.Lstat(name)
	switch {
	case err != nil: // gone meanwhile
	case info.Mode()&fs.ModeSymlink != 0:
		l.addLink(names)
	case info.IsDir():
		l.out = append(l.out, describe(names, "dir", info))
		if l.recursive {
			return l.descend(dir, name, info, names)
		}
	case info.Mode().IsRegular():
		l.out = append(l.out, describe(names, "file", info))
	}
	return nil
}

// addLink shows a link as what it leads to; a link that tools cannot follow is
// nothing to them.
func (l *lister) addLink(names []string) {
	to, err := l.folder.walk(strings.Join(names, "/"), looking)
	if err != nil {
		return
	}
	defer to.close()
	if e, err := to.entry(); err == nil {
		e.Name, e.Path = names[len(names)-1], strings.Join(names, "/")
		l.out = append(l.out, e)
	}
}

func (l *lister) descend(dir *os.Root, name string, seen fs.FileInfo, names []string) error {
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil // not readable, or gone: it stands in the list, without content
	}
	defer next.Close() // it was only looked through
	if info, err := next.Stat("."); err != nil || !os.SameFile(info, seen) {
		return nil
	}
	return l.list(next, names)
}
