package platform

import (
	"encoding/json"
	"strings"

	"github.com/nlnwa/whatwg-url/url"
)

func urlNatives() map[string]Func {
	return map[string]Func{"url.parse": parseURL, "url.set": setURL, "query.parse": parseQuery, "query.write": writeQuery}
}

// parseURL(url, base?) → the parts, or why there are none as a string.
func parseURL(args Args) (any, error) {
	u, err := resolve(args)
	if err != nil {
		if args.Has(1) {
			return "Invalid URL: " + quoted(args.Text(0)) + " with base " + quoted(args.Text(1)), nil
		}
		return "Invalid URL: " + quoted(args.Text(0)), nil
	}
	return parts(u), nil
}

func resolve(args Args) (*url.Url, error) {
	p := url.NewParser()
	if args.Has(1) {
		return p.ParseRef(args.Text(1), args.Text(0))
	}
	return p.Parse(args.Text(0))
}

// quoted is text for an error message: short, and on one line.
func quoted(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	b, _ := json.Marshal(s)
	return string(b)
}

// parts lists what url.js names, in its order.
func parts(u *url.Url) []any {
	return []any{
		u.Href(false), u.Protocol(), u.Username(), u.Password(), u.Host(), u.Hostname(), u.Port(), u.Pathname(), u.Search(), u.Hash(), origin(u),
	}
}

func origin(u *url.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	case "blob":
		inner, err := url.NewParser().Parse(u.Pathname())
		if err == nil && (inner.Scheme() == "http" || inner.Scheme() == "https") {
			return origin(inner)
		}
	}
	return "null"
}

// setURL(href, part, value) → the parts after setting one.
func setURL(args Args) (any, error) {
	u, err := url.NewParser().Parse(args.Text(0))
	if err != nil {
		return "Invalid URL: " + quoted(args.Text(0)), nil
	}
	setPart(u, args.Text(1), args.Text(2))
	return parts(u), nil
}

func setPart(u *url.Url, part, value string) {
	switch part {
	case "protocol":
		u.SetProtocol(value)
	case "username":
		u.SetUsername(value)
	case "password":
		u.SetPassword(value)
	case "host":
		u.SetHost(value)
	case "hostname":
		u.SetHostname(value)
	case "port":
		u.SetPort(value)
	case "pathname":
		u.SetPathname(value)
	case "search":
		u.SetSearch(value)
	case "hash":
		u.SetHash(value)
	}
}

// parseQuery(text) → [name, value, name, value…], by the rules of forms.
func parseQuery(args Args) (any, error) {
	out := []any{}
	for _, pair := range strings.Split(args.Text(0), "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		out = append(out, unescapeQuery(name), unescapeQuery(value))
	}
	return out, nil
}

func unescapeQuery(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	out := make([]byte, 0, len(s))
	for n := 0; n < len(s); n++ {
		switch {
		case s[n] == '+':
			out = append(out, ' ')
		case s[n] == '%' && n+2 < len(s) && unhex(s[n+1]) >= 0 && unhex(s[n+2]) >= 0:
			out = append(out, byte(unhex(s[n+1])<<4|unhex(s[n+2])))
			n += 2
		default:
			out = append(out, s[n])
		}
	}
	text, _, _ := decodeUTF8(out, false, false)
	return text
}

func unhex(c byte) int {
	if c >= 'A' && c <= 'F' {
		c += 'a' - 'A'
	}
	return strings.IndexByte("0123456789abcdef", c)
}

// writeQuery(JSON of [name, value, …]) → text, by the rules of forms.
func writeQuery(args Args) (any, error) {
	var flat []string
	if err := json.Unmarshal([]byte(args.Text(0)), &flat); err != nil {
		return nil, err
	}
	var out strings.Builder
	for n := 0; n+1 < len(flat); n += 2 {
		if n > 0 {
			out.WriteByte('&')
		}
		escapeQuery(&out, flat[n])
		out.WriteByte('=')
		escapeQuery(&out, flat[n+1])
	}
	return out.String(), nil
}

func escapeQuery(out *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for n := 0; n < len(s); n++ {
		switch c := s[n]; {
		case c == ' ':
			out.WriteByte('+')
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("*-._", c) >= 0:
			out.WriteByte(c)
		default:
			out.WriteByte('%')
			out.WriteByte(hex[c>>4])
			out.WriteByte(hex[c&15])
		}
	}
}
