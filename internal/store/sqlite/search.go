package sqlite

import "strings"

// match is a full-text query that finds any of the words, or what begins with
// one. Quoting keeps words from being operators.
func match(words []string) string {
	terms := make([]string, len(words))
	for i, w := range words {
		terms[i] = `"` + strings.ReplaceAll(w, `"`, `""`) + `"*`
	}
	return strings.Join(terms, " OR ")
}
