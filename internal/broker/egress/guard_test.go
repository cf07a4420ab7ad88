package egress_test

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"toolroom/internal/broker/egress"
	"toolroom/tool"
)

// TestHostileAddresses holds every spelling of a private place to one answer,
// without a question to a name server.
func TestHostileAddresses(t *testing.T) {
	for _, url := range []string{
		"http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0177.0.0.1/", "http://0x7f000001/", "http://0x7f.0.0.0x1:80/",
		"http://127.0.0.1./", "http://１２７.0.0.1/", "http://0.0.0.0/", "http://0/", "http://[::]:8080/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/",
		"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:a9fe:a9fe]/", "http://[::7f00:1]/", "http://[::ffff:0:7f00:1]/",
		"http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::a9fe:a9fe]/", "http://[2002:7f00:1::]/", "http://[2001:0:7f00:1::]/", "http://[fe80::1]/", "http://[fec0::1]/",
		"http://[fc00::1]/", "http://[fd00:ec2::254]/latest/", "http://[ff02::1]/", "http://[100::1]/", "http://[2001:db8::1]/",
		"http://localhost/", "http://LOCALHOST:81/", "http://localhost./", "http://db.localhost:5432/", "http://10.0.0.5/", "http://172.16.0.1/",
		"http://172.31.255.255/", "http://192.168.1.1/", "http://169.254.169.254/latest/meta-data/", "http://169.254.169.254./", "http://2852039166/",
		"http://100.100.100.200/", "http://100.64.0.1/", "http://168.63.129.16/", "http://192.0.0.192/", "http://198.18.0.1/", "http://224.0.0.1/", "http://240.0.0.1/",
		"http://255.255.255.255/", "http://metadata.google.internal/", "http://METADATA.google.internal./", "http://metadata.goog/", "http://router/",
		"http://kubernetes.default.svc.local/", "http://printer.local/", "http://vault.internal/", "http://example.com:25/", "http://example.com:6379/",
		"file:///etc/passwd", "gopher://127.0.0.1:6379/_INFO", "data:text/plain,hello", "ftp://example.com/", "ws://example.com/", "blob:null/1", "javascript:1",
	} {
		t.Run(url, func(t *testing.T) {
			dns := &names{}
			_, _, err := client(t, egress.Options{Resolver: dns}, tool.AnyName()).Fetch(t.Context(), get(url))
			wantCode(t, err, tool.EgressDenied)
			if n := dns.asked.Load(); n != 0 {
				t.Errorf("%d questions to the name server", n)
			}
		})
	}
}

