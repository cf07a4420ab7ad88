package egress_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"toolroom/internal/broker/egress"
	"toolroom/tool"
)

// shared reads a file of the shared test data, or skips.
func shared(t *testing.T, name string, into any) {
	t.Helper()
	dir := os.Getenv("TOOLROOM_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	b, err := os.ReadFile(filepath.Join(dir, "data", name))
	if err != nil {
		t.Skipf("the shared test data is not here (set TOOLROOM_SHARED): %v", err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	var objects []json.RawMessage
	for _, item := range list {
		if item[0] == '{' { // strings between the cases are comments
			objects = append(objects, item)
		}
	}
	b, err = json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// TestURLParserAgainstTheWeb reports how much of the web platform's own URL
// tests the parser passes, and fails when it gets worse.
func TestURLParserAgainstTheWeb(t *testing.T) {
	var cases []struct {
		Input, Base, Href string
		Hostname, Port    string
		Failure           bool
	}
	shared(t, "url/urltestdata.json", &cases)
	good := 0
	for _, c := range cases {
		u, err := whatwg.Parse(c.Input)
		if c.Base != "" {
			u, err = whatwg.ParseRef(c.Base, c.Input)
		}
		if c.Failure && err != nil || !c.Failure && err == nil && u.Href(false) == c.Href && u.Hostname() == c.Hostname && u.Port() == c.Port {
			good++
			continue
		}
		t.Logf("%q against %q: got %v, %v; want %q", c.Input, c.Base, u, err, c.Href)
	}
	report(t, "urltestdata", good, len(cases), 99)
}

// TestDomainsAgainstTheWeb does the same for names in other scripts.
func TestDomainsAgainstTheWeb(t *testing.T) {
	var cases []struct {
		Input  string
		Output *string
	}
	shared(t, "url/toascii.json", &cases)
	good := 0
	for _, c := range cases {
		u, err := whatwg.Parse("https://" + c.Input + "/x")
		if c.Output == nil && err != nil || c.Output != nil && err == nil && u.Host() == *c.Output {
			good++
			continue
		}
		t.Logf("%q: got %v, %v; want %v", c.Input, u, err, c.Output)
	}
	report(t, "toascii", good, len(cases), 99)
}

func report(t *testing.T, what string, good, all int, least float64) {
	t.Helper()
	percent := 100 * float64(good) / float64(all)
	t.Logf("%s: %d of %d right, %.1f%%", what, good, all, percent)
	if percent < least {
		t.Errorf("%s: %.1f%% is less than %.1f%%", what, percent, least)
	}
}

// FuzzParse looks for URLs whose host is judged as one thing and sent as another.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"http://127.1/", "http://a@b/", `http:\\x\y`, "http://[::ffff:1.2.3.4]:80/?q#f", "https://bücher.example./", "http://0x7f.1/", "//x", "http://xn--/"} {
		f.Add(s)
	}
	guard, err := egress.NewGuard(egress.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		target, err := egress.Parse(raw)
		if err != nil {
			return
		}
		again, err := egress.Parse(target.Href())
		if err != nil || again.Host != target.Host || again.Port != target.Port || again.Addr != target.Addr {
			t.Fatalf("%q is %+v, and read again %+v (%v)", raw, target, again, err)
		}
		if target.Addr.IsValid() && (target.Addr.IsLoopback() || target.Addr.IsPrivate() || target.Addr.IsLinkLocalUnicast()) && guard.Check(target) == nil {
			t.Fatalf("%q leads to %s and is let through", raw, target.Addr)
		}
	})
}

// FuzzHosts looks for entries of an allow-list that match more than themselves.
func FuzzHosts(f *testing.F) {
	for _, s := range []string{"example.com", "*.example.com", "example.com:80", "[::1]:80", "*.0.0.1", "a..b", "*.*.com"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		hosts, err := egress.ParseHosts(tool.NameList(entry))
		if err != nil {
			return
		}
		if hosts.Allow("probe.invalid-zone", 1) && !strings.Contains(strings.ToLower(entry), "invalid-zone") {
			t.Fatalf("%q allows a host that it does not name", entry)
		}
		again, err := egress.ParseHosts(tool.NameList(hosts.String()))
		if err != nil || again.String() != hosts.String() {
			t.Fatalf("%q is shown as %q, which reads as %q (%v)", entry, hosts, again, err)
		}
	})
}
