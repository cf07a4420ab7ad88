package intl

import (
	"encoding/json"
	"strings"
)

type numberTable struct {
	Decimal, Group, Minus, Plus, NaN, Infinity string
	Sizes                                      [2]int // digits of the first group from the right, and of the others
	Least                                      int    // digits that must stand before a group
	Percent                                    [3]string
	Money                                      [2]string // decimal and group of amounts
	Currency                                   map[string]currencyRow
	Affixes                                    []string
}

// currencyRow is the places of a currency and its nine patterns: symbol, narrowSymbol and code, each
// positive, negative and with a plus; then 1 when NaN and Infinity stand otherwise.
type currencyRow []int

func (r currencyRow) special() bool { return r[len(r)-1] == 1 }

func displays() []string { return []string{"symbol", "narrowSymbol", "code"} }

// NumberOptions are the options of Intl.NumberFormat; what is empty or nil was not given.
type NumberOptions struct {
	Style, Currency, CurrencyDisplay, CurrencySign, Unit, UnitDisplay, Notation, CompactDisplay string
	SignDisplay, UseGrouping, RoundingMode, RoundingPriority, TrailingZeroDisplay               string
	NumberingSystem                                                                             string
	MinimumIntegerDigits, MinimumFractionDigits, MaximumFractionDigits                          *int
	MinimumSignificantDigits, MaximumSignificantDigits, RoundingIncrement                       *int
}

// NumberFormat is resolved options.
type NumberFormat struct {
	Locale                         string
	Style, Currency, Display       string
	Sign, Grouping                 string
	MinInteger                     int
	MinFraction, MaxFraction       int
	MinSignificant, MaxSignificant int // 0: not asked for
}

// NewNumber resolves options against a locale.
func NewNumber(l *Locale, keys map[string]string, o NumberOptions) (*NumberFormat, error) {
	if err := checkNumber(keys, &o); err != nil {
		return nil, err
	}
	f := &NumberFormat{Locale: l.Tag, Style: first(o.Style, "decimal"), Sign: first(o.SignDisplay, "auto"), Grouping: first(o.UseGrouping, "auto"), MinInteger: 1}
	least, most := 0, 3
	switch f.Style {
	case "percent":
		most = 0
	case "currency":
		f.Currency, f.Display = strings.ToUpper(o.Currency), first(o.CurrencyDisplay, "symbol")
		row, ok := l.Number.Currency[f.Currency]
		if !ok {
			return nil, refuse("the currency %q is not offered here for %s", f.Currency, l.Tag)
		}
		least, most = row[0], row[0]
	}
	return f, f.digits(&o, least, most)
}

func checkNumber(keys map[string]string, o *NumberOptions) error {
	if v := first(o.NumberingSystem, keys["nu"], "latn"); v != "latn" {
		return refuse("the numbering system %q is not offered here: there is latn", v)
	}
	for _, c := range []struct{ name, value, choices string }{
		{"style", o.Style, "decimal percent currency"}, {"currencyDisplay", o.CurrencyDisplay, "symbol narrowSymbol code"}, {"currencySign", o.CurrencySign, "standard"},
		{"notation", o.Notation, "standard"}, {"signDisplay", o.SignDisplay, "auto never always exceptZero negative"}, {"useGrouping", o.UseGrouping, "auto always min2 false"},
		{"roundingMode", o.RoundingMode, "halfExpand"}, {"roundingPriority", o.RoundingPriority, "auto"}, {"trailingZeroDisplay", o.TrailingZeroDisplay, "auto"},
	} {
		if c.value != "" && !oneOf(c.value, c.choices) {
			return refuse("%s cannot be %q here: it is one of %s", c.name, c.value, strings.ReplaceAll(c.choices, " ", ", "))
		}
	}
	if o.RoundingIncrement != nil && *o.RoundingIncrement != 1 {
		return refuse("roundingIncrement is not offered here")
	}
	return nil
}

// digits settles how many digits are written.
func (f *NumberFormat) digits(o *NumberOptions, least, most int) error {
	var err error
	pick := func(v *int, low, high, fallback int, name string) int {
		if v == nil {
			return fallback
		}
		if *v < low || *v > high {
			err = refuse("%s is between %d and %d", name, low, high)
		}
		return *v
	}
	f.MinInteger = pick(o.MinimumIntegerDigits, 1, 21, 1, "minimumIntegerDigits")
	if o.MinimumSignificantDigits != nil || o.MaximumSignificantDigits != nil {
		f.MinSignificant = pick(o.MinimumSignificantDigits, 1, 21, 1, "minimumSignificantDigits")
		f.MaxSignificant = pick(o.MaximumSignificantDigits, f.MinSignificant, 21, 21, "maximumSignificantDigits")
		return err
	}
	low := pick(o.MinimumFractionDigits, 0, 100, -1, "minimumFractionDigits")
	high := pick(o.MaximumFractionDigits, 0, 100, -1, "maximumFractionDigits")
	switch {
	case low < 0 && high < 0:
		low, high = least, most
	case low < 0:
		low = min(least, high)
	case high < 0:
		high = max(most, low)
	case low > high:
		return refuse("minimumFractionDigits is larger than maximumFractionDigits")
	}
	f.MinFraction, f.MaxFraction = low, high
	return err
}

