package failure

import (
	"encoding/json"
	"strings"
)

// goEvent is one line of go test -json.
type goEvent struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
}

// readGoEvent reads an event. Most are read by hand: there may be a million of them.
func readGoEvent(s string) (e goEvent, ok bool) {
	if e, ok = plainEvent(s); ok {
		return e, true
	}
	e = goEvent{}
	return e, json.Unmarshal([]byte(s), &e) == nil
}

// plainEvent reads an event whose texts need no unescaping, and whose only number is how long it took.
func plainEvent(s string) (e goEvent, ok bool) {
	if len(s) < 2 || s[0] != '{' {
		return e, false
	}
	for s = s[1:]; ; s = s[1:] {
		name, rest, ok := plainText(s)
		if !ok || rest == "" || rest[0] != ':' {
			return e, false
		}
		rest = rest[1:]
		if name == "Elapsed" {
			rest = strings.TrimLeft(rest, "0123456789.") // whether it is written well does not matter here
		} else if value, after, ok := plainText(rest); ok {
			e.set(name, value)
			rest = after
		} else {
			return e, false
		}
		if s = rest; s == "}" {
			return e, true
		}
		if s == "" || s[0] != ',' {
			return e, false
		}
	}
}

// plainText is the text in quotes that s begins with, and the rest; when there is none, the rest is all.
func plainText(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", s, false
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return s[1:i], s[i+1:], true
		case c == '\\', c < ' ', c >= 0x7f:
			return "", s, false
		}
	}
	return "", s, false
}

func (e *goEvent) set(name, value string) {
	switch name {
	case "Action":
		e.Action = value
	case "Package":
		e.Package = value
	case "ImportPath":
		e.ImportPath = value
	case "Test":
		e.Test = value
	case "Output":
		e.Output = value
	case "FailedBuild":
		e.FailedBuild = value
	}
}
