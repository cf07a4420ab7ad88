package platform

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

func textNatives() map[string]Func {
	return map[string]Func{
		"text.encode": encodeText, "text.encodeInto": encodeInto, "text.decode": decodeText, "text.label": encodingLabel,
		"base64.encode": encodeBase64, "base64.bytes": bytesToBase64, "hex.encode": bytesToHex, "base64.decode": decodeBase64,
	}
}

const replacement = "\uFFFD"

// wellFormed puts U+FFFD where a lone surrogate was.
func wellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			size = min(3, len(s))
			out.WriteString(replacement)
		} else {
			out.WriteString(s[:size])
		}
		s = s[size:]
	}
	return out.String()
}

// encodeText(text) → UTF-8.
func encodeText(args Args) (any, error) { return []byte(wellFormed(args.Text(0))), nil }

// encodeInto(text, bytes) → [UTF-16 units read, bytes written].
func encodeInto(args Args) (any, error) {
	s, into := wellFormed(args.Text(0)), args.Bytes(1)
	read, written := 0, 0
	for _, r := range s {
		n := utf8.RuneLen(r)
		if written+n > len(into) {
			break
		}
		written += utf8.EncodeRune(into[written:], r)
		read += utf16.RuneLen(r)
	}
	return []any{read, written}, nil
}

// encodingLabel(label) → the encoding's name.
func encodingLabel(args Args) (any, error) {
	label := strings.ToLower(strings.Trim(args.Text(0), "\t\n\f\r "))
	if label == "utf-8" || label == "utf8" {
		return "utf-8", nil
	}
	e, err := htmlindex.Get(label)
	if err != nil {
		return nil, Throw("RangeError", "%q is no encoding that TextDecoder knows", args.Text(0))
	}
	name, err := htmlindex.Name(e)
	if err != nil || name == "replacement" {
		return nil, Throw("RangeError", "%q is an encoding that TextDecoder does not decode", args.Text(0))
	}
	return name, nil
}

// decodeText(encoding, bytes, fatal, stream, mark) → [text, rest]. rest is what to
// put in front of the next bytes when streaming. mark drops a byte order mark.
func decodeText(args Args) (any, error) {
	name, data := args.Text(0), args.Bytes(1)
	fatal, stream := args.Bool(2), args.Bool(3)
	var text string
	var rest []byte
	ok := true
	switch name {
	case "utf-8":
		text, rest, ok = decodeUTF8(data, fatal, stream)
	case "utf-16le", "utf-16be":
		text, rest, ok = decodeUTF16(data, name == "utf-16be", stream)
	default:
		text, rest, ok = decodeLegacy(name, data, stream)
	}
	if fatal && !ok {
		return nil, Throw("TypeError", "the bytes are not valid %s", name)
	}
	if args.Bool(4) && strings.HasPrefix(name, "utf-") {
		text = strings.TrimPrefix(text, "\uFEFF")
	}
	return []any{text, rest}, nil
}

// decodeUTF8 replaces each longest part of a character that could not go on, as the Encoding standard says.
func decodeUTF8(data []byte, fatal, stream bool) (text string, rest []byte, ok bool) {
	if stream {
		data, rest = splitUTF8(data)
	}
	if utf8.Valid(data) {
		return string(data), rest, true
	}
	if fatal {
		return "", nil, false
	}
	out, _ := unicode.UTF8.NewDecoder().Bytes(data) // replaces, never fails
	return string(out), rest, false
}

// splitUTF8 cuts a character off that the next bytes may complete.
func splitUTF8(data []byte) (whole, rest []byte) {
	for n := 1; n <= min(utf8.UTFMax-1, len(data)); n++ {
		c := data[len(data)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && couldGoOn(data[len(data)-n:]) {
				return data[:len(data)-n], data[len(data)-n:]
			}
			break
		}
	}
	return data, nil
}

// couldGoOn says whether tail is the beginning of a character and not yet its end.
func couldGoOn(tail []byte) bool {
	if utf8.FullRune(tail) {
		return false
	}
	return tail[0] >= 0xC2 && tail[0] <= 0xF4
}

