package intl

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// zoneName checks a time zone and gives its name as it is to be shown.
func zoneName(name string) (string, error) {
	switch strings.ToUpper(name) {
	case "", "UTC", "GMT", "ETC/UTC", "ETC/GMT":
		return "UTC", nil
	}
	if _, err := loadZone(name); err != nil {
		return "", err
	}
	return name, nil
}

func loadZone(name string) (*time.Location, error) {
	if offset, ok := fixedOffset(name); ok {
		return time.FixedZone(name, offset), nil
	}
	if name == "Local" || strings.ContainsAny(name, ".\\") {
		return nil, noZone(name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, noZone(name)
	}
	return zone, nil
}

func noZone(name string) error {
	return refuse("Invalid time zone specified: %s (an IANA name, written as in Europe/Berlin, or an offset such as +02:00)", name)
}

// fixedOffset reads +02:00 as seconds.
func fixedOffset(name string) (int, bool) {
	if len(name) == 0 || name[0] != '+' && name[0] != '-' {
		return 0, false
	}
	m := regexp.MustCompile(`^[+-]([01]\d|2[0-3]):?([0-5]\d)?$`).FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	h, _ := strconv.Atoi(m[1])
	n, _ := strconv.Atoi(m[2])
	seconds := h*3600 + n*60
	if name[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// namesSince is the first year whose zones the table's names are right for: zones
// changed what they are called, and the table has today's names.
const namesSince = 2000

// zoneText names the zone of t; field is zs or zl, which timeStyle makes, or what timeZoneName asks for.
func (f *DateFormat) zoneText(l *Locale, t time.Time, field string) (string, error) {
	style := f.ZoneName
	if style == "" {
		style = map[string]string{"zs": "short", "zl": "long"}[field]
	}
	_, offset := t.Zone()
	switch style {
	case "longOffset":
		return l.Offsets.write(offset, l.Offsets.Zero, l.Offsets.Plus, l.Offsets.Minus, true), nil
	case "shortOffset":
		return l.Offsets.short(offset), nil
	}
	if _, fixed := fixedOffset(f.TimeZone); fixed {
		if style == "short" {
			return l.Offsets.short(offset), nil
		}
		return l.Offsets.write(offset, l.Offsets.Zero, l.Offsets.Plus, l.Offsets.Minus, true), nil
	}
	names, ok := l.Zones[f.TimeZone]
	if !ok || t.Year() < namesSince {
		return "", refuse("the name of the time zone %s is not known here for %d: use timeZoneName shortOffset or longOffset", f.TimeZone, t.Year())
	}
	n := 0
	if style == "long" {
		n = 2
	}
	if summer(t, f.TimeZone) {
		n++
	}
	return names[n], nil
}

// summer says whether the zone is in what CLDR calls its daylight time. Ireland's law
// calls the summer standard time, and the tables of package time follow it; CLDR does not.
func summer(t time.Time, zone string) bool {
	if zone == "Europe/Dublin" {
		_, offset := t.Zone()
		return offset != 0
	}
	return t.IsDST()
}

func (o *offsets) short(offset int) string {
	return o.write(offset, o.ShortZero, o.ShortPlus, o.ShortMinus, false)
}

func (o *offsets) write(seconds int, zero string, plus, minus offset, long bool) string {
	how := plus
	switch {
	case seconds == 0:
		return zero
	case seconds < 0:
		how, seconds = minus, -seconds
	}
	text := fmt.Sprintf("%0*d", how.width, seconds/3600)
	if rest := seconds / 60 % 60; rest != 0 || long {
		text += how.separator + digits(rest, 2)
	}
	if rest := seconds % 60; rest != 0 {
		text += how.separator + digits(rest, 2)
	}
	return how.before + text + how.behind
}
