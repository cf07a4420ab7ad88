package egress

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"

	"toolroom/tool"
)

// problem is a network failure in words: who was asked and what went wrong,
// and never an address of this machine or a text of the system.
func problem(method string, t *Target, err error) error {
	var known *tool.Error
	if errors.As(err, &known) {
		return known
	}
	e := tool.Errorf(tool.FetchFailed, "%s %s failed: %s", method, t.authority(), cause(err)).WithCause(err)
	e.Retryable = true
	return e
}

func cause(err error) string {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no such host"
	case errors.As(err, &dns):
		return "the name server did not answer"
	case errors.Is(err, context.Canceled):
		return "it was given up"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the server broke the connection off"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "no route leads there"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server ended the connection before its answer was complete"
	}
	return garbled(err)
}

// garbled names failures of what the server sent.
func garbled(err error) string {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &cert):
		return "its certificate is not trusted (" + trust(cert) + ")"
	case errors.As(err, &record):
		return "the server does not speak TLS on that port"
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrHeader),
		errors.Is(err, zlib.ErrChecksum), errors.As(err, &corrupt):
		return "its body is not compressed the way its Content-Encoding says"
	case strings.Contains(err.Error(), "response headers exceeded"):
		return "its headers are too large"
	case strings.Contains(err.Error(), "malformed"):
		return "its answer is not HTTP"
	}
	return "the connection did not work"
}

func trust(err *tls.CertificateVerificationError) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "made for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "expired"
	}
	return "signed by an unknown authority"
}

// quote shows outside text in a message: on one line, and not too much of it.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return strconv.QuoteToASCII(s)
}

// reason is the last part of a parser's error, which names the rule that was broken.
func reason(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return strings.Trim(quote(text), `"`)
}
