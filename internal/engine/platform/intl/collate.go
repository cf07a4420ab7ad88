package intl

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// CollatorOptions are the options of Intl.Collator.
type CollatorOptions struct {
	Usage, Sensitivity, CaseFirst, Collation string
	Numeric, IgnorePunctuation               bool
}

// NewCollator makes what compares text in a language. It is not safe for concurrent use.
func NewCollator(tag string, o CollatorOptions) (*collate.Collator, error) {
	lang, err := language.Parse(tag)
	if err != nil {
		return nil, refuse("Incorrect locale information provided: %s", tag)
	}
	if o.CaseFirst != "" && o.CaseFirst != "false" || o.IgnorePunctuation || o.Usage == "search" || o.Collation != "" && o.Collation != "default" {
		return nil, refuse("the options caseFirst, ignorePunctuation, collation and usage search are not offered here")
	}
	var options []collate.Option
	switch o.Sensitivity {
	case "", "variant":
	case "accent":
		options = append(options, collate.IgnoreCase)
	case "base":
		options = append(options, collate.IgnoreCase, collate.IgnoreDiacritics)
	default:
		return nil, refuse("sensitivity is base, accent or variant here, not %q", o.Sensitivity)
	}
	if o.Numeric || strings.Contains(tag, "-kn") {
		options = append(options, collate.Numeric)
	}
	return collate.New(lang, options...), nil
}

// Fold is text in upper or lower case by the rules of a language.
func Fold(tag, text string, upper bool) (string, error) {
	lang, err := language.Parse(tag)
	if err != nil {
		return "", refuse("Incorrect locale information provided: %s", tag)
	}
	if upper {
		return cases.Upper(lang).String(text), nil
	}
	return cases.Lower(lang).String(text), nil
}
