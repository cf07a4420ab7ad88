package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolroom/internal/wire"
	"toolroom/tool"
)

const (
	maxMessage = 4 << 10  // bytes of a thrown message that are shown
	maxStack   = 16 << 10 // bytes of a stack that is kept
)

// Explain makes an Error of what a worker said about this code, in the author's
// lines. The worker may be hostile: nothing of f is trusted. A code that only
// the host may give becomes call_failed.
func (c *Compiled) Explain(f *wire.Failure) *tool.Error {
	if e := capability(f.Capability); e != nil {
		return e
	}
	switch f.Code {
	case tool.SyntaxError:
		return c.explainSyntax(f)
	case tool.ResultNotJSON, tool.ResultTooLarge, tool.MemoryExceeded, tool.Timeout, tool.Cancelled, tool.Overloaded:
		return c.explainLimit(f)
	}
	return c.explainThrown(f)
}

// capability reads the host's own error back, if it is one that a broker may give.
func capability(raw json.RawMessage) *tool.Error {
	if len(raw) == 0 {
		return nil
	}
	var e tool.Error
	if json.Unmarshal(raw, &e) != nil || !e.Code.Capability() {
		return nil
	}
	return &e
}

func (c *Compiled) explainSyntax(f *wire.Failure) *tool.Error {
	p := Problem{Message: clip(f.Message, maxMessage)}
	at, ok := c.find(f.Line, f.Column)
	if !ok {
		return tool.Errorf(tool.SyntaxError, "%s", p.Message).WithHint("%s", f.Hint)
	}
	p.Line, p.Column = at.line, at.column
	p.Text = clip(c.lines[at.line-1], maxLineText)
	report := Report{Line: p.Line, Column: p.Column, Text: p.Text, Problems: []Problem{p}}
	return tool.Errorf(tool.SyntaxError, "line %d, column %d: %s", p.Line, p.Column, p.Message).WithDetails(report).WithHint("%s", f.Hint)
}

// explainLimit keeps the worker's words about a result or a budget.
func (c *Compiled) explainLimit(f *wire.Failure) *tool.Error {
	e := tool.Errorf(f.Code, "%s", clip(f.Message, maxMessage))
	hint := clip(f.Hint, maxMessage)
	if f.Code == tool.ResultNotJSON && c.noReturn {
		hint = "The body has no return statement of its own. " + noReturnHint(strings.Join(c.lines, "\n"))
	}
	e.Hint = hint
	if frames := c.frames(f); len(frames) > 0 {
		e.WithDetails(tool.Thrown{Name: f.Name, Message: clip(f.Message, maxMessage), Stack: stack(frames), Line: frames[0].line, Column: frames[0].column})
	}
	return e
}

func (c *Compiled) explainThrown(f *wire.Failure) *tool.Error {
	t := tool.Thrown{Name: clip(f.Name, 100), Message: clip(f.Message, maxMessage)}
	frames := c.frames(f)
	t.Stack = stack(frames)
	message := t.Message
	if t.Name != "" {
		message = strings.TrimSuffix(t.Name+": "+t.Message, ": ")
	}
	if message == "" {
		message = "the body threw an empty value"
	}
	if len(frames) > 0 {
		t.Line, t.Column = frames[0].line, frames[0].column
		message += fmt.Sprintf(" (line %d, column %d)", t.Line, t.Column)
	}
	e := tool.Errorf(tool.CallFailed, "%s", message).WithDetails(t)
	e.Hint = clip(f.Hint, maxMessage)
	if e.Hint == "" {
		e.Hint = c.hint(t)
	}
	return e
}

// hint is the next step after t. A name that ReferenceError complains of may be
// a module that the line requires.
func (c *Compiled) hint(t tool.Thrown) string {
	if t.Name == "ReferenceError" && strings.Contains(t.Message, "require") && t.Line > 0 && t.Line <= len(c.lines) {
		if hint := moduleReplacement(required(c.lines[t.Line-1])); hint != "" {
			return hint
		}
	}
	return thrownHint(t.Name, t.Message)
}

// frames are the author's frames of a failure, innermost first: those of its
// stack, else the one place it names.
func (c *Compiled) frames(f *wire.Failure) []frame {
	out := c.parseStack(clip(f.Stack, maxStack))
	if len(out) > 0 {
		return out
	}
	if at, ok := c.find(f.Line, f.Column); ok {
		return []frame{at}
	}
	return nil
}

func stack(frames []frame) string {
	var said []string
	for _, f := range slices.Clip(frames) {
		said = append(said, fmt.Sprintf("    at %s (line %d, column %d)", f.function, f.line, f.column))
	}
	return strings.Join(said, "\n")
}
