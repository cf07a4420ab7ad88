package intl

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DateOptions are the options of Intl.DateTimeFormat; what is empty was not given.
type DateOptions struct {
	Weekday, Era, Year, Month, Day, DayPeriod, Hour, Minute, Second string
	FractionalSecondDigits                                          int
	TimeZoneName, HourCycle, TimeZone, DateStyle, TimeStyle         string
	Hour12                                                          *bool
	Calendar, NumberingSystem                                       string
}

// DateFormat is resolved options: everything that formatting a date needs besides the locale's tables.
type DateFormat struct {
	Locale, TimeZone, Pattern, Cycle string
	ZoneName                         string // how the zone is named
	Fraction                         int    // digits of the second's fraction
	Options                          DateOptions

	zone *time.Location // once it was loaded
}

// NewDate resolves options against a locale.
func NewDate(l *Locale, keys map[string]string, o DateOptions) (*DateFormat, error) {
	if err := checkDate(keys, &o); err != nil {
		return nil, err
	}
	zone, err := zoneName(o.TimeZone)
	if err != nil {
		return nil, err
	}
	f := &DateFormat{Locale: l.Tag, TimeZone: zone, ZoneName: o.TimeZoneName, Fraction: o.FractionalSecondDigits, Options: o}
	if o.DateStyle != "" || o.TimeStyle != "" {
		f.Pattern, err = l.styled(&o)
	} else {
		f.Pattern, err = l.composed(&o)
	}
	if err != nil {
		return nil, err
	}
	f.Cycle = cycleOf(f.Pattern)
	return f, nil
}

// cycleOf is the hour cycle that a pattern writes, as in hourCycle.
func cycleOf(pattern string) string {
	_, rest, found := strings.Cut(pattern, "{h")
	if !found {
		return ""
	}
	return "h" + rest[:2]
}

func checkDate(keys map[string]string, o *DateOptions) error {
	if o.HourCycle == "" {
		o.HourCycle = keys["hc"]
	}
	if v := first(o.Calendar, keys["ca"], "gregory"); v != "gregory" {
		return refuse("the calendar %q is not offered here: there is gregory", v)
	}
	if v := first(o.NumberingSystem, keys["nu"], "latn"); v != "latn" {
		return refuse("the numbering system %q is not offered here: there is latn", v)
	}
	if o.Era != "" || o.DayPeriod != "" {
		return refuse("the options era and dayPeriod are not offered here")
	}
	return checkChoices(o)
}

func checkChoices(o *DateOptions) error {
	const text, digits = "long short narrow", "numeric 2-digit"
	for _, c := range []struct{ name, value, choices string }{
		{"weekday", o.Weekday, text}, {"year", o.Year, digits}, {"month", o.Month, digits + " " + text}, {"day", o.Day, digits},
		{"hour", o.Hour, digits}, {"minute", o.Minute, digits}, {"second", o.Second, digits}, {"hourCycle", o.HourCycle, "h11 h12 h23 h24"},
		{"timeZoneName", o.TimeZoneName, "short long shortOffset longOffset"}, {"dateStyle", o.DateStyle, "full long medium short"}, {"timeStyle", o.TimeStyle, "full long medium short"},
	} {
		if c.value != "" && !oneOf(c.value, c.choices) {
			return refuse("%s cannot be %q here: it is one of %s", c.name, c.value, strings.ReplaceAll(c.choices, " ", ", "))
		}
	}
	if o.FractionalSecondDigits < 0 || o.FractionalSecondDigits > 3 {
		return refuse("fractionalSecondDigits is 1, 2 or 3")
	}
	return nil
}

func oneOf(v, choices string) bool {
	for _, c := range strings.Fields(choices) {
		if c == v {
			return true
		}
	}
	return false
}

func first(list ...string) string {
	for _, v := range list {
		if v != "" {
			return v
		}
	}
	return ""
}

// cycle is the key of the hour cycle in the tables.
func (o *DateOptions) cycle() string {
	switch {
	case o.Hour12 != nil:
		return strconv.FormatBool(*o.Hour12)
	case o.HourCycle != "":
		return o.HourCycle
	}
	return "default"
}

func (l *Locale) styled(o *DateOptions) (string, error) {
	date, hasDate := l.Styles.Date[o.DateStyle]
	time, hasTime := l.Styles.Time[o.TimeStyle+o.cycle()]
	switch {
	case hasDate && hasTime:
		return join(l.Styles.Glue[o.DateStyle], l.Patterns[date], l.Patterns[time]), nil
	case hasDate:
		return l.Patterns[date], nil
	case hasTime:
		return l.Patterns[time], nil
	}
	return "", refuse("dateStyle and timeStyle are full, long, medium or short")
}

func join(glue, date, time string) string {
	return strings.NewReplacer("{D}", date, "{T}", time).Replace(glue)
}

// composed is the pattern of single fields.
func (l *Locale) composed(o *DateOptions) (string, error) {
	date, err := l.datePattern(o)
	if err != nil {
		return "", err
	}
	time, err := l.timePattern(o)
	if err != nil {
		return "", err
	}
	switch {
	case date == "":
		return time, nil
	case time == "" && o.TimeZoneName == "":
		return date, nil
	case time == "":
		return join(l.Glue.Zone, date, "{zs}"), nil
	}
	if n, ok := l.Week[code(o.Weekday)+timeKey(o, zoneCode(o.TimeZoneName))]; ok && o.Year+o.Month+o.Day == "" {
		return l.withFraction(l.Patterns[n], o)
	}
	return join(l.glueFor(o), date, time), nil
}

