package stream

import (
	"cmp"
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

// todos are the entries of a list of things to do, without those that were given up. Each format names their text in
// another way, and codex says of one only whether it is done.
func todos(list gjson.Result) []Item {
	var items []Item
	list.ForEach(func(_, entry gjson.Result) bool {
		item := Item{Text: cmp.Or(entry.Get("content").String(), entry.Get("text").String(), entry.Get("description").String()),
			Status: entry.Get("status").Str}
		if entry.Get("completed").Bool() {
			item.Status = "completed"
		}
		if item.Status != "cancelled" {
			items = append(items, item)
		}
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
