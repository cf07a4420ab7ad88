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

	start    bool   // an operand is expected: a slash begins a regular expression
	newline  bool   // since the last token
	word     string // the last token, if a word
	previous string // the one before
	head     bool   // the last token ended the head of a statement
	brace    bool   // the last token is "}"
	last     byte   // the last byte of the last token
}

// token consumes white space, a comment or one token.
func (s *scanner) token() {
	c := s.text[s.at]
	rest := s.text[s.at:]
	switch {
	case space(rest) > 0:
		s.newline = s.newline || lineEnd(rest)
		s.at += space(rest)
	case strings.HasPrefix(rest, "//") && !s.lost:
		s.lineComment()
	case strings.HasPrefix(rest, "/*") && !s.lost:
		s.blockComment()
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

// letter says whether s begins with a letter. Whatever is not ASCII and no space
// counts: it is part of a name, or an error of its own.
func letter(s string) bool {
	c := s[0]
	return asciiLetter(c) || strings.IndexByte("_$\\#@", c) >= 0 || c >= utf8.RuneSelf && space(s) == 0
}

// space is the length of the space that s begins with, or 0.
func space(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if unicode.IsSpace(r) || r == '\ufeff' || lineEnd(s) {
		return n
	}
	return 0
}

func lineEnd(s string) bool {
	return s != "" && (s[0] == '\n' || s[0] == '\r') || strings.HasPrefix(s, "\u2028") || strings.HasPrefix(s, "\u2029")
}

func (s *scanner) lineComment() {
	for s.at < len(s.text) && !lineEnd(s.text[s.at:]) {
		s.at++
	}
}

func (s *scanner) blockComment() {
	at := strings.Index(s.text[s.at+2:], "*/")
	if at < 0 {
		s.at = len(s.text)
		return
	}
	s.newline = s.newline || strings.ContainsAny(s.text[s.at:s.at+2+at], "\n\r\u2028\u2029")
	s.at += 2 + at + 2
}

func (s *scanner) quoted(quote byte) {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
			if strings.HasPrefix(s.text[min(s.at, len(s.text)):], "\r\n") {
				s.at++
			}
		case quote:
			s.at++
			return
		case '\n', '\r':
			s.lost = true
			return
		}
	}
	s.at = len(s.text)
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

// slash tells division from a regular expression, or gives up.
func (s *scanner) slash() {
	if s.brace || unsure(s.word) || s.typescript && s.last == '>' {
		s.lost = true
	}
	if s.lost || !s.start || !s.expression() {
		s.at++
		s.operator()
		return
	}
	s.operand()
}

// unsure says whether a slash after a word may be either: the word is a name in
// some places and a keyword in others, or a statement may end behind it.
func unsure(word string) bool {
	switch word {
	case "of", "yield", "let", "await", "async", "as", "satisfies", "keyof", "infer", "is", "break", "continue", "debugger":
		return true
	}
	return false
}

// expression consumes a regular expression. One that does not end on its line is
// none, so something before it was misread.
func (s *scanner) expression() bool {
	class := false
	for at := s.at + 1; at < len(s.text) && !lineEnd(s.text[at:]); at++ {
		switch c := s.text[at]; {
		case c == '\\':
			at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.at = at + 1
			return true
		}
	}
	s.lost = true
	return false
}

// begin marks the start of an operand. After another operand and a newline it
// begins a statement.
func (s *scanner) begin() {
	if !s.start && s.newline && !s.head {
		s.depth, s.commas = s.base, 0
	}
}

func (s *scanner) operand() {
	s.previous = s.word
	s.start, s.newline, s.word, s.head, s.brace = false, false, "", false, false
	s.last = s.text[min(s.at, len(s.text))-1]
}

func (s *scanner) operator() {
	s.operand()
	s.start = true
}

func (s *scanner) name() {
	from := s.at
	property := s.last == '.' && !strings.HasSuffix(strings.TrimRight(s.text[:from], " \t"), "...")
	for s.at++; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		if !asciiLetter(c) && (c < '0' || c > '9') && !letter(s.text[s.at:]) && utf8.RuneStart(c) || c == '#' || c == '@' {
			break
		}
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
	case "if", "else", "for", "while", "do", "with", "new", "await", "typeof", "void", "delete", "yield", "extends":
		return 1, true
	case "async", "try", "keyof", "infer":
		return 1, false
	case "return", "throw", "in", "instanceof":
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
	suffix := !s.start && !s.newline
	if !suffix {
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
	head := s.word == "if" || s.word == "while" || s.word == "for" || s.word == "with" || s.word == "await" && s.previous == "for"
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
