package engine

import "testing"

func TestIntlExamples(t *testing.T) {
	e := newEngine(t)
	for body, want := range map[string]string{
		"return new Date('2024-07-01T00:30:00Z').toLocaleString('en-GB', { timeZone: 'Australia/Sydney', hour12: false })":                                        `"01/07/2024, 10:30:00"`,
		"const n = 1234567.891; return [n.toLocaleString('en-US'), n.toLocaleString('de-DE'), n.toLocaleString('en-US', { style: 'currency', currency: 'USD' })]": `["1,234,567.891","1.234.567,891","$1,234,567.89"]`,
		"return ['Zoe', '\u00e9mile', 'Ana', 'eve', '\u00c4ra'].sort((a, b) => a.localeCompare(b))":                                                               `["Ana","Ära","émile","eve","Zoe"]`,
		"return new Date('2024-07-01T02:30:00Z').toLocaleString('sv-SE', { timeZone: 'America/New_York' })":                                                       `"2024-06-30 22:30:00"`,
	} {
		h := newWebHost()
		out, meta := h.run(t, e, body, "{}")
		if meta.Error != nil || out != want {
			t.Errorf("%s: %s %+v, want %s", body, out, meta.Error, want)
		}
	}
}
