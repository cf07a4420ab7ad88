package platform

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"io"
	"mime"
	"mime/multipart"
	"strings"
)

func formNatives() map[string]Func {
	return map[string]Func{"form.boundary": formBoundary, "form.head": formHead, "form.split": splitForm}
}

// formBoundary() is a boundary that no content can be made to hold.
func formBoundary(Args) (any, error) {
	var b [16]byte
	rand.Read(b[:]) // never fails, as crypto/rand says
	return "----formdata-" + hex.EncodeToString(b[:]), nil
}

// formHead(boundary, name, file name?, type?) is what stands before a part's content.
func formHead(args Args) (any, error) {
	head := "--" + args.Text(0) + "\r\nContent-Disposition: form-data; name=\"" + formName(crlf(args.Text(1))) + "\""
	if args.Has(2) {
		head += "; filename=\"" + formName(args.Text(2)) + "\"\r\nContent-Type: " + args.Text(3)
	}
	return head + "\r\n\r\n", nil
}

// formName escapes a name as browsers do.
func formName(s string) string {
	return strings.NewReplacer("\n", "%0A", "\r", "%0D", `"`, "%22").Replace(s)
}

// crlf makes every line end in CR LF.
func crlf(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	return strings.ReplaceAll(s, "\n", "\r\n")
}

// splitForm(content type, bytes) → [name, file name or nil, type, bytes, …].
func splitForm(args Args) (any, error) {
	_, params, err := mime.ParseMediaType(args.Text(0))
	if err != nil || params["boundary"] == "" {
		return nil, Throw("TypeError", "the content type of the form names no boundary")
	}
	r := multipart.NewReader(bytes.NewReader(args.Bytes(1)), params["boundary"])
	out := []any{}
	for {
		part, err := r.NextRawPart()
		if err == io.EOF { // the last boundary; a body that ends before it gives one that wraps io.EOF
			return out, nil
		}
		if err != nil {
			return nil, notAForm(err)
		}
		entry, err := readPart(part)
		if err != nil {
			return nil, err
		}
		out = append(out, entry...)
	}
}

func notAForm(err error) error {
	return Throw("TypeError", "the body is not a multipart form: %v", err)
}

func readPart(part *multipart.Part) ([]any, error) {
	kind, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	name, named := params["name"]
	if err != nil || kind != "form-data" || !named {
		return nil, Throw("TypeError", "the body is not a multipart form: a part has no name")
	}
	data, err := io.ReadAll(part)
	if err != nil {
		return nil, notAForm(err)
	}
	undo := strings.NewReplacer("%0A", "\n", "%0D", "\r", "%22", `"`)
	entry := []any{undo.Replace(name), nil, nil, data}
	if file, ok := params["filename"]; ok {
		entry[1], entry[2] = undo.Replace(file), part.Header.Get("Content-Type")
		if entry[2] == "" {
			entry[2] = "text/plain"
		}
	}
	return entry, nil
}
