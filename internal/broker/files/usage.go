package files

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// usage is what tools have added to a folder, as it is kept between runs of the room.
type usage struct {
	Bytes int64 `json:"bytes"`
	Files int64 `json:"files"`
}

// How much may be added before it is written down, so that a room that is
// killed forgets little.
const (
	keepBytes = 16 << 20
	keepFiles = 100
)

// remember reads what was used before. A file that is missing or unreadable counts as nothing.
func (f *Folder) remember() {
	var u usage
	if b, err := os.ReadFile(f.opts.Usage); err == nil && json.Unmarshal(b, &u) == nil {
		f.bytes, f.files, f.kept = max(0, u.Bytes), max(0, u.Files), u
	}
}

// keep writes down what is used, whole or not at all. The caller holds changing.
func (f *Folder) keep() error {
	u := usage{f.bytes, f.files}
	if f.opts.Usage == "" || u == f.kept {
		return nil
	}
	b, err := json.Marshal(u)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.opts.Usage), 0o700); err != nil {
		return err
	}
	temp := f.opts.Usage + ".new"
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return err
	}
	f.kept = u
	return os.Rename(temp, f.opts.Usage)
}

// keepSome writes down when much has changed since. An error is one for the next
// time: the count in memory stands.
func (f *Folder) keepSome() {
	far := func(a, b, most int64) bool { return a-b >= most || b-a >= most }
	if far(f.bytes, f.kept.Bytes, keepBytes) || far(f.files, f.kept.Files, keepFiles) {
		_ = f.keep()
	}
}

const (
	recountEvery = time.Minute
	recountMost  = 200_000 // entries
)

// recount corrects the count by what is there at all, which people may have
// made less behind the room's back. The caller holds changing.
func (f *Folder) recount() {
	if time.Since(f.recounted) < recountEvery {
		return
	}
	f.recounted = time.Now()
	var there usage
	err := fs.WalkDir(f.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if there.Files++; there.Files > recountMost {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return nil // what cannot be read does not count
		}
		if info, err := d.Info(); err == nil {
			there.Bytes += sizeOf(info)
		}
		return nil
	})
	if err == nil && there.Files <= recountMost {
		f.bytes, f.files = min(f.bytes, there.Bytes), min(f.files, there.Files-1) // the folder itself is not in it
	}
}
