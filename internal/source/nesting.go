package source

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"toolroom/tool"
)

// The parser recurses, and some of what it prints or tries again grows with the
// square of the nesting. 64 KiB of brackets cost it seconds, gigabytes, or for
// ever, and a stack that runs out ends the process. So the nesting of a body is
// measured first, by a scan that knows just enough of the language: strings,
// comments, templates, and where a slash begins a regular expression. Where it
// cannot know (a slash after a "}", markup), it stops believing in closing
// brackets: the figure is then too high, never too low.
//
// A bracket costs bracketDepth; whatever makes the parser recurse without one
// (a = b = c, !!!x, a => b => c, if (a) if (b)) costs one, or arrowDepth. maxDepth
// is 250 brackets deep, which no one writes by hand and which costs the parser
// some tens of milliseconds.
const (
	maxDepth     = 1000
	bracketDepth = 4
	arrowDepth   = 24
	typesDepth   = 16   // "<" in TypeScript
	maxCommas    = 8000 // in one expression; the parser's time grows with the square
)

func tooDeep(text string, lang tool.Language) *Problem {
	s := &scanner{text: text, typescript: lang == tool.TypeScript, start: true}
	for s.at < len(text) {
		s.token()
		if s.depth > maxDepth || s.commas > maxCommas {
			return &Problem{
				Message: "the code is nested too deeply here", offset: min(s.at, len(text)) - 1,
				hint: "Use fewer brackets and operators inside one another: name the parts with const.",
			}
		}
	}
	return nil
}

// level is one open bracket.
type level struct {
	open     byte
	head     bool // the "(" of if, while, for, with
	template bool // the "${" of a template
	before   int  // depth outside
	base     int  // depth inside, when a statement or an element begins
	commas   int  // outside
}

type scanner struct {
	text       string
	at         int
	typescript bool
	lost       bool // the scan no longer knows code from text
	depth      int
	commas     int
	base       int
	levels     []level

	start   bool   // an operand is expected: a slash begins a regular expression
	newline bool   // since the last token
	word    string // the last token, if a word
	head    bool   // the last token ended the head of a statement
	brace   bool   // the last token is "}"
	last    byte   // the last byte of the last token
}

// token consumes white space, a comment or one token.
func (s *scanner) token() {
	c := s.text[s.at]
	rest := s.text[s.at:]
	switch {
	case c == '\n' || c == '\r':
		s.newline = true
		s.at++
	case c == ' ' || c == '\t':
		s.at++
	case strings.HasPrefix(rest, "//") && !s.lost:
		s.skipTo("\n", false)
	case strings.HasPrefix(rest, "/*") && !s.lost:
		s.skipTo("*/", true)
	case (c == '"' || c == '\'') && !s.lost:
		s.begin()
		s.quoted(c)
		s.operand()
	case c == '`' && !s.lost:
		s.begin()
		s.at++
		s.template()
	case c == '/' && !s.lost:
		s.slash()
	case c >= '0' && c <= '9':
		s.begin()
		s.number()
		s.operand()
	case letter(rest):
		s.name()
	default:
		s.punctuation(c)
	}
}

func letter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || r == '$' || r == '\\' || r == '#' || r == '@' || unicode.IsLetter(r)
}

func (s *scanner) skipTo(end string, including bool) {
	at := strings.Index(s.text[s.at+2:], end)
	if at < 0 {
		s.at = len(s.text)
		return
	}
	if strings.ContainsAny(s.text[s.at:s.at+2+at], "\n\r") {
		s.newline = true
	}
	s.at += 2 + at
	if including {
		s.at += len(end)
	}
}

func (s *scanner) quoted(quote byte) {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case quote:
			s.at++
			return
		case '\n':
			return
		}
	}
}

// template consumes the text of a template up to its end or to a "${".
func (s *scanner) template() {
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '`':
			s.at++
			s.depth++ // a tag, or a chain of them
			s.operand()
			return
		case '$':
			if strings.HasPrefix(s.text[s.at:], "${") {
				s.at += 2
				s.push('{', true)
				return
			}
		}
	}
}

func (s *scanner) number() {
	for s.at < len(s.text) && (s.text[s.at] == '.' || s.text[s.at] == '_' || s.text[s.at] >= '0' && s.text[s.at] <= '9' || asciiLetter(s.text[s.at])) {
		s.at++
	}
}

func asciiLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// slash tells division from a regular expression.
func (s *scanner) slash() {
	unsure := s.brace || s.word == "of" || s.word == "yield" || s.word == "let" || s.typescript && s.last == '>'
	if unsure {
		s.lost = true
	}
	if s.lost || !s.start {
		s.at++
		s.operator()
		return
	}
	class := false
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\':
			s.at++
		case c == '\n':
			s.lost = true
			return
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.at++
			s.operand()
			return
		}
	}
}