func decodeUTF16(data []byte, bigEndian, stream bool) (text string, rest []byte, ok bool) {
	whole := len(data) &^ 1
	units := make([]uint16, whole/2)
	for n := range units {
		a, b := uint16(data[2*n]), uint16(data[2*n+1])
		if bigEndian {
			a, b = b, a
		}
		units[n] = a | b<<8
	}
	if n := len(units); stream && n > 0 && units[n-1] >= 0xD800 && units[n-1] < 0xDC00 {
		units, whole = units[:n-1], whole-2
	}
	text, ok = joinUTF16(units)
	if stream {
		return text, data[whole:], ok
	}
	if whole < len(data) {
		return text + replacement, nil, false
	}
	return text, nil, ok
}

// joinUTF16 is the text of units, and whether they had no lone surrogate.
func joinUTF16(units []uint16) (string, bool) {
	ok := true
	for n := 0; n < len(units); n++ {
		if !utf16.IsSurrogate(rune(units[n])) {
			continue
		}
		if n+1 < len(units) && utf16.DecodeRune(rune(units[n]), rune(units[n+1])) != utf8.RuneError {
			n++
			continue
		}
		ok = false
	}
	return string(utf16.Decode(units)), ok
}

// decodeLegacy decodes everything that is not Unicode.
func decodeLegacy(name string, data []byte, stream bool) (text string, rest []byte, ok bool) {
	e, err := htmlindex.Get(name)
	if err != nil {
		return "", nil, false
	}
	d := e.NewDecoder().Transformer
	out := make([]byte, 3*len(data)+utf8.UTFMax)
	written, read, err := d.Transform(out, data, !stream)
	for err == transform.ErrShortDst {
		out = append(out[:written], make([]byte, len(out)+utf8.UTFMax)...)
		var w, r int
		w, r, err = d.Transform(out[written:], data[read:], !stream)
		written, read = written+w, read+r
	}
	text = string(out[:written])
	if stream {
		rest = append(shiftState(name, data[:read]), data[read:]...)
	}
	return text, rest, !strings.Contains(text, replacement) || name == "gb18030" && bytes.Contains(data, []byte{0x84, 0x31, 0xA4, 0x37})
}

// shiftState is the escape sequence that the bytes of a stateful encoding end
// under: decoding it again writes nothing, and goes on in the same state.
func shiftState(name string, data []byte) []byte {
	if name != "iso-2022-jp" {
		return nil
	}
	last := -1
	for _, escape := range []string{"\x1b(B", "\x1b(J", "\x1b(I", "\x1b$@", "\x1b$B"} {
		last = max(last, bytes.LastIndex(data, []byte(escape)))
	}
	if last < 0 {
		return nil
	}
	return bytes.Clone(data[last : last+3])
}

// encodeBase64(text): text as btoa takes it, each character a byte.
func encodeBase64(args Args) (any, error) {
	s := args.Text(0)
	raw := make([]byte, 0, len(s))
	for _, r := range s {
		if r > 0xFF {
			return nil, Throw("InvalidCharacterError", "btoa takes characters up to U+00FF, and there is %q; for text, encode it first: btoa(String.fromCharCode(...new TextEncoder().encode(text)))", r)
		}
		raw = append(raw, byte(r))
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// bytesToBase64(bytes) → text.
func bytesToBase64(args Args) (any, error) {
	return base64.StdEncoding.EncodeToString(args.Bytes(0)), nil
}

// bytesToHex(bytes) → text.
func bytesToHex(args Args) (any, error) { return hex.EncodeToString(args.Bytes(0)), nil }

// decodeBase64(text) → a character a byte, by the forgiving rules of atob.
func decodeBase64(args Args) (any, error) {
	raw, err := forgivingBase64(args.Text(0))
	if err != nil {
		return nil, Throw("InvalidCharacterError", "atob was given text that is not base64")
	}
	out := make([]rune, len(raw))
	for n, b := range raw {
		out[n] = rune(b)
	}
	return string(out), nil
}

func forgivingBase64(s string) ([]byte, error) {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\t\n\f\r ", r) {
			return -1
		}
		return r
	}, s)
	if len(s)%4 == 0 {
		s = strings.TrimSuffix(strings.TrimSuffix(s, "="), "=")
	}
	return base64.RawStdEncoding.DecodeString(s)
}
