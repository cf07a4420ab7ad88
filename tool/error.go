package tool

import (
	"context"
	"errors"
	"fmt"
)

// Error is what every face of a room shows when something fails. Message is
// written for whoever must act on it; Hint says what to do next. The cause, if
// any, is for logs and errors.Is, and never leaves the process.
type Error struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
	Details   any    `json:"details,omitempty"`
	Retryable bool   `json:"retryable"`

	cause error
}

// Errorf makes an Error with a formatted message. Like fmt.Errorf it keeps an
// operand of %w as the cause. Retryable starts as the code's usual answer.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), Retryable: code.retryable(), cause: errors.Unwrap(wrapped)}
}

// WithHint returns e with the next step to take. It changes e in place, so call
// it where e is made.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithDetails returns e with a JSON-encodable value that a program can act on.
func (e *Error) WithDetails(details any) *Error {
	e.Details = details
	return e
}

// WithCause returns e with an internal cause that errors.Is and errors.As see
// and no face shows.
func (e *Error) WithCause(cause error) *Error {
	e.cause = cause
	return e
}

// Error is the code and the message: "timeout: the call did not end in 30 s".
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the internal cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Is matches another *Error of the same code, and the context errors that
// timeout and cancelled stand for.
func (e *Error) Is(target error) bool {
	switch target {
	case context.DeadlineExceeded:
		return e.Code == Timeout
	case context.Canceled:
		return e.Code == Cancelled
	}
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf is the code of the first *Error in err's chain, Internal for any other
// error, and "" for nil.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	}
	return Internal
}

// AsError is err as an *Error: itself if its chain has one, cancelled or
// timeout for the context's errors, else internal with err as the hidden cause.
func AsError(err error) *Error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return Errorf(Cancelled, "the caller gave up before there was an answer").WithCause(err)
	case errors.Is(err, context.DeadlineExceeded):
		return Errorf(Timeout, "the deadline passed before there was an answer").WithCause(err)
	}
	return Errorf(Internal, "something inside the room failed").WithCause(err).
		WithHint("The room's log names the cause; try again, and report it if it stays.")
}
