package egress

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"toolroom/tool"
)

// maxURL bounds a URL, in bytes.
const maxURL = 64 << 10

// Target is where a request goes: an http or https URL as the WHATWG rules read
// it. Host is what everything is decided by: a lower-case ASCII name without its
// trailing dot, or the shortest form of an address.
type Target struct {
	Scheme string
	Host   string
	Port   uint16
	Addr   netip.Addr // of a literal host, IPv4 in IPv6 taken out; else invalid

	parsed *whatwg.Url
}

// Parse reads an absolute URL. The error is invalid_url for what is no URL or
// hides something in it, egress_denied for a scheme other than http and https.
func Parse(raw string) (*Target, error) {
	if err := plain(raw); err != nil {
		return nil, err
	}
	u, err := whatwg.Parse(raw)
	if err != nil {
		return nil, tool.Errorf(tool.InvalidURL, "%s is not a URL: %s", quote(raw), reason(err)).
			WithHint("fetch takes an absolute URL such as https://api.example.com/path.")
	}
	return newTarget(u)
}

// Resolve reads ref, a Location, relative to t.
func (t *Target) Resolve(ref string) (*Target, error) {
	if err := plain(ref); err != nil {
		return nil, err
	}
	u, err := t.parsed.Parse(ref)
	if err != nil {
		return nil, tool.Errorf(tool.InvalidURL, "the redirect to %s does not lead to a URL: %s", quote(ref), reason(err))
	}
	return newTarget(u)
}

// plain refuses what parsers are known to disagree about.
func plain(raw string) error {
	if len(raw) > maxURL {
		return tool.Errorf(tool.InvalidURL, "the URL has %d bytes, %d are allowed", len(raw), maxURL)
	}
	for _, r := range strings.TrimFunc(raw, func(r rune) bool { return r == ' ' }) {
		if r < 0x20 || r == 0x7f {
			return tool.Errorf(tool.InvalidURL, "%s has a control character", quote(raw)).
				WithHint("Encode the parts of a URL with encodeURIComponent or URLSearchParams.")
		}
	}
	if before, _, _ := strings.Cut(raw, "?"); strings.Contains(before, `\`) {
		return tool.Errorf(tool.InvalidURL, "%s has a backslash", quote(raw)).WithHint("Write / between the parts of a URL.")
	}
	return nil
}

func newTarget(u *whatwg.Url) (*Target, error) {
	if s := u.Scheme(); s != "http" && s != "https" {
		return nil, tool.Errorf(tool.EgressDenied, "fetch reaches http and https only, not %s:", quote(s))
	}
	if u.Username() != "" || u.Password() != "" {
		return nil, tool.Errorf(tool.InvalidURL, "the URL of %s has a user name or password in it", u.Hostname()).
			WithHint("Send them in an Authorization header.")
	}
	t := &Target{Scheme: u.Scheme(), Host: canonical(u.Hostname()), parsed: u}
	if t.Host == "" {
		return nil, tool.Errorf(tool.InvalidURL, "%s names no host", quote(u.Href(true)))
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if u.Port() != "" && err != nil {
		return nil, tool.Errorf(tool.InvalidURL, "%s is not a port", quote(u.Port()))
	}
	t.Port = uint16(port)
	if u.Port() == "" {
		t.Port = defaultPort(t.Scheme)
	}
	if a, err := netip.ParseAddr(t.Host); err == nil {
		t.Addr = a.Unmap()
	}
	return t, nil
}

// canonical is a host as the WHATWG parser gives it, without what does not
// change where it leads: brackets, and the dot at the end of a name.
func canonical(host string) string {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		return strings.TrimSuffix(inner, "]")
	}
	return strings.TrimSuffix(host, ".")
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// Href is the URL without its fragment, as Response.url shows it.
func (t *Target) Href() string { return t.parsed.Href(true) }

// sameOrigin says whether credentials for t may be sent to o.
func (t *Target) sameOrigin(o *Target) bool {
	return t.Scheme == o.Scheme && t.Host == o.Host && t.Port == o.Port
}

// authority is the host as a URL and a Host header write it.
func (t *Target) authority() string {
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.Port == defaultPort(t.Scheme) {
		return host
	}
	return host + ":" + strconv.Itoa(int(t.Port))
}

// wireURL is t for net/http, with path and query replaced by what goes on the
// wire. Opaque keeps net/http from encoding the path a second time in its own way.
func (t *Target) wireURL(path, query string) *url.URL {
	u := &url.URL{Scheme: t.Scheme, Host: t.authority(), Opaque: path, RawQuery: query}
	if strings.HasPrefix(path, "//") { // net/http would take it for an authority
		decoded, err := url.PathUnescape(path)
		if err != nil {
			decoded = path
		}
		u.Opaque, u.Path, u.RawPath = "", decoded, path
	}
	return u
}
