package report

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// labeled is a text behind its name in bold.
func labeled(name, text string) string {
	if text == "" {
		return ""
	}
	return "**" + name + ":** " + text
}

// table is a table of at most most rows below its head, which are two lines; what is left out is counted. It is empty
// without a row.
func table(head string, rows [][]string, most int) string {
	if len(rows) == 0 {
		return ""
	}
	text := head
	for i, cells := range rows {
		if i == most {
			return text + wording.Row("…", fmt.Sprintf("%d more", len(rows)-most))
		}
		text += wording.Row(cells...)
	}
	return text
}

// items is a list of at most most items, each of which may have more lines below its first; what is left out is counted.
func items(items []string, most int) (list string) {
	for i, item := range items {
		if i == most {
			return list + fmt.Sprintf("- %d more\n", len(items)-most)
		}
		list += "- " + strings.TrimRight(item, "\n") + "\n"
	}
	return list
}

// newest are the last of a list, and a paragraph that counts those before.
func newest[T any](list []T, most int, what string) (shown []T, note string) {
	if hidden := len(list) - most; hidden > 0 {
		return list[hidden:], safetext.Count(hidden, "earlier "+what) + " not shown\n\n"
	}
	return list, ""
}

// Counts are how many verdicts passed, failed and were skipped.
func Counts(verdicts []loop.Verdict) (passed, failed, skipped int) {
	for _, c := range verdicts {
		switch {
		case c.Skipped != "":
			skipped++
		case c.Pass:
			passed++
		default:
			failed++
		}
	}
	return passed, failed, skipped
}

// Result is the verdict of a check in one word: pass, fail, warning or skipped.
func Result(c loop.Verdict) string {
	switch {
	case c.Skipped != "":
		return "skipped"
	case c.Pass:
		return "pass"
	case c.Severity == loop.Soft:
		return "warning"
	}
	return "fail"
}
