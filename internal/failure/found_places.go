package failure

import (
	"slices"
	"strings"
	"sync"

	"github.com/reviewdog/errorformat"
	"github.com/reviewdog/errorformat/fmts"

	"github.com/ralph-loop/ralph/internal/loop"
)

// anyPlace are the ways in which most compilers and linters name a place.
var anyPlace = []string{`%f:%l:%c: %m`, `%f:%l:%c - %m`, `%f:%l:%c %m`, `%f(%l\,%c): %m`, `%f:%l: %m`, `%f(%l): %m`,
	`%-G%.%#`}

// formats are compiled once each.
var formats sync.Map // by name, "" for anyPlace: *errorformat.Errorformat

// format is the errorformat of the linter that a check's name names, or else anyPlace.
func format(check string) (ready *errorformat.Errorformat, known bool) {
	name, lines := "", anyPlace
	for _, word := range strings.FieldsFunc(check,
		func(r rune) bool { return r == ' ' || r == '/' || r == ':' || r == '=' }) {
		if known := fmts.DefinedFmts()[word]; known != nil && pureFormat(known.Errorformat) {
			name, lines = word, append(known.Errorformat[:len(known.Errorformat):len(known.Errorformat)], anyPlace...)
		}
	}
	if ready, ok := formats.Load(name); ok {
		return ready.(*errorformat.Errorformat), name != ""
	}
	ready, err := errorformat.NewErrorformat(lines)
	if err != nil {
		return &errorformat.Errorformat{}, false
	}
	formats.Store(name, ready)
	return ready, name != ""
}

// mayPlace reports whether a line may name a place in one of the ways of anyPlace: a number follows a colon or an
// opening bracket.
func mayPlace(line string) bool {
	for i := 1; i+1 < len(line); i++ {
		if c := line[i]; (c == ':' || c == '(') && isDigit(line[i+1]) {
			return true
		}
	}
	return false
}

// pureFormat reports whether a format can be read without looking at files, and one line at a time; and does not end by
// ignoring all.
func pureFormat(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool {
		return len(line) > 1 && line[0] == '%' && strings.ContainsAny(strings.TrimLeft(line[1:], "+-")[:1], "OPQACZEWIDXG")
	})
}

// readPlaces finds "file:line: message" wherever nothing else was found.
func readPlaces(check string, lines []string, found *findings) {
	format, known := format(check)
	var text strings.Builder
	for _, line := range lines {
		if mayPlace(line) || known && strings.ContainsAny(line, ":(") && strings.ContainsAny(line, "0123456789") {
			text.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "vet: "), "[ERROR] "))
			text.WriteByte('\n')
		}
	}
	scan := format.NewScanner(strings.NewReader(text.String()))
	for scan.Scan() && len(found.all) < loop.MaxFindings {
		e := scan.Entry()
		file := displayed(e.Filename)
		if !e.Valid || !isPlace(file) || found.places[place{file, e.Lnum}] && e.Col == 0 {
			continue
		}
		level, message := levelled(e.Text)
		if strings.HasPrefix(message, "note:") || strings.HasPrefix(message, "in ") || message == "required from here" ||
			message == "" {
			continue
		}
		if level == "" {
			level = levels[e.Type]
		}
		rule := ""
		if e.Nr <= 0 { // else the format has taken the code apart: the line still has it
			rule, message = ruled(message)
		} else if m := leadingRule.FindStringSubmatch(afterPlace.ReplaceAllString(e.Lines[0], "")); m != nil {
			rule = m[1]
		}
		found.add(loop.Finding{File: file, Line: e.Lnum, Column: e.Col, Rule: rule, Level: level, Message: message})
	}
}

// levels are what the formats' letters mean; a note is no finding of its own, but says no more than a warning.
var levels = map[rune]string{'e': "error", 'E': "error", 'w': "warning", 'W': "warning", 'i': "warning", 'n': "warning"}

// isPlace reports whether a name is a file's: not a host, a time or the end of a sentence.
func isPlace(file string) bool {
	if file == "" || strings.ContainsAny(file, " \t\"'()<>|=,;{}") || strings.Contains(file, "://") ||
		!isFile(file[strings.LastIndexByte(file, '/')+1:]) {
		return false
	}
	switch extension(file) {
	case ".com", ".org", ".net", ".io", ".local":
		return false
	}
	return true
}

var (
	afterPlace   = lazy(`^\S+?:\d+(?::\d+)?:? *`)
	leadingRule  = lazy(`^([A-Z]{1,8}\d{2,6})\b:? *`)
	errorRule    = lazy(`^(?:error|warning) ([A-Z]{1,4}\d{2,6}): *`)
	trailingRule = lazy(` [\[(]((?:-W|-Werror=)?[a-zA-Z][\w/@.-]*[\w=]|[A-Z]+\d+)[\])]$`)
	packageRule  = lazy(`^\[(\w[\w-]*)\] +`)
)

// ruled takes the code of a rule off a message.
func ruled(message string) (rule, rest string) {
	for _, pattern := range []*pattern{leadingRule, errorRule, packageRule} {
		if m := pattern.FindStringSubmatch(message); m != nil {
			return m[1], message[len(m[0]):]
		}
	}
	if m := trailingRule.FindStringSubmatchIndex(message); m != nil {
		return message[m[2]:m[3]], message[:m[0]]
	}
	return "", message
}