// Format writes a number that is given in decimal: digits with an optional sign,
// point and exponent, or NaN, Infinity, -Infinity.
func (f *NumberFormat) Format(l *Locale, text string) ([]Part, error) {
	d, ok := parseDecimal(text)
	if !ok {
		return nil, refuse("%q is not a number", text)
	}
	if f.Style == "percent" && !d.zero() {
		d.exponent += 2
	}
	if d.special != "" && f.Style == "currency" && l.Number.Currency[f.Currency].special() {
		return nil, refuse("%s is no amount of %s that can be written here", text, f.Currency)
	}
	f.round(&d)
	return f.around(l, f.sign(d), f.digitParts(l, d)), nil
}

// sign picks the pattern: 0 without a sign, 1 minus, 2 plus.
func (f *NumberFormat) sign(d decimal) int {
	zero := d.special == "" && d.zero()
	switch f.Sign {
	case "never":
		return 0
	case "always":
		if d.negative {
			return 1
		}
		return 2
	case "exceptZero":
		if zero || d.special == "NaN" {
			return 0
		}
		if d.negative {
			return 1
		}
		return 2
	case "negative":
		if zero {
			return 0
		}
	}
	if d.negative {
		return 1
	}
	return 0
}

// around puts what belongs to the style around the digits.
func (f *NumberFormat) around(l *Locale, sign int, digits []Part) []Part {
	var out []Part
	fields(f.affixes(l, sign), func(literal, field string) {
		if literal != "" {
			out = append(out, Part{"literal", literal})
		}
		switch {
		case field == "":
		case field == "0":
			out = append(out, digits...)
		case field == "-":
			out = append(out, Part{"minusSign", l.Number.Minus})
		case field == "+":
			out = append(out, Part{"plusSign", l.Number.Plus})
		case field == "%":
			out = append(out, Part{"percentSign", "%"})
		default:
			out = append(out, Part{"currency", strings.TrimPrefix(field, "$")})
		}
	})
	return out
}

func (f *NumberFormat) affixes(l *Locale, sign int) string {
	switch f.Style {
	case "percent":
		return l.Number.Percent[sign]
	case "currency":
		for n, name := range displays() {
			if name == f.Display {
				return l.Number.Affixes[l.Number.Currency[f.Currency][1+3*n+sign]]
			}
		}
	}
	return [3]string{"{0}", "{-}{0}", "{+}{0}"}[sign]
}

// digitParts is the number without its sign.
func (f *NumberFormat) digitParts(l *Locale, d decimal) []Part {
	switch d.special {
	case "NaN":
		return []Part{{"nan", l.Number.NaN}}
	case "Infinity":
		return []Part{{"infinity", l.Number.Infinity}}
	}
	point, group := l.Number.Decimal, l.Number.Group
	if f.Style == "currency" {
		point, group = l.Number.Money[0], l.Number.Money[1]
	}
	whole, fraction := d.split()
	if n := f.MinInteger - len(whole); n > 0 {
		whole = strings.Repeat("0", n) + whole
	}
	out := f.grouped(l, whole, group)
	if fraction = f.padded(d, whole, fraction); fraction != "" {
		out = append(out, Part{"decimal", point}, Part{"fraction", fraction})
	}
	return out
}

// padded gives the fraction the zeros that the minimum of digits asks for.
func (f *NumberFormat) padded(d decimal, whole, fraction string) string {
	least := f.MinFraction
	if f.MaxSignificant > 0 {
		least = f.MinSignificant - d.significantBefore()
	}
	if n := least - len(fraction); n > 0 {
		fraction += strings.Repeat("0", n)
	}
	return fraction
}

func (f *NumberFormat) grouped(l *Locale, whole, group string) []Part {
	least := l.Number.Least
	switch f.Grouping {
	case "false":
		return []Part{{"integer", whole}}
	case "always":
		least = 1
	case "min2":
		least = 2
	}
	primary, secondary := l.Number.Sizes[0], l.Number.Sizes[1]
	if group == "" || len(whole) < primary+least {
		return []Part{{"integer", whole}}
	}
	var pieces []string
	for size := primary; len(whole) > size; size = secondary {
		pieces = append(pieces, whole[len(whole)-size:])
		whole = whole[:len(whole)-size]
	}
	out := []Part{{"integer", whole}}
	for n := len(pieces) - 1; n >= 0; n-- {
		out = append(out, Part{"group", group}, Part{"integer", pieces[n]})
	}
	return out
}

// UnmarshalJSON takes any number of columns.
func (r *currencyRow) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, (*[]int)(r)) }
