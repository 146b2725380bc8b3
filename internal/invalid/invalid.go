// Package invalid marks errors that are somebody's mistake in settings, input or environment: a run that meets one ends
// with the outcome invalid and exit code 2, and its text is for the person who made it: where, what was found, what is
// allowed.
package invalid

import (
	"errors"
	"fmt"
)

// Error is a mistake of whoever asked. Packages that ralph's rooms do not share an error with implement Invalid on
// their own types.
type Error struct {
	err    error
	anchor string
}

// Error implements error.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap is the error that was marked.
func (e *Error) Unwrap() error { return e.err }

// Invalid marks the error; see Is.
func (e *Error) Invalid() bool { return true }

// Anchor is where docs/errors.md has the message; empty: nowhere.
func (e *Error) Anchor() string { return e.anchor }

// Errorf makes such an error, as fmt.Errorf does.
func Errorf(format string, args ...any) error {
	return &Error{fmt.Errorf(format, args...), Anchor(format)}
}

// Mark makes an error one of those; nil stays nil.
func Mark(err error) error {
	if err == nil {
		return nil
	}
	marked, known := &Error{err: err}, (*Error)(nil)
	if errors.As(err, &known) {
		marked.anchor = known.anchor
	}
	return marked
}

// Is reports whether an error, or one that it wraps, is somebody's mistake: it has a method Invalid that says so.
func Is(err error) bool {
	var marked interface{ Invalid() bool }
	return errors.As(err, &marked) && marked.Invalid()
}