func TestUnreadableURLs(t *testing.T) {
	for _, url := range []string{
		"", "/path", "example.com", "http://", "http://[fe80::1%25eth0]/", "http://user@example.com/", "http://user:pw@example.com/", "http://:pw@example.com/",
		`http://127.0.0.1:80\@example.com/`, `http:\\127.0.0.1\`, "http://127.0.0\t.1/", "http://exa\nmple.com/", "http://example.com/\x00", "http://example.com/a\r\nHost: x",
		"http://a b/", "http://example.com:99999/", "http://%00/", "http://1.2.3.4.5/", "http://" + strings.Repeat("a", 70_000) + "/",
	} {
		_, _, err := client(t, egress.Options{}, tool.AnyName()).Fetch(t.Context(), get(url))
		if code := tool.CodeOf(err); code != tool.InvalidURL {
			t.Errorf("%.60q: %v", url, err)
		}
	}
}

// TestPublicStaysReachable asks names and numbers that look private and are not:
// the guard lets them through to the dialler, where this machine may have no route.
func TestPublicStaysReachable(t *testing.T) {
	guard, err := egress.NewGuard(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://172.32.0.1/", "http://100.128.0.1/", "http://192.169.1.1/", "http://[2606:4700:4700::1111]/", "http://[::ffff:8.8.8.8]/",
		"http://11.0.0.1/", "https://example.com/", "http://127.0.0.1.example.com/", "http://localhost.example.com/", "http://example.com:8080/"} {
		target, err := egress.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if err := guard.Check(target); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestNamesOfPrivateAddresses covers rebinding, mixed records and names made for it.
func TestNamesOfPrivateAddresses(t *testing.T) {
	var hits atomic.Int64
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) { hits.Add(1) })
	_, port, _ := net.SplitHostPort(addr)
	dns := &names{of: map[string][]string{
		"127.0.0.1.nip.io": {"127.0.0.1"}, "mixed.test": {"192.0.2.7", "10.1.2.3", "127.0.0.1"}, "meta.test": {"169.254.169.254"}, "six.test": {"::1", "::ffff:127.0.0.1"},
	}}
	for name := range dns.of {
		_, _, err := client(t, egress.Options{Resolver: dns}, tool.AnyName()).Fetch(t.Context(), get("http://"+name+":"+port+"/"))
		wantCode(t, err, tool.EgressDenied)
		if strings.Contains(err.Error(), "10.1.2.3") {
			t.Errorf("the error shows an inner address: %v", err)
		}
	}
	if hits.Load() != 0 {
		t.Error("a private server was reached")
	}
}

func TestOnlyCheckedAddressIsDialled(t *testing.T) {
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })
	_, port, _ := net.SplitHostPort(addr)
	dns := &names{of: map[string][]string{"mixed.test": {"10.1.2.3", "127.0.0.1"}}}
	c := client(t, egress.Options{Resolver: dns, AllowPrivate: []string{addr}}, tool.AnyName())
	_, data, err := whole(c, get("http://mixed.test.:"+port+"/"))
	if err != nil || string(data) != "mixed.test:"+port {
		t.Fatalf("%q %v", data, err)
	}
	if n := dns.asked.Load(); n != 1 {
		t.Errorf("resolved %d times", n)
	}
}

func TestAllowPrivate(t *testing.T) {
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	_, port, _ := net.SplitHostPort(addr)
	for _, c := range []struct {
		allow, url string
		ok         bool
	}{
		{addr, "http://127.0.0.1:" + port, true}, {addr, "http://localhost:" + port, true}, {addr, "http://[::ffff:127.0.0.1]:" + port, true},
		{"localhost:" + port, "http://localhost:" + port, true}, {"localhost:" + port, "http://127.0.0.1:" + port, false},
		{"127.0.0.0/8", "http://127.0.0.1:" + port, true}, {"10.0.0.0/8", "http://127.0.0.1:" + port, false}, {"127.0.0.1:1", "http://127.0.0.1:" + port, false},
	} {
		_, _, err := client(t, egress.Options{AllowPrivate: []string{c.allow}}, tool.AnyName()).Fetch(t.Context(), get(c.url))
		if c.ok && err != nil || !c.ok && tool.CodeOf(err) != tool.EgressDenied {
			t.Errorf("%s with %s allowed: %v", c.url, c.allow, err)
		}
	}
	for _, bad := range []string{"", "localhost", "127.0.0.1", "*.example.com:80", "http://127.0.0.1:80", "1.2.3.4/99", "127.0.0.1:0", "127.0.0.1:99999"} {
		if _, err := egress.NewGuard(egress.Options{AllowPrivate: []string{bad}}); tool.CodeOf(err) != tool.InvalidArguments {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestOperatorSaysNone(t *testing.T) {
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	c := client(t, egress.Options{None: true, AllowPrivate: []string{addr}}, tool.AnyName())
	_, _, err := c.Fetch(t.Context(), get("http://"+addr))
	wantCode(t, err, tool.EgressDenied)
}

func TestNAT64OfTheOperator(t *testing.T) {
	guard, err := egress.NewGuard(egress.Options{NAT64: []netip.Prefix{netip.MustParsePrefix("2001:67c:2b0:db32:0:1::/96")}})
	if err != nil {
		t.Fatal(err)
	}
	for url, ok := range map[string]bool{"http://[2001:67c:2b0:db32:0:1:7f00:1]/": false, "http://[2001:67c:2b0:db32:0:1:808:808]/": true} {
		target, err := egress.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if err := guard.Check(target); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestGrantHosts(t *testing.T) {
	for _, c := range []struct {
		entry, host string
		port        uint16
		ok          bool
	}{
		{"api.example.com", "api.example.com", 443, true}, {"api.example.com", "evil-api.example.com", 443, false}, {"api.example.com", "api.example.com.evil.test", 443, false},
		{"example.com", "api.example.com", 443, false}, {"*.example.com", "api.example.com", 443, true}, {"*.example.com", "a.b.example.com", 443, true},
		{"*.example.com", "example.com", 443, false}, {"*.example.com", "evilexample.com", 443, false}, {"API.Example.COM.", "api.example.com", 443, true},
		{"bücher.example", "xn--bcher-kva.example", 443, true}, {"api.example.com:8443", "api.example.com", 8443, true}, {"api.example.com:8443", "api.example.com", 443, false},
		{"127.1", "127.0.0.1", 80, true}, {"[::1]:80", "::1", 80, true}, {"::1", "::1", 80, true}, {"*.0.example", "1.0.example", 80, true},
	} {
		hosts, err := egress.ParseHosts(tool.NameList(c.entry))
		if err != nil || hosts.Allow(c.host, c.port) != c.ok {
			t.Errorf("%s for %s:%d: %v %v", c.entry, c.host, c.port, !c.ok, err)
		}
	}
	for _, bad := range []string{"", "*", "*.", "**.com", "a*.example.com", "*.0.0.1", "https://example.com", "example.com/", "a@b", "a b", "a:0", "a:x", "%41.com"} {
		if _, err := egress.ParseHosts(tool.NameList(bad)); tool.CodeOf(err) != tool.InvalidDefinition {
			t.Errorf("%q is taken for a host: %v", bad, err)
		}
	}
	for _, nothing := range []*tool.Names{nil, tool.NameList()} {
		if hosts, _ := egress.ParseHosts(nothing); hosts.Allow("example.com", 443) {
			t.Errorf("an empty list allows something")
		}
	}
}

func TestProxyVariablesAreIgnored(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	t.Setenv("http_proxy", "http://127.0.0.1:9")
	_, addr := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "direct") })
	dns := &names{of: map[string][]string{"site.test": {"127.0.0.1"}}}
	_, port, _ := net.SplitHostPort(addr)
	c := client(t, egress.Options{AllowPrivate: []string{addr}, Resolver: dns}, tool.AnyName())
	if _, data, err := whole(c, get("http://site.test:"+port)); err != nil || string(data) != "direct" {
		t.Errorf("%q %v", data, err)
	}
}
