// Package intl formats dates and numbers as people of a locale write them, and
// compares text as they sort it. It is what stands behind Intl, toLocaleString and
// localeCompare in an isolate. For what it offers its results are those of ICU;
// everything else is an error that says so: it never answers with another
// locale's habits.
//
// The tables in locales.txt come from the Unicode CLDR by way of the ICU in Node,
// see generate.mjs, under the licence in LICENSE-UNICODE.txt. Package time has the time zones.
package intl

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	_ "time/tzdata" // an isolate's process can read no files
)

//go:embed locales.txt
var table string

// RangeError is a choice that is not offered.
type RangeError struct{ Message string }

// Error is the message.
func (e *RangeError) Error() string { return e.Message }

func refuse(format string, args ...any) error { return &RangeError{fmt.Sprintf(format, args...)} }

// Locale is one line of the table. It is immutable.
type Locale struct {
	Tag string // as ICU resolves it

	Date     map[string]int // by weekday, year, month, day → a pattern
	Time     map[string]int // by hour, minute, second, zone and cycle → a pattern
	Week     map[string]int // by weekday, hour, minute, second, zone and cycle: where gluing the two is not right
	Styles   styles
	Glue     glue
	Offsets  offsets
	Zones    map[string][4]string // short and long names, in standard and in summer time
	Number   numberTable
	Fraction string // between seconds and their fraction
	Names    [][]string
	Patterns []string
}

type styles struct {
	Date, Time map[string]int
	Glue       map[string]string
}

type glue struct{ WeekdayLong, Long, Short, Numeric, Zone string }

type offsets struct {
	Zero, ShortZero                    string
	Plus, Minus, ShortPlus, ShortMinus offset
}

// offset is how a distance from UTC is written: before, digits of the hour, separator, behind.
type offset struct {
	before, separator, behind string
	width                     int
}

// UnmarshalJSON reads [before, width, separator, behind].
func (o *offset) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&o.before, &o.width, &o.separator, &o.behind})
}

// Default is the locale of those who name none.
const Default = "en-US"

// Find gives the locale for a BCP 47 tag without extensions.
func Find(tag string) (*Locale, error) {
	for line := range strings.Lines(table) {
		name, rest, _ := strings.Cut(line, "\t")
		if strings.EqualFold(name, tag) {
			return read(rest)
		}
	}
	return nil, refuse("the locale %q is not offered here; there are %s", tag, strings.Join(Tags(), ", "))
}

// Split separates a tag from the choices that its -u- extension makes, such as hc, nu and ca.
func Split(tag string) (base string, keys map[string]string) {
	base, extension, _ := strings.Cut(tag, "-u-")
	return base, keywords(extension)
}

// Tags lists the locales.
func Tags() []string {
	var out []string
	for line := range strings.Lines(table) {
		name, _, _ := strings.Cut(line, "\t")
		out = append(out, name)
	}
	return out
}

func read(rest string) (*Locale, error) {
	tag, data, _ := strings.Cut(strings.TrimSpace(rest), "\t")
	if twin, ok := strings.CutPrefix(data, "="); ok {
		l, err := Find(twin)
		if err != nil {
			return nil, err
		}
		l.Tag = tag
		return l, nil
	}
	l := &Locale{Tag: tag}
	if err := json.Unmarshal([]byte(data), l); err != nil {
		return nil, fmt.Errorf("the table of the locale %s: %w", tag, err)
	}
	return l, nil
}

// keywords reads "hc-h23-nu-latn".
func keywords(extension string) map[string]string {
	out := map[string]string{}
	key := ""
	for _, part := range strings.Split(extension, "-") {
		switch {
		case len(part) == 2:
			key = part
			out[key] = ""
		case key != "" && out[key] == "":
			out[key] = part
		}
	}
	return out
}

// Part is a piece of formatted text, of the types that formatToParts gives.
type Part struct{ Type, Value string }

// fields splits a pattern at its braces: the text before each field, and the field.
func fields(pattern string, each func(literal, field string)) {
	for {
		literal, rest, found := strings.Cut(pattern, "{")
		if !found {
			each(pattern, "")
			return
		}
		field, after, _ := strings.Cut(rest, "}")
		each(literal, field)
		pattern = after
	}
}