// begin marks the start of an operand. After another operand and a newline it
// begins a statement.
func (s *scanner) begin() {
	if !s.start && s.newline && !s.head {
		s.depth, s.commas = s.base, 0
	}
}

func (s *scanner) operand() {
	s.start, s.newline, s.word, s.head, s.brace = false, false, "", false, false
	s.last = s.text[min(s.at, len(s.text))-1]
}

func (s *scanner) operator() {
	s.operand()
	s.start = true
}

func (s *scanner) name() {
	from := s.at
	property := s.last == '.'
	for s.at < len(s.text) {
		r, n := utf8.DecodeRuneInString(s.text[s.at:])
		if s.at > from && r != '_' && r != '$' && r != '\\' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			break
		}
		s.at += n
	}
	word := s.text[from:s.at]
	if property {
		s.operand()
		return
	}
	cost, prefix := wordCost(word)
	if cost < 0 {
		s.depth = s.base
		cost = 0
	} else if !binaryWord(word) {
		s.begin()
	}
	s.depth += cost
	s.operand()
	s.start, s.word = prefix, word
}

// wordCost is what a word adds to the depth, -1 for one that begins a part of a
// switch, and whether an operand is expected after it.
func wordCost(word string) (cost int, prefix bool) {
	switch word {
	case "case", "default":
		return -1, true
	case "if", "else", "for", "while", "do", "with", "new", "await", "typeof", "void", "delete", "yield", "async", "try", "extends", "keyof", "infer":
		return 1, true
	case "return", "throw", "in", "instanceof", "of", "as", "satisfies":
		return 0, true
	}
	return 0, false
}

// binaryWord says that a word stands between operands, so that a newline before
// it ends nothing.
func binaryWord(word string) bool {
	switch word {
	case "in", "instanceof", "of", "as", "satisfies", "extends", "is":
		return true
	}
	return false
}

func (s *scanner) punctuation(c byte) {
	rest := s.text[s.at:]
	_, size := utf8.DecodeRuneInString(rest)
	switch c {
	case '(', '[', '{':
		if !s.start {
			s.depth++ // a call or an index: chains of them nest
		}
		s.at++
		s.push(c, false)
		return
	case ')', ']', '}':
		s.at++
		s.pop(c)
		return
	case ';':
		s.depth, s.commas = s.base, 0
	case ',':
		s.comma()
	case '<':
		s.depth++
		if s.typescript {
			s.depth += typesDepth
		}
	case '.', '?', ':', '*':
		s.depth++
	case '=':
		s.depth++
		if strings.HasPrefix(rest, "=>") {
			s.depth += arrowDepth
		}
	case '!', '~', '+', '-':
		s.sign(c)
		return
	}
	if strings.HasPrefix(rest, "<!--") || strings.HasPrefix(rest, "-->") || c == '<' && s.start && !s.typescript {
		s.lost = true
	}
	s.at += size
	s.operator()
}

// sign handles what may be a prefix, an operator or, for "++", "--" and
// TypeScript's "!", a suffix.
func (s *scanner) sign(c byte) {
	suffix := !s.start
	if s.start {
		s.depth++
	}
	if strings.HasPrefix(s.text[s.at:], "-->") {
		s.lost = true
	}
	s.at++
	if (c == '+' || c == '-') && s.at < len(s.text) && s.text[s.at] == c {
		s.at++
	} else if c != '!' || !s.typescript || strings.HasPrefix(s.text[s.at:], "=") {
		suffix = false
	}
	s.operator()
	s.start = !suffix
}

func (s *scanner) comma() {
	n := len(s.levels)
	if n > 0 && (s.levels[n-1].open == '[' || s.levels[n-1].open == '{') {
		s.depth = s.base
		return
	}
	s.commas++
	s.depth = s.base
}

func (s *scanner) push(c byte, template bool) {
	head := s.word == "if" || s.word == "while" || s.word == "for" || s.word == "with" || s.word == "await"
	s.levels = append(s.levels, level{open: c, head: head && c == '(', template: template, before: s.depth, base: s.base, commas: s.commas})
	s.depth += bracketDepth
	s.base, s.commas = s.depth, 0
	s.operator()
}

func (s *scanner) pop(c byte) {
	n := len(s.levels)
	if n == 0 || s.lost {
		s.operand()
		return
	}
	top := s.levels[n-1]
	s.levels = s.levels[:n-1]
	s.depth, s.base, s.commas = top.before, top.base, top.commas
	if top.template {
		s.template()
		return
	}
	s.operand()
	s.start, s.head, s.brace = top.head, top.head, c == '}'
}
