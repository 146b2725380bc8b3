package failure

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

const mostMessage = 300 // bytes of a finding's message

// place is where a finding points.
type place struct {
	file string
	line int
}

// findings collects, each different one once.
type findings struct {
	all    []loop.Finding
	seen   map[loop.Finding]bool
	places map[place]bool
}

func newFindings() *findings {
	return &findings{seen: map[loop.Finding]bool{}, places: map[place]bool{}}
}

// add keeps a finding that says something.
func (f *findings) add(found loop.Finding) {
	found.File = displayed(found.File)
	found.Message = cut(cmp.Or(found.Message, "failed"))
	found.Test, found.Rule = cut(found.Test), cut(found.Rule)
	if found.File == "" && found.Test == "" && found.Rule == "" {
		return
	}
	if found.Line < 0 || found.File == "" {
		found.Line = 0
	}
	found.Column = max(found.Column, 0)
	if len(f.all) >= loop.MaxFindings || f.seen[found] {
		return
	}
	f.seen[found] = true
	f.places[place{found.File, found.Line}] = true
	f.all = append(f.all, found)
}

// displayed is a path with slashes, from the directory the check ran in where that can be told, else its last name.
func displayed(file string) string {
	file = strings.TrimPrefix(file, "file://")
	file = strings.ReplaceAll(strings.TrimSpace(file), `\`, "/")
	for strings.HasPrefix(file, "./") {
		file = file[2:]
	}
	drive := len(file) > 2 && file[1] == ':' && file[2] == '/'
	if strings.HasPrefix(file, "/") || drive || strings.HasPrefix(file, "~") || strings.Contains("/"+file+"/", "/../") {
		file = file[strings.LastIndexByte(strings.TrimRight(file, "/"), '/')+1:]
	}
	return cut(strings.TrimRight(file, "/"))
}

// cut is one line of at most mostMessage bytes.
func cut(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > mostMessage {
		text = strings.ToValidUTF8(text[:mostMessage-len("…")], "") + "…"
	}
	return text
}

// levelled takes the level off a message.
func levelled(message string) (level, rest string) {
	for _, prefix := range []string{"fatal error:", "error:", "Error:", "ERROR:", "warning:", "Warning:", "WARNING:",
		"info:", "style:"} {
		if rest, ok := strings.CutPrefix(message, prefix); ok {
			level := strings.ToLower(strings.TrimSuffix(prefix, ":"))
			if level != "warning" && level != "info" && level != "style" {
				return "error", strings.TrimSpace(rest)
			}
			return "warning", strings.TrimSpace(rest)
		}
	}
	return "", message
}
