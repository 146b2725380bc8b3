package check

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// clipped shortens a line that is examined; no one writes longer ones.
func clipped(text string) string { return text[:min(len(text), clippedBytes)] }

const clippedBytes = 4 << 10

// holdsWord reports whether a name is in a text, not as a part of a longer one. A name of two letters or less is no
// evidence.
func holdsWord(text, name string) bool {
	if len(name) < 3 {
		return text == name
	}
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		begin := from + i
		end := begin + len(name)
		if (begin == 0 || !wordByte(text[begin-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = begin + 1
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// shownName writes a path into a sentence: as it is, or quoted when it holds what could break the sentence.
func shownName(name string) string {
	plain := strings.IndexFunc(name,
		func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("\"`\uFFFD", r) }) < 0
	if !plain {
		name = strconv.Quote(name)
	}
	return safetext.Shorten(safetext.Inert(name), 200)
}

// few names at most five paths, and counts the rest.
func few(names []string) string { return safetext.FirstN(safetext.Map(names, shownName), 5) }

// quote writes foreign text into a message.
func quote(text string) string {
	return fmt.Sprintf("%q", safetext.Shorten(strings.TrimSpace(text), 120))
}

const cutMark = "... [truncated]"

// truncate keeps so many runes of an output, whole ones, and says so when that is not all of it.
func truncate(s string, runes int, from string) string {
	if len(s) <= runes || utf8.RuneCountInString(s) <= runes {
		return s
	}
	switch from {
	case "tail":
		return cutMark + "\n" + safetext.LastRunes(s, runes)
	case "both":
		return safetext.FirstRunes(s, runes-runes/2) + cutMark + "\n" + safetext.LastRunes(s, runes/2)
	}
	return safetext.FirstRunes(s, runes) + cutMark
}

var notSlug = lazy(`[^A-Za-z0-9]+`)

// Slug makes a command part of a file name.
func Slug(command string) string {
	s := strings.Trim(notSlug.ReplaceAllString(command, "_"), "_")
	if len(s) > 50 {
		s = strings.TrimRight(s[:50], "_")
	}
	return s
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// place is a finding in a line: "pkg/foo_test.go:12: want 3, got 4", "TestFoo: want 3, got 4".
func place(f loop.Finding) string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	case f.File != "":
		return f.File + ": " + f.Message
	case f.Test != "":
		return f.Test + ": " + f.Message
	}
	return f.Message
}

// addFinding puts a finding into a verdict, which keeps so many.
func addFinding(v *loop.Verdict, f loop.Finding) {
	if len(v.Findings) < loop.MaxFindings {
		v.Findings = append(v.Findings, f)
	}
}
