package intl

import (
	"strings"
	"testing"
)

func textOf(list []Part) string {
	var out strings.Builder
	for _, p := range list {
		out.WriteString(p.Value)
	}
	return out.String()
}

// TestTables: every locale's line can be read, and every pattern in it written.
func TestTables(t *testing.T) {
	for _, tag := range Tags() {
		l, err := Find(tag)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range l.Patterns {
			f := DateFormat{Pattern: pattern, TimeZone: "UTC"}
			if list, err := f.Format(l, 1720170487000); err != nil || textOf(list) == "" {
				t.Errorf("%s %q: %v", tag, pattern, err)
			}
		}
		for currency := range l.Number.Currency {
			f, err := NewNumber(l, nil, NumberOptions{Style: "currency", Currency: currency})
			if err != nil {
				t.Fatal(err)
			}
			if list, err := f.Format(l, "-1234.5"); err != nil || !strings.Contains(textOf(list), "2") {
				t.Errorf("%s %s: %v %v", tag, currency, list, err)
			}
		}
	}
}

// TestRounding: numbers round by their decimal digits, a half away from zero.
func TestRounding(t *testing.T) {
	l, err := Find("en-US")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in     string
		places int
		want   string
	}{
		{"1.005", 2, "1.01"}, {"-1.005", 2, "-1.01"}, {"2.5", 0, "3"}, {"0.5", 0, "1"}, {"0.49", 0, "0"}, {"999.995", 2, "1,000"},
		{"1e21", 0, "1,000,000,000,000,000,000,000"}, {"1e-7", 6, "0"}, {"-0", 0, "-0"}, {"-0.4", 0, "-0"}, {"0.000", 2, "0"}, {"12345678901234567890.125", 2, "12,345,678,901,234,567,890.13"},
		{"NaN", 2, "NaN"}, {"-Infinity", 2, "-∞"},
	} {
		f, err := NewNumber(l, nil, NumberOptions{MaximumFractionDigits: &c.places})
		if err != nil {
			t.Fatal(err)
		}
		list, err := f.Format(l, c.in)
		if got := textOf(list); err != nil || got != c.want {
			t.Errorf("%s to %d places is %q, want %q (%v)", c.in, c.places, got, c.want, err)
		}
	}
}

// TestRefused: what is not offered is an error that names it.
func TestRefused(t *testing.T) {
	l, err := Find("en-US")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]DateOptions{
		"era": {Era: "long"}, "japanese": {Calendar: "japanese"}, "arab": {NumberingSystem: "arab"}, "Mars/Base": {TimeZone: "Mars/Base"}, "../etc": {TimeZone: "../etc"},
		"shortGeneric": {Hour: "numeric", TimeZoneName: "shortGeneric"}, "huge": {Month: "huge"}, "Local": {TimeZone: "Local"}, "fractionalSecondDigits": {FractionalSecondDigits: 2},
	} {
		if _, err := NewDate(l, nil, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Find("xx-YY"); err == nil || !strings.Contains(err.Error(), "xx-YY") {
		t.Error(err)
	}
	// The name of a zone in years whose names the table does not know.
	f, err := NewDate(l, nil, DateOptions{Hour: "numeric", TimeZoneName: "long", TimeZone: "Europe/London"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Format(l, 0); err == nil {
		t.Error("a zone's name in 1970")
	}
}

func TestFixedOffsets(t *testing.T) {
	l, err := Find("en-GB")
	if err != nil {
		t.Fatal(err)
	}
	for zone, want := range map[string]string{"+02:00": "02:30", "-0330": "21:00", "Asia/Kolkata": "06:00", "utc": "00:30"} {
		f, err := NewDate(l, nil, DateOptions{Hour: "2-digit", Minute: "2-digit", TimeZone: zone})
		if err != nil {
			t.Fatal(err)
		}
		list, err := f.Format(l, 1719793800000) // 2024-07-01T00:30Z
		if got := textOf(list); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", zone, got, want, err)
		}
	}
}
