package registry

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolroom/internal/store"
	"toolroom/tool"
)

// cut shortens s to n bytes at most, never within a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func quoteRune(c rune) string { return strconv.QuoteRuneToASCII(c) }

// control is the first control character of s that is not allowed, or -1.
func control(s, allowed string) rune {
	for _, c := range s {
		if unicode.IsControl(c) && !strings.ContainsRune(allowed, c) {
			return c
		}
	}
	return -1
}

// visible is s with every character that does not show written as an escape, apart from those allowed.
func visible(s, allowed string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsPrint(c) || strings.ContainsRune(allowed, c) {
			b.WriteRune(c)
			continue
		}
		b.WriteString(strings.Trim(quoteRune(c), "'"))
	}
	return b.String()
}

// splitWords is the words of a text or of a name: fetchWeather_v2 is fetch, weather, v2.
func splitWords(s string) []string {
	var (
		words []string
		word  []rune
		last  rune
	)
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	for _, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) {
			flush()
		} else {
			if unicode.IsUpper(c) && unicode.IsLower(last) {
				flush()
			}
			word = append(word, c)
		}
		last = c
	}
	flush()
	return words
}

// wordsOf is what a tool is found by.
func wordsOf(d tool.Definition) store.Words {
	var names []string
	var schema any
	if json.Unmarshal(d.Parameters, &schema) == nil {
		names = propertyNames(schema, nil)
	}
	return store.Words{
		Name:        d.Name + " " + strings.Join(splitWords(d.Name), " "),
		Description: d.Description,
		Parameters:  strings.Join(names, " "),
	}
}

// propertyNames is the names of all properties that a schema speaks of, and their words.
func propertyNames(schema any, into []string) []string {
	switch s := schema.(type) {
	case map[string]any:
		if properties, ok := s["properties"].(map[string]any); ok {
			for name := range properties {
				into = append(append(into, name), splitWords(name)...)
			}
		}
		for _, v := range s {
			into = propertyNames(v, into)
		}
	case []any:
		for _, v := range s {
			into = propertyNames(v, into)
		}
	}
	return into
}
