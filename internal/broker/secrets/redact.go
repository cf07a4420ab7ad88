package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"html"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Redactor swaps secrets, in the spellings that they take on their way, for
// their stand-ins. The zero value knows none and changes nothing.
type Redactor struct {
	mu    sync.RWMutex
	forms []form    // the longest first
	first [256]bool // bytes that a form begins with
}

type form struct{ text, with string }

// add makes the redactor look for a value, as it is and encoded.
func (r *Redactor) add(value, with string) {
	raw := []byte(value)
	for _, text := range []string{
		value, url.QueryEscape(value), percent(value), url.PathEscape(value), inJSON(value), strings.ReplaceAll(inJSON(value), "/", `\/`), plainJSON(value), html.EscapeString(value),
		base64.StdEncoding.EncodeToString(raw), base64.URLEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
		hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)), latin(value),
	} {
		r.addForm(text, with)
	}
}

// plainJSON is how encoders write s that do not escape for HTML.
func plainJSON(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(inJSON(s))
}

// latin is s as headers show it to a body: a code point for every byte.
func latin(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func (r *Redactor) addForm(text, with string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.forms, func(f form) bool { return f.text == text }) {
		return
	}
	forms := append(slices.Clone(r.forms), form{text, with}) // readers may hold the old one
	slices.SortStableFunc(forms, func(a, b form) int { return len(b.text) - len(a.text) })
	r.forms = forms
	r.first[text[0]] = true
}

// String is s without secrets.
func (r *Redactor) String(s string) string {
	if r.none() {
		return s
	}
	out, _ := r.scan(nil, []byte(s), true)
	return string(out)
}

// Bytes is b without secrets: b itself if there are none to look for.
func (r *Redactor) Bytes(b []byte) []byte {
	if r.none() {
		return b
	}
	out, _ := r.scan(nil, b, true)
	return out
}

func (r *Redactor) none() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.forms) == 0
}

// scan appends src to out with secrets swapped. Unless it is the last, it stops
// where a secret may have begun, and returns what it has not looked at.
func (r *Redactor) scan(out, src []byte, last bool) (done, rest []byte) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for len(src) > 0 {
		n := 0
		for n < len(src) && !r.first[src[n]] {
			n++
		}
		out, src = append(out, src[:n]...), src[n:]
		if len(src) == 0 {
			break
		}
		f, more := r.match(src, last)
		switch {
		case more:
			return out, src
		case f != nil:
			out, src = append(out, f.with...), src[len(f.text):]
		default:
			out, src = append(out, src[0]), src[1:]
		}
	}
	return out, nil
}

// match is the longest form that src begins with; more says that a longer one
// may have begun. The caller holds mu.
func (r *Redactor) match(src []byte, last bool) (found *form, more bool) {
	for i := range r.forms {
		f := &r.forms[i]
		switch {
		case len(src) >= len(f.text):
			if string(src[:len(f.text)]) == f.text {
				return f, false
			}
		case !last && strings.HasPrefix(f.text, string(src)):
			return nil, true
		}
	}
	return nil, false
}

// Reader is from without secrets. It holds back only the beginning of what may
// become one.
func (r *Redactor) Reader(from io.Reader) io.Reader { return &reader{from: from, by: r} }

type reader struct {
	from    io.Reader
	by      *Redactor
	pending []byte // read, not yet looked at to the end
	ready   bytes.Buffer
	err     error
}

func (r *reader) Read(p []byte) (int, error) {
	if len(r.pending) == 0 && r.ready.Len() == 0 && r.err == nil && r.by.none() {
		return r.from.Read(p)
	}
	for r.ready.Len() == 0 && r.err == nil {
		r.fill()
	}
	if r.ready.Len() > 0 {
		return r.ready.Read(p)
	}
	return 0, r.err
}

func (r *reader) fill() {
	chunk := make([]byte, 16<<10)
	n, err := r.from.Read(chunk)
	r.err = err
	// Only the good end lets go of what may be the beginning of a secret: a body
	// that is cut off where its reader wants (maxBytes) must not show one bit by bit.
	out, rest := r.by.scan(nil, append(r.pending, chunk[:n]...), err == io.EOF)
	r.pending = slices.Clone(rest)
	r.ready.Write(out)
}
