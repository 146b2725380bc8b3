// Package invalid marks errors that are someone's mistake in settings, input or environment: a run that meets one ends
// with the outcome invalid and exit code 2, and its text is for the person who made it: where, what was found, what is
// allowed.
package invalid

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Error is a mistake of the user. Packages that ralph's rooms do not share an error with implement Invalid on their own
// types.
type Error struct {
	error
	anchor string
}

// Unwrap is the error that was marked.
func (e *Error) Unwrap() error { return e.error }

// Invalid marks the error; see Is.
func (e *Error) Invalid() bool { return true }

// Anchor returns the anchor of the message on the page of messages, or "" if it is not listed.
func (e *Error) Anchor() string { return e.anchor }

// Errorf makes such an error, as fmt.Errorf does. One that says little itself has the anchor of what it wraps.
func Errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{err, cmp.Or(Anchor(format), known(err))}
}

// Mark makes an error one of those; nil stays nil.
func Mark(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err, known(err)}
}

// known is the anchor that an error, or one that it wraps, has; "" none.
func known(err error) string {
	var e interface{ Anchor() string }
	if !errors.As(err, &e) {
		return ""
	}
	return e.Anchor()
}

// Is reports whether an error, or one that it wraps, is someone's mistake: it has a method Invalid that says so.
func Is(err error) bool {
	var marked interface{ Invalid() bool }
	return errors.As(err, &marked) && marked.Invalid()
}

// reportedError is one that the reader has seen already.
type reportedError struct{ error }

func (e *reportedError) Unwrap() error { return e.error }

// AsReported marks an error that the reader has seen already, so that no one prints it once more.
func AsReported(err error) error { return &reportedError{err} }

// Reported reports whether the reader has seen the error.
func Reported(err error) bool {
	var r *reportedError
	return errors.As(err, &r)
}

// page lists every message with an anchor. make site-build writes it.
const page = "https://ralph-loop.github.io/ralph/errors#"

// fewestWords are what a message has that the page lists, and anchorWords are enough that each starts with others.
const fewestWords, anchorWords = 3, 8

// Anchor is the address on that page of a message, as the format says it: of its first words, without what is filled
// in. So it stays while they do. It is "" for a format that is hardly more than what is filled in.
func Anchor(format string) string {
	format = regexp.MustCompile(`%[-+# 0-9.\[\]*]*(.|$)`).ReplaceAllString(format, " ")
	if len(regexp.MustCompile(`[a-z]{2,}`).FindAllString(format, fewestWords)) < fewestWords {
		return ""
	}
	return "e-" + strings.Join(regexp.MustCompile(`[a-z0-9]+`).FindAllString(strings.ToLower(format), anchorWords), "-")
}

// Page returns the URL of the message of an error, or "" if it is not listed.
func Page(err error) string {
	if anchor := known(err); anchor != "" {
		return page + anchor
	}
	return ""
}

// Text is what a person is to read of an error: its words, and where the page of messages continues about a mistake.
func Text(err error) string {
	text := strings.TrimSpace(err.Error())
	if at := Page(err); at != "" {
		text += "\nMore: " + at
	}
	return text
}
