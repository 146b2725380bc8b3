package stream

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// flat is the text of an answer that is one text, or a list of parts.
func flat(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var parts []string
	content.ForEach(func(_, part gjson.Result) bool {
		if t := part.Get("text"); t.Exists() {
			parts = append(parts, t.Str)
		}
		return true
	})
	return strings.Join(parts, "\n")
}

// answer notes a tool's answer: its beginning, and how much of it there is.
func (t *Tool) answer(text string) {
	t.Chars, t.Lines = utf8.RuneCountInString(text), strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Lines++
	}
	t.Output = strings.Clone(strings.ToValidUTF8(text[:min(len(text), OutputBytes)], ""))
}

func todos(list gjson.Result) []Item {
	var items []Item
	list.ForEach(func(_, entry gjson.Result) bool {
		items = append(items, Item{Text: entry.Get("content").String(), Status: entry.Get("status").Str})
		return true
	})
	return items
}

// summaryInputs are the inputs that say what a tool's use is about, the most telling first.
var summaryInputs = []string{"file_path", "filePath", "path", "dir_path", "pattern", "command", "url", "query", "description",
	"prompt"}

// summary is what a tool's use is about, in one line of at most 120 characters.
func summary(input gjson.Result) string {
	for _, name := range summaryInputs {
		if value := short(input.Get(name).Str); value != "" {
			return value
		}
	}
	return ""
}

// short is the beginning of a text in one line of at most 120 characters.
func short(text string) string {
	text = safetext.OneLine(strings.ToValidUTF8(text[:min(len(text), 1<<10)], ""))
	return strings.Clone(safetext.Shorten(text, 120))
}

// mostNames is how many tools without an answer are remembered, and longestName how long an id or a name may be for
// that.
const (
	mostNames   = 1 << 10
	longestName = 256
)

// names are the names of the tools that have begun and not answered, by their ids. What comes from an agent may have no
// end, so an id that is too much is not remembered.
type names map[string]string

// add remembers a tool and reports whether it is new.
func (n names) add(id, name string) bool {
	if _, known := n[id]; known {
		return false
	}
	if len(id) > longestName || len(name) > longestName {
		return true
	}
	if len(n) >= mostNames { // none of them will answer
		clear(n)
	}
	n[strings.Clone(id)] = strings.Clone(name)
	return true
}

// take is the name of a tool that has answered, and forgets it.
func (n names) take(id string) string {
	name := n[id]
	delete(n, id)
	return name
}
