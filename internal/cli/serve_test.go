package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestGuard holds what a browser can be made to send against what is let through.
func TestGuard(t *testing.T) {
	server := httptest.NewServer(guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") })))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct {
		name, method, host, origin, site string
		want                             int
	}{
		{"a program", "POST", host, "", "", 200},
		{"a page of this server", "POST", host, "http://" + host, "same-origin", 200},
		{"localhost by name", "POST", "localhost:7333", "", "", 200},
		{"IPv6 loopback", "POST", "[::1]:7333", "", "", 200},
		{"another site's page", "POST", host, "https://evil.example", "cross-site", 403},
		{"null origin", "POST", host, "null", "", 403},
		{"rebinding: Host and Origin agree on somewhere else", "POST", "evil.example", "http://evil.example", "same-origin", 403},
		{"rebinding without an Origin", "GET", "evil.example", "", "", 403},
		{"a host that begins like loopback", "POST", "127.0.0.1.evil.example", "", "", 403},
		{"another port of this machine", "POST", host, "http://127.0.0.1:1", "same-site", 403},
		{"a cross-site form without Origin", "POST", host, "", "cross-site", 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), c.method, server.URL, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			req.Host = c.host
			for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
				if value != "" {
					req.Header.Set(name, value)
				}
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != c.want {
				t.Errorf("got %d, want %d", res.StatusCode, c.want)
			}
		})
	}
}

// TestWrap breaks lines for a narrow terminal.
func TestWrap(t *testing.T) {
	for in, want := range map[string]string{
		"short":                   "short",
		"one two three four":      "one two\n  three\n  four",
		"  a,b,c,d,e,f,g":         "  a,b,c,d,\n    e,f,g",
		"漢字漢字漢字漢字漢字漢字":            "漢字漢字漢字漢字漢字\n  漢字",
		"first\nsecond is longer": "first\nsecond is\n  longer",
	} {
		if got := wrap(in, 10); got != want {
			t.Errorf("wrap(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestInert shows text that acts, and what is printed in its place.
func TestInert(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\né 漢字 🙂":    "plain\ttext\né 漢字 🙂",
		"\x1b[2J\x07\x7f":        `\x1b[2J\x07\x7f`,
		"\u009b31m":              `\x9b31m`,
		"a\u202eb\u2066c\u200fd": `a\u202eb\u2066c\u200fd`,
		"zero\u200bwidth\ufeff":  `zero\u200bwidth\ufeff`,
		"over\rwritten":          `over\x0dwritten`,
		"a\u2028b":               `a\u2028b`,
		"a \x9b31m byte":         "a \ufffd31m byte",
	} {
		if got := inert(in); got != want {
			t.Errorf("inert(%q) = %q, want %q", in, got, want)
		}
	}
	if got := inertJSON("\"\U000e0041\u202e\""); got != `"\udb40\udc41\u202e"` {
		t.Errorf("inertJSON gives %s", got)
	}
	if got := inertLine("a\nb\tc"); got != "a b c" {
		t.Errorf("inertLine gives %q", got)
	}
}
