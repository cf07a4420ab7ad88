package source

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/evanw/esbuild/pkg/api"

	"toolroom/tool"
)

// Problem is one thing the parser refused. Lines and columns count from 1;
// columns count UTF-16 units, as editors do.
type Problem struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Length  int    `json:"length,omitempty"`
	Message string `json:"message"`
	Text    string `json:"text"` // the author's line

	offset int // bytes into the body
	length int // bytes
	hint   string
}

// Report is the details of syntax_error: the first problem, and all of them.
type Report struct {
	Line     int       `json:"line"`
	Column   int       `json:"column"`
	Length   int       `json:"length,omitempty"`
	Text     string    `json:"text"`
	Problems []Problem `json:"problems"`
}

const (
	maxProblems = 20
	maxLineText = 200 // bytes of a line that are shown
)

// refuse makes the error for the problems of a body, which have offsets.
func refuse(text string, problems []Problem) *tool.Error {
	more := len(problems) - maxProblems
	if more > 0 {
		problems = problems[:maxProblems]
	}
	var said []string
	for i := range problems {
		problems[i].place(text)
		said = append(said, fmt.Sprintf("line %d, column %d: %s", problems[i].Line, problems[i].Column, problems[i].Message))
	}
	if more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	first := problems[0]
	e := tool.Errorf(tool.SyntaxError, "%s", strings.Join(said, "\n")).WithDetails(Report{
		Line: first.Line, Column: first.Column, Length: first.Length, Text: first.Text, Problems: problems,
	})
	if hint := firstHint(text, problems); hint != "" {
		e.WithHint("%s", hint)
	}
	return e
}

func firstHint(text string, problems []Problem) string {
	for _, p := range problems {
		if p.hint != "" {
			return p.hint
		}
	}
	return problemHint(text, problems[0].Message)
}

// place fills in line, column and text from the offset.
func (p *Problem) place(text string) {
	at := min(p.offset, len(text))
	start := strings.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
		end = start + n
	}
	p.Line = strings.Count(text[:start], "\n") + 1
	p.Column = units(text[start:at]) + 1
	p.Length = units(text[at:min(at+p.length, end)])
	p.Text = clip(strings.TrimSuffix(text[start:end], "\r"), maxLineText)
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

func lines(text string) []string {
	return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

// functionProblems are the parser's errors about a wrapped body, moved to the
// author's lines and freed of the wrapper. A body that closes its function makes
// all kinds of errors further on; the bracket that did it is the one to name.
func functionProblems(text string, lang tool.Language, label string, errs []api.Message) []Problem {
	early, found := closesEarly(text, lang)
	var out []Problem
	for _, m := range errs {
		p := authorProblem(text, m, 1)
		if found && early.offset <= p.offset || strings.Contains(m.Text, label) {
			return []Problem{early}
		}
		out = append(out, p)
	}
	return out
}

func moduleProblems(text string, errs []api.Message) []Problem {
	var out []Problem
	for _, m := range errs {
		p := authorProblem(text, m, 0)
		if strings.Contains(m.Text, "cannot import") {
			p.hint = "Remove the import; fetch, crypto, URL and the rest of the web platform are global. Inline the code you need."
		}
		if strings.Contains(m.Text, "Top-level return") {
			p.Message = "a module cannot return at its top level"
			p.hint = moduleHint
		}
		out = append(out, p)
	}
	return out
}

// authorProblem moves a message by the wrapper's lines. One that lies behind
// the body means that the body ended too soon.
func authorProblem(text string, m api.Message, skip int) Problem {
	p := Problem{Message: m.Text}
	if m.Location == nil {
		return p
	}
	offset, inside := offsetOf(text, m.Location.Line-skip, m.Location.Column)
	p.offset, p.length = offset, m.Location.Length
	if !inside {
		p.offset, p.length = len(strings.TrimRight(text, " \t\r\n")), 0
		p.Message = regexp.MustCompile(`(found|Unexpected) ("[^"]*"|end of file)`).ReplaceAllString(m.Text, "$1 end of the body")
		p.hint = "Something is still open at the end of the body: a bracket, a string, a template or a comment."
	}
	return p
}

// offsetOf is where a line (from 1) and a column (bytes, from 0) of the body
// lie, and whether they lie in the body at all.
func offsetOf(text string, line, column int) (int, bool) {
	at := 0
	for ; line > 1; line-- {
		n := nextLine(text[at:])
		if n < 0 {
			return len(text), false
		}
		at += n
	}
	at += column
	return min(max(at, 0), len(text)), line == 1 && at <= len(text)
}

// nextLine is where the line after the first begins, by the parser's idea of
// lines: LF, CR LF, a lone CR, and the two separators of Unicode.
func nextLine(s string) int {
	at := strings.IndexAny(s, "\n\r\u2028\u2029")
	switch {
	case at < 0:
		return -1
	case strings.HasPrefix(s[at:], "\r\n"):
		return at + 2
	case s[at] == '\n' || s[at] == '\r':
		return at + 1
	}
	return at + 3
}

// closesEarly finds the bracket that closed the function. Parsed without a
// wrapper, it is the one that has no partner.
func closesEarly(text string, lang tool.Language) (p Problem, found bool) {
	p = Problem{
		Message: "the body closes its function too early",
		offset:  len(text),
		hint:    `Send only the inside of the function: there is a "}" too many.`,
	}
	for _, m := range transform(text, lang).Errors {
		if m.Location != nil && strings.HasPrefix(m.Text, `Unexpected "}"`) {
			p.offset, _ = offsetOf(text, m.Location.Line, m.Location.Column)
			p.length = 1
			return p, true
		}
	}
	return p, false
}
