package platform

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"toolroom/internal/engine/platform/intl"
)

// texts checks that every text of a native's answer can be given to the engine.
func texts(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			t.Errorf("%q is not UTF-8", v)
		}
	case []any:
		for _, one := range v {
			texts(t, one)
		}
	}
}

func FuzzURL(f *testing.F) {
	for _, s := range []string{"http://a/b?c#d", "//h:1/p", "http://[::1]/", "http://0x7f.1/", "a:b", "http://u:p@h/", "http://ü/\xed\xa0\x80", "file:///C|/"} {
		f.Add(s, "http://base/x/y", "pathname", "/z")
	}
	f.Fuzz(func(t *testing.T, input, base, part, value string) {
		got, err := parseURL(Args{wellFormed(input), wellFormed(base)})
		if err != nil {
			t.Fatal(err)
		}
		texts(t, got)
		list, ok := got.([]any)
		if !ok {
			return
		}
		again, _ := parseURL(Args{list[0]})
		if second, ok := again.([]any); !ok || second[0] != list[0] {
			t.Errorf("%q parsed again is %v", list[0], again)
		}
		set, err := setURL(Args{list[0], part, wellFormed(value)})
		if err != nil {
			t.Fatal(err)
		}
		texts(t, set)
	})
}

func FuzzQuery(f *testing.F) {
	f.Add("a=1&b=%20+&&c&=x&%zz=%ff")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseQuery(Args{wellFormed(s)})
		if err != nil {
			t.Fatal(err)
		}
		texts(t, got)
	})
}

func FuzzDecode(f *testing.F) {
	for _, label := range []string{"utf-8", "utf-16", "gbk", "shift_jis", "iso-2022-jp", "big5", "euc-kr", "windows-1252", "gb18030", "x-user-defined"} {
		f.Add(label, []byte("\xef\xbb\xbf\xe2\x82\x1b$B$\"\xff\xd8"), 3)
	}
	f.Fuzz(func(t *testing.T, label string, data []byte, cut int) {
		name, err := encodingLabel(Args{label})
		if err != nil {
			return
		}
		whole, err := decodeText(Args{name, data, false, false, false})
		if err != nil {
			t.Fatal(err)
		}
		texts(t, whole)
		if cut < 0 || cut > len(data) {
			return
		}
		// In two pieces the text is the same.
		first, _ := decodeText(Args{name, data[:cut], false, true, false})
		rest, _ := first.([]any)[1].([]byte)
		second, _ := decodeText(Args{name, append(bytes.Clone(rest), data[cut:]...), false, false, false})
		if got := first.([]any)[0].(string) + second.([]any)[0].(string); got != whole.([]any)[0] {
			t.Errorf("%s %x cut at %d: %q, whole %q", name, data, cut, got, whole.([]any)[0])
		}
	})
}

func FuzzBase64(f *testing.F) {
	f.Add("YQ==")
	f.Add(" Y Q ")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := decodeBase64(Args{s})
		if err != nil {
			return
		}
		texts(t, got)
		back, err := encodeBase64(Args{got})
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeBase64(Args{back})
		if err != nil || again != got {
			t.Errorf("%q became %q, then %q", s, got, again)
		}
	})
}

func FuzzForm(f *testing.F) {
	f.Add("multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b\"\r\n\r\nc\r\n--x--\r\n"))
	f.Add("multipart/form-data", []byte("--"))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		got, err := splitForm(Args{kind, data})
		if err == nil && len(got.([]any))%4 != 0 {
			t.Error(got)
		}
	})
}

func FuzzDecompress(f *testing.F) {
	for _, format := range []string{"gzip", "deflate", "deflate-raw"} {
		c, _ := newCoder(format, false)
		c.write([]byte(strings.Repeat("hello ", 50)))
		c.finish()
		packed, _ := c.read()
		f.Add(format, packed, 5)
	}
	f.Fuzz(func(t *testing.T, format string, data []byte, cut int) {
		var all coders
		defer all.reset()
		id, err := all.start(Args{format, true})
		if err != nil {
			return
		}
		cut = max(0, min(cut, len(data)))
		for _, piece := range [][]byte{data[:cut], data[cut:]} {
			if _, err := all.write(Args{id, piece}); err != nil {
				return
			}
			if !drain(t, &all, id) {
				return
			}
		}
		if _, err := all.finish(Args{id}); err == nil {
			drain(t, &all, id)
		}
	})
}

// drain reads what there is, up to a bound; false when the stream is over.
func drain(t *testing.T, all *coders, id any) bool {
	t.Helper()
	for range 100 {
		got, err := all.read(Args{id})
		if err != nil {
			return false
		}
		b, ok := got.([]byte)
		if !ok {
			return true
		}
		if len(b) > pieceSize {
			t.Fatalf("a piece of %d bytes", len(b))
		}
	}
	return false
}

func FuzzKeys(f *testing.F) {
	f.Add("jwk", "EC", "P-256", []byte(`{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}`))
	f.Add("pkcs8", "RSA", "", []byte{0x30, 0x82})
	f.Add("raw", "Ed25519", "", make([]byte, 32))
	f.Fuzz(func(t *testing.T, format, kind, curve string, data []byte) {
		got, err := importKey(Args{format, kind, curve, data})
		if err != nil {
			return
		}
		list := got.([]any)
		if _, err := exportKey(Args{"jwk", kind, list[1]}); err != nil {
			t.Errorf("a key that was imported cannot be exported: %v", err)
		}
	})
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-1.5e3", "NaN", "-Infinity", "99.995", "1e9999", "1e99999", "..", ""} {
		f.Add(s, 2, 5)
	}
	l, err := intl.Find("de-DE")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string, least, most int) {
		format, err := intl.NewNumber(l, nil, intl.NumberOptions{MinimumFractionDigits: &least, MaximumFractionDigits: &most})
		if err != nil {
			return
		}
		list, err := format.Format(l, s)
		if err == nil {
			texts(t, flat(list))
		}
	})
}
