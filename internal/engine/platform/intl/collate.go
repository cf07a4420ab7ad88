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

// ordered are the languages whose order is that of ICU; the tests compare. For
// others the tables of x/text lack what CLDR has: the order of scripts, upper case first, and the like.
const ordered = "en de fr es it nl pt sv is pl cs sk ro sl et lt tr id vi ms ca"

// NewCollator makes what compares text in a language. It is not safe for concurrent use.
func NewCollator(tag string, o CollatorOptions) (*collate.Collator, error) {
	lang, err := language.Parse(tag)
	if err != nil {
		return nil, refuse("Incorrect locale information provided: %s", tag)
	}
	base, _ := lang.Base()
	if !oneOf(base.String(), ordered) || strings.EqualFold(tag, "fr-CA") {
		return nil, refuse("the order of text in %s is not offered here, as it would not be right: leave the locale out for the order that most languages share, or name one of %s", tag, ordered)
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
