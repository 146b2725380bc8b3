// Package invalid marks errors that are someone's mistake in settings, input or environment: a run that meets one ends
// with the outcome invalid and exit code 2, and its text is for the person who made it: where, what was found, what is
// allowed.
package invalid

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a mistake of the user. Packages that ralph's rooms do not share an error with implement Invalid on their own
// types.
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

// Anchor returns the anchor of the message on the page of messages, or "" if it is not listed.
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

// Is reports whether an error, or one that it wraps, is someone's mistake: it has a method Invalid that says so.
func Is(err error) bool {
	var marked interface{ Invalid() bool }
	return errors.As(err, &marked) && marked.Invalid()
}

// reportedError is one that the reader has seen already.
type reportedError struct{ err error }

func (e *reportedError) Error() string { return e.err.Error() }
func (e *reportedError) Unwrap() error { return e.err }

// AsReported marks an error that the reader has seen already, so that no one prints it once more.
func AsReported(err error) error { return &reportedError{err} }

// Reported reports whether the reader has seen the error.
func Reported(err error) bool {
	var r *reportedError
	return errors.As(err, &r)
}

// page lists every message with an anchor. make site-build writes it.
const page = "https://ralph-loop.github.io/ralph/errors#"

// anchorWords are enough that no two messages begin with the same.
const anchorWords = 8

// Anchor is the address on that page of a message, as the format says it: of its first words, without what is filled
// in. So it stays while they do.
func Anchor(format string) string {
	format = strings.ReplaceAll(strings.ToLower(withoutVerbs(format)), "…", " ")
	words := strings.FieldsFunc(format, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return "e-" + strings.Join(words[:min(anchorWords, len(words))], "-")
}

// withoutVerbs leaves a space for each verb of a format.
func withoutVerbs(format string) string {
	var rest strings.Builder
	for {
		before, after, found := strings.Cut(format, "%")
		rest.WriteString(before)
		if !found {
			return rest.String()
		}
		verb := strings.TrimLeft(after, "-+# 0123456789.[]*")
		format = verb[min(1, len(verb)):]
		rest.WriteByte(' ')
	}
}

// Page returns the URL of the message of an error, or "" if it is not listed.
func Page(err error) string {
	var e interface{ Anchor() string }
	if !errors.As(err, &e) || e.Anchor() == "" {
		return ""
	}
	return page + e.Anchor()
}

// Text is what a person is to read of an error: its words, and where the page of messages continues about a mistake.
func Text(err error) string {
	text := strings.TrimSpace(err.Error())
	if at := Page(err); at != "" {
		text += "\nMore: " + at
	}
	return text
}
