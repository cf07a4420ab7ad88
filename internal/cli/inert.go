package cli

import (
	"fmt"
	"strings"
	"unicode"
)

// inert makes text from anywhere harmless in a terminal: control characters
// other than newline and tab, and marks that change the direction of text or hide it,
// are shown as escapes instead of acting.
func inert(s string) string {
	return escape(s, func(r rune) string {
		if r < 0x100 {
			return fmt.Sprintf(`\x%02x`, r)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// inertLine is inert for text that must stay on one line.
func inertLine(s string) string {
	return inert(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(s))
}

// inertJSON is inert for a JSON text, which means the same afterwards.
func inertJSON(s string) string {
	return escape(s, func(r rune) string {
		if r > 0xffff {
			r -= 0x10000
			return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

func escape(s string, as func(rune) string) string {
	s = strings.ToValidUTF8(s, "\ufffd") // a lone byte above 0x7f is a control character to some terminals
	if strings.IndexFunc(s, acts) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if acts(r) {
			b.WriteString(as(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// acts says whether a terminal may do something else with r than show it.
func acts(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == 0x200c || r == 0x200d: // the last two join letters and emoji
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
		return true
	}
	return unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029
}
