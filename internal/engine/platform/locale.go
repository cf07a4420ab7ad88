package platform

import (
	"encoding/json"
	"errors"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"toolroom/internal/engine/platform/intl"
)

// locales is what formatting keeps from one call of a native to the next: tables and
// collators that nothing changes.
type locales struct {
	read      map[string]*intl.Locale
	dates     map[string]*intl.DateFormat // by plan
	numbers   map[string]*intl.NumberFormat
	collators map[string]*collate.Collator // by locale and options
}

// maxKept bounds how many of each are kept; then all are made anew.
const maxKept = 64

// kept finds what key stands for, or makes and keeps it.
func kept[T any](all *map[string]*T, key string, make func() (*T, error)) (*T, error) {
	if v, ok := (*all)[key]; ok {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return nil, err
	}
	if *all == nil || len(*all) >= maxKept {
		*all = map[string]*T{}
	}
	(*all)[key] = v
	return v, nil
}

func unpack[T any](plan string) func() (*T, error) {
	return func() (*T, error) {
		v := new(T)
		return v, json.Unmarshal([]byte(plan), v)
	}
}

func (l *locales) natives() map[string]Func {
	return map[string]Func{
		"intl.date": l.newDate, "intl.formatDate": l.formatDate, "intl.number": l.newNumber, "intl.formatNumber": l.formatNumber,
		"intl.collator": l.newCollator, "intl.compare": l.compare, "intl.fold": foldCase, "intl.tags": localeTags, "intl.canonical": canonicalTag,
	}
}

// choose finds the first locale of a list, which is JSON, that is offered.
func (l *locales) choose(list string) (*intl.Locale, map[string]string, error) {
	var tags []string
	if err := json.Unmarshal([]byte(list), &tags); err != nil {
		return nil, nil, err
	}
	if len(tags) == 0 {
		tags = []string{intl.Default}
	}
	var missing error
	for _, tag := range tags {
		base, keys := intl.Split(tag)
		found, err := l.table(base)
		if err == nil {
			return found, keys, nil
		}
		if missing == nil {
			missing = err
		}
	}
	return nil, nil, missing
}

// table is the locale of a tag without extensions.
func (l *locales) table(tag string) (*intl.Locale, error) {
	if found, ok := l.read[tag]; ok {
		return found, nil
	}
	found, err := intl.Find(tag)
	if err != nil {
		return nil, ranged(err)
	}
	if l.read == nil {
		l.read = map[string]*intl.Locale{}
	}
	l.read[tag] = found // there are no more tags than the table has, in a few spellings
	return found, nil
}

// ranged is err as scripts see it.
func ranged(err error) error {
	if e, ok := errors.AsType[*intl.RangeError](err); ok {
		return Throw("RangeError", "%s", e.Message)
	}
	return err
}

// newDate(locales, options) → a plan for formatDate, as JSON text.
func (l *locales) newDate(args Args) (any, error) {
	found, keys, err := l.choose(args.Text(0))
	if err != nil {
		return nil, err
	}
	var o intl.DateOptions
	if err := json.Unmarshal([]byte(args.Text(1)), &o); err != nil {
		return nil, Throw("RangeError", "the options of a date format are not valid")
	}
	return plan(intl.NewDate(found, keys, o))
}

func plan[T any](f T, err error) (any, error) {
	if err != nil {
		return nil, ranged(err)
	}
	b, err := json.Marshal(f)
	return string(b), err
}

// formatDate(plan, milliseconds) → [type, value, …].
func (l *locales) formatDate(args Args) (any, error) {
	f, err := kept(&l.dates, args.Text(0), unpack[intl.DateFormat](args.Text(0)))
	if err != nil {
		return nil, err
	}
	found, err := l.table(f.Locale)
	if err != nil {
		return nil, err
	}
	list, err := f.Format(found, args.Number(1))
	return flat(list), ranged(err)
}

func flat(list []intl.Part) []any {
	out := make([]any, 0, 2*len(list))
	for _, p := range list {
		out = append(out, p.Type, p.Value)
	}
	return out
}

// newNumber(locales, options) → a plan for formatNumber, as JSON text.
func (l *locales) newNumber(args Args) (any, error) {
	found, keys, err := l.choose(args.Text(0))
	if err != nil {
		return nil, err
	}
	var o intl.NumberOptions
	if err := json.Unmarshal([]byte(args.Text(1)), &o); err != nil {
		return nil, Throw("RangeError", "the options of a number format are not valid")
	}
	return plan(intl.NewNumber(found, keys, o))
}

// formatNumber(plan, decimal text) → [type, value, …].
func (l *locales) formatNumber(args Args) (any, error) {
	f, err := kept(&l.numbers, args.Text(0), unpack[intl.NumberFormat](args.Text(0)))
	if err != nil {
		return nil, err
	}
	found, err := l.table(f.Locale)
	if err != nil {
		return nil, err
	}
	list, err := f.Format(found, args.Text(1))
	return flat(list), ranged(err)
}

// newCollator(locales, options) → the tag to compare by. It fails for what is not offered.
func (l *locales) newCollator(args Args) (any, error) {
	found, _, err := l.choose(args.Text(0))
	if err != nil {
		return nil, err
	}
	_, err = l.collator(found.Tag, args.Text(1))
	return found.Tag, err
}

func (l *locales) collator(tag, options string) (*collate.Collator, error) {
	return kept(&l.collators, tag+options, func() (*collate.Collator, error) {
		var o intl.CollatorOptions
		if err := json.Unmarshal([]byte(options), &o); err != nil {
			return nil, Throw("RangeError", "the options of a collator are not valid")
		}
		c, err := intl.NewCollator(tag, o)
		return c, ranged(err)
	})
}

// compare(tag, options, a, b) → -1, 0 or 1.
func (l *locales) compare(args Args) (any, error) {
	c, err := l.collator(args.Text(0), args.Text(1))
	if err != nil {
		return nil, err
	}
	return c.CompareString(args.Text(2), args.Text(3)), nil
}

// foldCase(tag, text, upper).
func foldCase(args Args) (any, error) {
	out, err := intl.Fold(args.Text(0), args.Text(1), args.Bool(2))
	return out, ranged(err)
}

func localeTags(Args) (any, error) {
	out := []any{}
	for _, tag := range intl.Tags() {
		out = append(out, tag)
	}
	return out, nil
}

// canonicalTag(tag) → the tag as BCP 47 writes it.
func canonicalTag(args Args) (any, error) {
	tag, err := language.Parse(args.Text(0))
	if err != nil {
		return nil, Throw("RangeError", "Incorrect locale information provided: %s", quoted(args.Text(0)))
	}
	return tag.String(), nil
}
