package egress

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"toolroom/tool"
)

// Resolver looks names up. It is asked for hosts that are no addresses, once a
// connection.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options are an operator's choices. The zero value reaches every public address.
type Options struct {
	None         bool           // nothing is reachable, whatever a grant says
	AllowPrivate []string       // "HOST:PORT" or "CIDR": private addresses that are reachable all the same
	NAT64        []netip.Prefix // this network's own /96 prefixes: judged by the IPv4 address inside
	Resolver     Resolver       // default: the system's name servers
	RootCAs      *x509.CertPool // default: the system's
	MaxOpen      int            // exchanges open at once per workspace; default 10,000. More wait
	MaxBody      int64          // bytes of a decoded response; default 8 MiB
	Idle         time.Duration  // how long an unused connection is kept; default 30 s
}

// Guard decides which addresses may be dialled.
type Guard struct {
	opts     Options
	special  *ssrf.Guardian // what is reachable at all
	pairs    []host         // HOST:PORT of AllowPrivate
	prefixes []netip.Prefix // CIDR of AllowPrivate
}

// NewGuard checks the options. The error is invalid_arguments and names the
// entry of AllowPrivate that cannot be used.
func NewGuard(o Options) (*Guard, error) {
	g := &Guard{opts: o}
	for _, entry := range o.AllowPrivate {
		if err := g.allow(entry); err != nil {
			return nil, err
		}
	}
	for _, p := range o.NAT64 {
		if p.Bits() != 96 {
			return nil, tool.Errorf(tool.InvalidArguments, "the NAT64 prefix %s is not a /96", p)
		}
	}
	azure := netip.MustParsePrefix("168.63.129.16/32") // a public number that always leads to the host of the machine
	g.special = ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azure))
	if g.opts.Resolver == nil {
		g.opts.Resolver = system{&net.Resolver{PreferGo: true}}
	}
	g.opts.MaxOpen = orDefault(o.MaxOpen, 10_000)
	g.opts.MaxBody = orDefault(o.MaxBody, 8<<20)
	g.opts.Idle = orDefault(o.Idle, 30*time.Second)
	return g, nil
}

func orDefault[T int | int64 | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

func (g *Guard) allow(entry string) error {
	if p, err := netip.ParsePrefix(entry); err == nil {
		g.prefixes = append(g.prefixes, p.Masked())
		return nil
	}
	h, err := parseHost(entry)
	if err != nil || h.port == 0 || h.sub {
		return tool.Errorf(tool.InvalidArguments, "--allow-private takes HOST:PORT or a CIDR, not %s", quote(entry)).
			WithHint("For example 127.0.0.1:8080, db.internal:5432 or 10.1.0.0/16.")
	}
	g.pairs = append(g.pairs, h)
	return nil
}

// Check refuses a target that can be judged without asking a name server.
func (g *Guard) Check(t *Target) error {
	if g.opts.None {
		return tool.Errorf(tool.EgressDenied, "%s was not asked: the operator of this room has switched the network off", t.authority()).
			WithHint("The room was started with --net none; no grant changes that.")
	}
	if g.paired(t.Host, t.Port) {
		return nil
	}
	if badPort(t.Port) {
		return tool.Errorf(tool.EgressDenied, "port %d of %s is not for the web", t.Port, t.Host)
	}
	if !t.Addr.IsValid() && !isLocalhost(t.Host) {
		return g.checkName(t)
	}
	for _, a := range literal(t.Host) {
		if g.permits(t.Host, netip.AddrPortFrom(a, t.Port)) {
			return nil
		}
	}
	return denied(t.authority())
}

// checkName refuses names that mean something inside a network only.
func (g *Guard) checkName(t *Target) error {
	if isMetadata(t.Host) || len(g.prefixes) == 0 && isInternal(t.Host) {
		return denied(t.authority())
	}
	return nil
}

func denied(where string) error {
	return tool.Errorf(tool.EgressDenied, "%s is not on the public internet, so tools may not reach it", where).
		WithHint("The operator can allow one private address with --allow-private HOST:PORT.")
}

// paired says whether the operator named this very host and port.
func (g *Guard) paired(name string, port uint16) bool {
	for _, p := range g.pairs {
		if p.matches(name, port) {
			return true
		}
	}
	return false
}

// permits says whether a socket may be connected to a, which name was resolved to.
func (g *Guard) permits(name string, a netip.AddrPort) bool {
	addr := a.Addr().Unmap().WithZone("")
	if g.paired(name, a.Port()) || g.paired(addr.String(), a.Port()) {
		return true
	}
	for _, p := range g.prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	for _, p := range g.opts.NAT64 {
		if p.Contains(addr) {
			b := addr.As16()
			addr = netip.AddrFrom4([4]byte(b[12:]))
		}
	}
	return g.special.SafeAddr(addr) == nil
}

// dial connects to name and port: resolves once, checks every address, and
// tries only those that are permitted.
func (g *Guard) dial(ctx context.Context, name string, port uint16) (net.Conn, error) {
	addrs, err := g.lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	var refused bool
	var failed error
	for i, a := range addrs {
		target := netip.AddrPortFrom(a.Unmap(), port)
		if i >= 16 || !g.permits(name, target) {
			refused = true
			continue
		}
		conn, err := g.connect(ctx, name, target)
		if err == nil {
			return conn, nil
		}
		failed = err
	}
	if refused || failed == nil { // mixed answers are how a private address is smuggled in: say that, not the failure
		return nil, denied(netJoin(name, port))
	}
	return nil, failed
}

// connect dials one address. Control sees what the kernel is about to be given,
// so it is the last word.
func (g *Guard) connect(ctx context.Context, name string, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	d.Control = func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil || a != to || !g.permits(name, a) {
			return denied(netJoin(name, to.Port()))
		}
		return nil
	}
	return d.DialContext(ctx, "tcp", to.String())
}

func (g *Guard) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if addrs := literal(name); addrs != nil {
		return addrs, nil
	}
	return g.opts.Resolver.LookupNetIP(ctx, "ip", name)
}

// literal is the addresses of a host that needs no name server, else nil.
func literal(name string) []netip.Addr {
	if a, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{a}
	}
	if isLocalhost(name) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	}
	return nil
}

func isLocalhost(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func isMetadata(name string) bool {
	switch name {
	case "metadata.google.internal", "metadata.goog", "instance-data.ec2.internal":
		return true
	}
	return false
}

// isInternal says whether a name has no meaning on the public internet.
func isInternal(name string) bool {
	if !strings.Contains(name, ".") {
		return true
	}
	for _, zone := range []string{".internal", ".local", ".localdomain", ".home.arpa", ".lan", ".intranet"} {
		if strings.HasSuffix(name, zone) {
			return true
		}
	}
	return false
}

// system asks for the whole name, so that no search domain of this machine is
// appended to it.
type system struct{ *net.Resolver }

func (s system) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	return s.Resolver.LookupNetIP(ctx, network, host+".")
}
