// Package folder writes a workspace's tools to a folder and reads them back: for
// each tool NAME.json, which says everything but the code, and NAME.js or NAME.ts, the
// code as its author wrote it. The folder is made to be kept in git: the same tools give the
// same bytes, and a change of a line shows as a change of a line.
//
// Tools that are global to the tenant are in the folder as well; their definition says so.
package folder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolroom/internal/registry"
	"toolroom/tool"
)

// maxFile is the most bytes of a file: more than any definition can have.
const maxFile = 4 << 20

// entry is NAME.json. The outer Body hides the definition's own.
type entry struct {
	tool.Definition
	Body    string `json:"body,omitempty"` // in the code file; allowed here for those written by hand
	Enabled *bool  `json:"enabled,omitempty"`
	Code    string `json:"code"` // the name of the code file
}

// Lister is what Write reads tools from.
type Lister interface {
	List(ctx context.Context, place tool.Place, o registry.ListOptions) (registry.Page, error)
}

// Write writes all the tools that place sees, disabled ones too, to dir, which is
// made if need be. It answers with the names written and with definitions found in dir that no tool
// has any more; those stay, for the caller to decide about. A damaged tool is an error before anything is written.
func Write(ctx context.Context, from Lister, place tool.Place, dir string) (names, stale []string, err error) {
	tools, err := all(ctx, from, place)
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, failed("make the folder", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, failed("open the folder", dir, err)
	}
	defer root.Close()
	for _, t := range tools {
		if err := write(root, t); err != nil {
			return names, nil, failed("write "+t.Name, dir, err)
		}
		names = append(names, t.Name)
	}
	stale, err = others(root, names)
	return names, stale, err
}

func all(ctx context.Context, from Lister, place tool.Place) (tools []tool.Tool, err error) {
	o := registry.ListOptions{Disabled: true}
	for {
		page, err := from.List(ctx, place, o)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if t.Broken != nil {
				return nil, t.Broken
			}
			if !t.Shadowed { // its name belongs to the workspace's own tool here
				tools = append(tools, t)
			}
		}
		if o.Cursor = page.Next; o.Cursor == "" {
			return tools, nil
		}
	}
}

func write(root *os.Root, t tool.Tool) error {
	e := entry{Definition: t.Current.Definition, Code: t.Name + extension(t.Current.Definition.Language)}
	if !t.Enabled {
		e.Enabled = &t.Enabled
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(e); err != nil {
		return err
	}
	if err := root.WriteFile(e.Code, []byte(t.Current.Definition.Body), 0o644); err != nil {
		return err
	}
	return root.WriteFile(t.Name+".json", text.Bytes(), 0o644)
}

func extension(l tool.Language) string {
	if l == tool.TypeScript {
		return ".ts"
	}
	return ".js"
}

// others is the definitions in a folder that are not among names.
func others(root *os.Root, names []string) ([]string, error) {
	found, err := definitions(root)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(file string) bool {
		return slices.Contains(names, strings.TrimSuffix(file, ".json"))
	}), nil
}

func definitions(root *os.Root) ([]string, error) {
	files, err := fs.Glob(root.FS(), "*.json")
	return files, err
}

// Read reads every definition in dir, without looking into folders below it. The
// error names each file that cannot be read, and why.
func Read(dir string) ([]registry.Item, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, failed("open the folder", dir, err)
	}
	defer root.Close()
	files, err := definitions(root)
	if err != nil {
		return nil, failed("list the folder", dir, err)
	}
	var (
		items []registry.Item
		bad   []string
	)
	for _, file := range files {
		item, err := read(root, file)
		if err != nil {
			bad = append(bad, file+": "+err.Error())
			continue
		}
		items = append(items, item)
	}
	if len(bad) > 0 {
		return nil, tool.Errorf(tool.InvalidDefinition, "%d of %d definitions in %s cannot be read: %s",
			len(bad), len(files), dir, strings.Join(bad, "; ")).
			WithHint("Nothing was changed. Mend these files and import again.")
	}
	return items, nil
}

func read(root *os.Root, file string) (registry.Item, error) {
	text, err := readFile(root, file)
	if err != nil {
		return registry.Item{}, err
	}
	e, err := parse(text)
	if err != nil {
		return registry.Item{}, err
	}
	if e.Name != strings.TrimSuffix(file, ".json") {
		return registry.Item{}, fmt.Errorf("it defines %q, which belongs in %s.json", e.Name, e.Name)
	}
	d := e.Definition
	d.Body = e.Body
	if e.Code != "" {
		code, err := readFile(root, e.Code)
		if err != nil {
			return registry.Item{}, err
		}
		d.Body = string(code)
	}
	return registry.Item{Definition: d, Disabled: e.Enabled != nil && !*e.Enabled}, nil
}

// parse reads a definition file. A field it does not know is an error: a
// misspelt grant must not be no grant.
func parse(text []byte) (entry, error) {
	var e entry
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return e, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return e, errors.New("there is something after its end")
	}
	if e.Body != "" && e.Code != "" {
		return e, errors.New("it has both a body and a code file")
	}
	if e.Code != "" && (filepath.Base(e.Code) != e.Code || e.Code == "." || e.Code == "..") {
		return e, fmt.Errorf("its code file %q is not in the same folder", e.Code)
	}
	return e, nil
}

func readFile(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s is not an ordinary file of at most %d bytes", name, maxFile)
	}
	return root.ReadFile(name)
}

func failed(doing, dir string, cause error) error {
	return tool.Errorf(tool.InvalidArguments, "cannot %s in %s: %w", doing, dir, cause).
		WithHint("Name a folder that exists and may be read and written.")
}