func (l *Locale) glueFor(o *DateOptions) string {
	switch {
	case o.Month == "long" && o.Weekday != "":
		return l.Glue.WeekdayLong
	case o.Month == "long":
		return l.Glue.Long
	case o.Month == "short":
		return l.Glue.Short
	}
	return l.Glue.Numeric
}

func code(v string) string {
	switch v {
	case "":
		return "-"
	case "numeric":
		return "1"
	case "2-digit":
		return "2"
	}
	return v[:1] // long, short, narrow
}

func (l *Locale) datePattern(o *DateOptions) (string, error) {
	key := code(o.Weekday) + code(o.Year) + code(o.Month) + code(o.Day)
	if key == "----" {
		return "", nil
	}
	n, ok := l.Date[key]
	if !ok {
		return "", refuse("this combination of weekday, year, month and day is not offered here for %s", l.Tag)
	}
	return l.Patterns[n], nil
}

func (l *Locale) timePattern(o *DateOptions) (string, error) {
	if o.Hour+o.Minute+o.Second == "" {
		if o.FractionalSecondDigits > 0 {
			return "", refuse("fractionalSecondDigits goes with second here")
		}
		return "", nil
	}
	n, ok := l.Time[timeKey(o, zoneCode(o.TimeZoneName))]
	if !ok && o.TimeZoneName != "" {
		n, ok = l.Time[timeKey(o, "s")] // the usual case: the same pattern for every name of a zone
	}
	if !ok {
		return "", refuse("this combination of hour, minute and second is not offered here for %s", l.Tag)
	}
	return l.withFraction(l.Patterns[n], o)
}

// timeKey is the key of the tables of times.
func timeKey(o *DateOptions, zone string) string {
	cycle := "default"
	if o.Hour != "" {
		cycle = o.cycle()
	}
	return code(o.Hour) + code(o.Minute) + code(o.Second) + zone + cycle
}

func zoneCode(style string) string {
	switch style {
	case "":
		return "-"
	case "shortOffset":
		return "o"
	case "longOffset":
		return "O"
	}
	return style[:1] // short, long
}

func (l *Locale) withFraction(pattern string, o *DateOptions) (string, error) {
	if o.FractionalSecondDigits == 0 {
		return pattern, nil
	}
	if o.Second == "" {
		return "", refuse("fractionalSecondDigits goes with second here")
	}
	return strings.NewReplacer("{s1}", "{s1}"+l.Fraction+"{f}", "{s2}", "{s2}"+l.Fraction+"{f}").Replace(pattern), nil
}

// Format writes a moment, in milliseconds since 1970. It is not safe for concurrent use.
func (f *DateFormat) Format(l *Locale, ms float64) ([]Part, error) {
	if f.zone == nil {
		var err error
		if f.zone, err = loadZone(f.TimeZone); err != nil {
			return nil, err
		}
	}
	t := time.UnixMilli(int64(ms)).In(f.zone)
	var out []Part
	var err error
	fields(f.Pattern, func(literal, field string) {
		if literal != "" {
			out = append(out, Part{"literal", literal})
		}
		if field == "" || err != nil {
			return
		}
		var p Part
		p, err = f.field(l, t, field)
		out = append(out, p)
	})
	return merge(out), err
}

// merge joins literals that stand next to one another.
func merge(list []Part) []Part {
	out := list[:0]
	for _, p := range list {
		if n := len(out); n > 0 && p.Type == "literal" && out[n-1].Type == "literal" {
			out[n-1].Value += p.Value
			continue
		}
		out = append(out, p)
	}
	return out
}

func (f *DateFormat) field(l *Locale, t time.Time, field string) (Part, error) {
	n, _ := strconv.Atoi(field[1:])
	switch field[0] {
	case 'y':
		return Part{"year", year(t.Year(), n)}, nil
	case 'm':
		return Part{"month", digits(int(t.Month()), n)}, nil
	case 'M':
		return Part{"month", l.Names[n][t.Month()-1]}, nil
	case 'd':
		return Part{"day", digits(t.Day(), n)}, nil
	case 'w':
		return Part{"weekday", l.Names[n][t.Weekday()]}, nil
	case 'h':
		return Part{"hour", digits(hour(t.Hour(), n/10), n%10)}, nil
	case 'n':
		return Part{"minute", digits(t.Minute(), n)}, nil
	case 's':
		return Part{"second", digits(t.Second(), n)}, nil
	case 'f':
		return Part{"fractionalSecond", fmt.Sprintf("%03d", t.Nanosecond()/int(time.Millisecond))[:f.Fraction]}, nil
	case 'p':
		return Part{"dayPeriod", l.Names[n][t.Hour()]}, nil
	}
	name, err := f.zoneText(l, t, field)
	return Part{"timeZoneName", name}, err
}

func digits(v, width int) string { return fmt.Sprintf("%0*d", width, v) }

// year counts backwards before the year 1, as calendars with eras do.
func year(v, width int) string {
	if v < 1 {
		v = 1 - v
	}
	if width == 2 {
		return digits(v%100, 2)
	}
	return strconv.Itoa(v)
}

func hour(v, cycle int) int {
	switch cycle {
	case 11:
		return v % 12
	case 12:
		return (v+11)%12 + 1
	case 24:
		return (v+23)%24 + 1
	}
	return v
}
