package files

import (
	"crypto/rand"
	"io/fs"
	"os"
	"strings"

	"toolroom/tool"
)

// tempPrefix starts the names of files that are being written. Tools do not see
// them.
const tempPrefix = ".toolroom-"

// Write makes data the content of a file, all of it or nothing, and returns its
// size. Missing folders on the way are made.
func (f *Folder) Write(p string, data []byte) (int64, error) {
	if int64(len(data)) > f.opts.MaxFile {
		return 0, f.tooLarge(p, int64(len(data)))
	}
	f.changing.Lock()
	defer f.changing.Unlock()
	to, err := f.writable(p)
	if err != nil {
		return 0, err
	}
	defer to.close()
	old, added, mode := int64(0), int64(1), fs.FileMode(0o644)
	if to.info != nil {
		old, added, mode = to.info.Size(), 0, to.info.Mode().Perm()
	}
	if err := f.grow(p, int64(len(data))-old, added); err != nil {
		return 0, err
	}
	if err := replace(to.dir(), to.leaf, data, mode); err != nil {
		f.shrink(int64(len(data))-old, added)
		return 0, explain(p, err)
	}
	return int64(len(data)), nil
}

// writable walks to a regular file or to a place where one can be made.
func (f *Folder) writable(p string) (*place, error) {
	to, err := f.walk(p, making)
	if err != nil {
		return nil, err
	}
	if to.leaf == "" || to.info != nil {
		if err := to.check(to.info); err != nil {
			to.close()
			return nil, err
		}
	}
	return to, nil
}

// replace writes a new file beside the old one and puts it in its place. A link
// that somebody puts there meanwhile is replaced, not followed.
func replace(dir *os.Root, name string, data []byte, mode fs.FileMode) error {
	temp := tempPrefix + rand.Text()
	file, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp) // the first error is the one to tell
	}
	return err
}

// Append adds data to the end of a file, which is made if it is missing, and
// returns the new size.
func (f *Folder) Append(p string, data []byte) (int64, error) {
	f.changing.Lock()
	defer f.changing.Unlock()
	to, err := f.writable(p)
	if err != nil {
		return 0, err
	}
	defer to.close()
	added := int64(0)
	if to.info == nil {
		added = 1
	}
	if err := f.grow(p, int64(len(data)), added); err != nil {
		return 0, err
	}
	size, err := to.append(data)
	if err != nil {
		f.shrink(int64(len(data)), added)
		return 0, explain(p, err)
	}
	return size, nil
}

func (p *place) append(data []byte) (int64, error) {
	file, err := p.openEnd()
	if err != nil {
		return 0, err
	}
	_, err = file.Write(data)
	size := int64(0)
	if info, statErr := file.Stat(); statErr == nil {
		size = info.Size()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return size, err
}

// openEnd opens the leaf for appending. A new one must be new: what appears in
// its place meanwhile is not opened.
func (p *place) openEnd() (*os.File, error) {
	if p.info == nil {
		return p.dir().OpenFile(p.leaf, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)
	}
	file, _, err := p.open(os.O_WRONLY | os.O_APPEND)
	return file, err
}

// Mkdir makes a folder and those above it; one that is there already is fine.
func (f *Folder) Mkdir(p string) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	to, err := f.walk(p, making)
	if err != nil {
		return err
	}
	defer to.close()
	switch {
	case to.leaf == "":
		return nil
	case to.info != nil:
		return notFile(p, "exists and is not a folder")
	}
	return f.makeDir(to, to.leaf)
}

// Remove removes a file, or a folder if it is empty or recursive is true. A
// folder that holds something hidden stays as it is.
func (f *Folder) Remove(p string, recursive bool) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	to, err := f.walk(p, removing)
	if err != nil {
		return err
	}
	defer to.close()
	switch {
	case len(to.real()) == 0:
		return deny(p, "is the workspace itself")
	case to.leaf == "":
		return f.removeDir(to, recursive)
	case to.info == nil:
		return missing(p)
	}
	if err := to.dir().Remove(to.leaf); err != nil {
		return explain(p, err)
	}
	f.shrink(sizeOf(to.info), 1)
	return nil
}

func sizeOf(info fs.FileInfo) int64 {
	if info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

func (f *Folder) removeDir(to *place, recursive bool) error {
	above, name := to.dirs[len(to.dirs)-2], to.names[len(to.names)-1]
	if !recursive {
		if err := above.Remove(name); err != nil {
			return explain(to.path, err)
		}
		f.shrink(0, 1)
		return nil
	}
	bytes, files, err := f.measure(to)
	if err != nil {
		return err
	}
	if err := above.RemoveAll(name); err != nil {
		return explain(to.path, err)
	}
	f.shrink(bytes, files)
	return nil
}

// measure counts a folder and what is in it, and refuses one that holds what
// tools may not touch.
func (f *Folder) measure(to *place) (bytes, files int64, err error) {
	err = fs.WalkDir(to.dir().FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if files++; files > 10*f.opts.MaxList {
			return tool.Errorf(tool.QuotaExceeded, "%s holds more than can be removed at once", quote(to.path)).WithHint("Remove its folders one by one.")
		}
		if p == "." {
			return nil
		}
		names := append(to.names[:len(to.names):len(to.names)], strings.Split(p, "/")...)
		if f.invisible(names) || f.secret(names) {
			return deny(to.path, "holds something that is hidden from tools")
		}
		if info, err := d.Info(); err == nil {
			bytes += sizeOf(info)
		}
		return nil
	})
	return bytes, files, explain(to.path, err)
}
