package egress

import (
	"net/http"
	"sort"
	"strings"

	"golang.org/x/net/http/httpguts"

	"toolroom/tool"
)

// maxHeaders bounds the names and values of a request's headers together, in bytes.
const maxHeaders = 64 << 10

// Header is a name and a value. A value holds one code point per byte on the
// wire, as in a JavaScript ByteString.
type Header [2]string

// checkMethod refuses what is no method, and the methods that fetch forbids.
func checkMethod(method string, body []byte) error {
	switch {
	case !httpguts.ValidHeaderFieldName(method) || len(method) > 64:
		return tool.Errorf(tool.FetchFailed, "%s is not an HTTP method", quote(method))
	case isAny(method, "CONNECT", "TRACE", "TRACK"):
		return tool.Errorf(tool.FetchFailed, "the method %s is not allowed", strings.ToUpper(method))
	case len(body) > 0 && isAny(method, "GET", "HEAD"):
		return tool.Errorf(tool.FetchFailed, "a %s request cannot have a body", method)
	}
	return nil
}

func isAny(s string, of ...string) bool {
	for _, o := range of {
		if strings.EqualFold(s, o) {
			return true
		}
	}
	return false
}

// wireHeaders checks a request's headers and turns them into what net/http
// sends. Headers that frame the message are the room's to set: harmless ones are
// dropped as browsers do, those that would change who is spoken to are refused.
func wireHeaders(list []Header, t *Target) (http.Header, error) {
	out, size := make(http.Header, len(list)+3), 0
	for _, h := range list {
		name := http.CanonicalHeaderKey(h[0])
		value, ok := byteString(strings.Trim(h[1], " \t\r\n"))
		if size += len(name) + len(value); size > maxHeaders {
			return nil, tool.Errorf(tool.FetchFailed, "the headers are larger than %d bytes", maxHeaders)
		}
		switch {
		case !httpguts.ValidHeaderFieldName(h[0]):
			return nil, tool.Errorf(tool.FetchFailed, "%s is not a header name", quote(h[0]))
		case !ok || !httpguts.ValidHeaderFieldValue(value):
			return nil, tool.Errorf(tool.FetchFailed, "the value of the header %s has a character that headers cannot carry", name)
		case refused(name) && !(name == "Host" && strings.EqualFold(value, t.authority())):
			return nil, tool.Errorf(tool.FetchFailed, "the header %s is set by the room", name).WithHint("Leave it out.")
		case !refused(name) && !dropped(name):
			out.Add(name, value)
		}
	}
	setDefaults(out)
	return out, nil
}

func setDefaults(h http.Header) {
	h.Set("Accept-Encoding", "gzip, deflate")
	if h.Get("Accept") == "" {
		h.Set("Accept", "*/*")
	}
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", "toolroom")
	}
}

func refused(name string) bool {
	switch name {
	case "Host", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Expect", "Http2-Settings":
		return true
	}
	return strings.HasPrefix(name, "Proxy-")
}

func dropped(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Content-Length", "Accept-Encoding", "Accept-Charset", "Via", "Date":
		return true
	}
	return false
}

// harmless says whether a header may follow a redirect to another origin. All
// others might be credentials under a name of the author's own.
func harmless(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Accept", "Accept-Language", "Content-Type", "Content-Language", "Content-Encoding", "User-Agent":
		return true
	}
	return false
}

// keep returns the headers that want says yes to.
func keep(list []Header, want func(name string) bool) []Header {
	var out []Header
	for _, h := range list {
		if want(h[0]) {
			out = append(out, h)
		}
	}
	return out
}

// byteString turns code points into bytes; false if one is no byte.
func byteString(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xff {
			return "", false
		}
		b = append(b, byte(r))
	}
	return string(b), true
}

// codePoints is the opposite of byteString.
func codePoints(b string) string {
	for i := range len(b) {
		if b[i] >= 0x80 {
			var s strings.Builder
			for j := range len(b) {
				s.WriteRune(rune(b[j]))
			}
			return s.String()
		}
	}
	return b
}

// listHeaders is a response's headers, names in lower case and in order.
func listHeaders(h http.Header, redact func(string) string) []Header {
	out := make([]Header, 0, len(h))
	for name, values := range h {
		for _, v := range values {
			out = append(out, Header{strings.ToLower(name), redact(codePoints(v))})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i][0] < out[j][0] })
	return out
}
