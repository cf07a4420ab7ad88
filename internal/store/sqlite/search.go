package sqlite

import "strings"

// match is a full-text query that finds any of the words, or what begins with
// one; empty if there is none. Quoting keeps words from being operators.
func match(words []string) string {
	clean := strings.NewReplacer(`"`, `""`, "\x00", "")
	var terms []string
	for _, w := range words {
		if w = clean.Replace(w); w != "" {
			terms = append(terms, `"`+w+`"*`)
		}
	}
	return strings.Join(terms, " OR ")
}
