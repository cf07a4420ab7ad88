package source

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-sourcemap/sourcemap"
)

// PlatformPrefix begins the file name of every script that is not an author's:
// the engine names its own scripts so, and their frames are dropped from stacks.
const PlatformPrefix = "platform/"

// maxFrames bounds a stack that is shown.
const maxFrames = 32

// frame is a place in the author's body; line and column count from 1.
type frame struct {
	function     string
	line, column int
}

// parseStack reads the engine's stack, "    at NAME (FILE:LINE:COL)" a line, and
// keeps what maps to the body.
func (c *Compiled) parseStack(text string) []frame {
	var out []frame
	consumer := c.consumer()
	at := regexp.MustCompile(`^\s*at (?:(.*) \()?(.*?):(\d+):(\d+)\)?$`)
	for line := range strings.Lines(text) {
		m := at.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || foreign(m[2]) || len(out) == maxFrames {
			continue
		}
		row, _ := strconv.Atoi(m[3])
		column, _ := strconv.Atoi(m[4])
		if f, ok := c.locate(consumer, row, column); ok {
			f.function = functionName(m[1])
			out = append(out, f)
		}
	}
	return out
}

// functionName is what the author called the function, as far as there is a name.
func functionName(name string) string {
	switch name = strings.TrimSpace(name); name {
	case "", "execute":
		return "execute"
	case "tool_default":
		return "default"
	}
	return clip(name, 200)
}

func foreign(file string) bool {
	return file == "" || file == "native" || strings.HasPrefix(file, "<") || strings.HasPrefix(file, PlatformPrefix)
}

func (c *Compiled) consumer() *sourcemap.Consumer {
	consumer, err := sourcemap.Parse("", c.Map)
	if err != nil {
		return nil
	}
	return consumer
}

// find maps one place of Code.
func (c *Compiled) find(row, column int) (frame, bool) {
	f, ok := c.locate(c.consumer(), row, column)
	f.function = "execute"
	return f, ok
}

// locate maps a place in Code, counted from 1 in code points as the engine does,
// to the body. Wrapper lines have no place there.
func (c *Compiled) locate(consumer *sourcemap.Consumer, row, column int) (frame, bool) {
	if consumer == nil || row < 1 || column < 1 {
		return frame{}, false
	}
	source, _, line, col, ok := consumer.Source(row, column-1)
	line -= c.skip
	if !ok || !strings.HasSuffix(source, file) || line < 1 || line > len(c.lines) {
		return frame{}, false
	}
	width := len(utf16.Encode([]rune(c.lines[line-1])))
	return frame{line: line, column: min(col, width) + 1}, true
}

// required is the module that a line of code requires, or "".
func required(line string) string {
	m := regexp.MustCompile(`require\s*\(\s*["'\x60]([^"'\x60]+)["'\x60]`).FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	return m[1]
}
