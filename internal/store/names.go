package store

import (
	"strconv"
	"strings"
)

// Fold is the form in which names are compared: without regard to case.
func Fold(name string) string { return strings.ToLower(name) }

// Look is the form in which names are compared by eye: two names with the same
// Look are easily taken for each other (Iist and list, g0t and got, a-b and a_b).
// Pairs of real words, such as tail and tall, stay apart.
func Look(name string) string {
	alike := strings.NewReplacer("I", "l", "1", "l", "0", "o", "-", "_")
	return strings.ToLower(alike.Replace(name))
}

// VersionID is the id of the version that the change of a revision made. Ids
// are of one length, so they sort as the changes happened, whatever the clock did.
func VersionID(revision int64) string {
	const width = 9
	digits := strconv.FormatInt(revision, 32)
	return "v" + strings.Repeat("0", max(0, width-len(digits))) + digits
}
