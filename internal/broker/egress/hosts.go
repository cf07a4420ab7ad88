package egress

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"toolroom/tool"
)

// Hosts is an allow-list of hosts. The zero value allows nothing.
type Hosts struct {
	any  bool
	list []host
}

// host is one entry: a whole host, or all names under one; port 0 is every port.
type host struct {
	name string
	sub  bool
	port uint16
}

// ParseHosts reads the hosts of a grant or a binding: "api.example.com",
// "*.example.com", "10.0.0.7:8080", "[2001:db8::1]". A nil list allows nothing. The error is
// invalid_definition and names the entry that is no host.
func ParseHosts(names *tool.Names) (Hosts, error) {
	if names == nil {
		return Hosts{}, nil
	}
	hosts := Hosts{any: names.Any}
	for _, n := range names.List {
		h, err := parseHost(n)
		if err != nil {
			return Hosts{}, err
		}
		hosts.list = append(hosts.list, h)
	}
	return hosts, nil
}

func parseHost(pattern string) (host, error) {
	bad := func(why string) (host, error) {
		return host{}, tool.Errorf(tool.InvalidDefinition, "%s is not a host: %s", quote(pattern), why).
			WithHint("Write whole hosts: api.example.com, *.example.com for all names under it, api.example.com:8443 for one port.")
	}
	rest, sub := strings.CutPrefix(pattern, "*.")
	if rest == "" || strings.ContainsAny(rest, "*/?#@\\% \t\r\n") {
		return bad("it has a character that no host has")
	}
	name, port, err := splitPort(rest)
	if err != nil {
		return bad(err.Error())
	}
	u, err := whatwg.Parse("http://" + bracket(name) + "/")
	if err != nil || u.Hostname() == "" {
		return bad("it does not parse")
	}
	h := host{name: canonical(u.Hostname()), sub: sub, port: port}
	if h.name == "" || strings.HasPrefix(h.name, ".") || strings.HasSuffix(h.name, ".") || strings.Contains(h.name, "..") {
		return bad("it has an empty part between dots")
	}
	if _, err := netip.ParseAddr(h.name); err == nil && sub {
		return bad("an address has no names under it")
	}
	return h, nil
}

// splitPort takes an optional port off; a bare IPv6 address has none.
func splitPort(s string) (string, uint16, error) {
	if _, err := netip.ParseAddr(s); err == nil || !strings.Contains(s, ":") || strings.HasSuffix(s, "]") {
		return strings.Trim(s, "[]"), 0, nil
	}
	name, digits, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, err
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || port == 0 {
		return "", 0, tool.Errorf(tool.InvalidDefinition, "%s is not a port", quote(digits))
	}
	return name, uint16(port), nil
}

func bracket(name string) string {
	if strings.Contains(name, ":") {
		return "[" + name + "]"
	}
	return name
}

// Allow says whether name and port, of a Target, are on the list.
func (h Hosts) Allow(name string, port uint16) bool {
	if h.any {
		return true
	}
	for _, e := range h.list {
		if e.matches(name, port) {
			return true
		}
	}
	return false
}

func (h host) matches(name string, port uint16) bool {
	if h.port != 0 && h.port != port {
		return false
	}
	if !h.sub {
		return name == h.name
	}
	_, err := netip.ParseAddr(name)
	return err != nil && strings.HasSuffix(name, "."+h.name) // the dot: only at a label border
}

// String lists the entries for an error text.
func (h Hosts) String() string {
	if h.any {
		return "any host"
	}
	if len(h.list) == 0 {
		return "no host"
	}
	parts := make([]string, len(h.list))
	for i, e := range h.list {
		parts[i] = e.String()
	}
	return strings.Join(parts, ", ")
}

func (h host) String() string {
	s := bracket(h.name)
	if h.sub {
		s = "*." + s
	}
	if h.port != 0 {
		s += ":" + strconv.Itoa(int(h.port))
	}
	return s
}

func netJoin(host string, port uint16) string {
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
