package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// ranked is a changed file with its risk.
type ranked struct {
	loop.FileChange
	risk int
}

// ranked are the changed files of the whole run, the riskiest first and the largest first among equals; hidden are
// those that no record names.
func (v View) ranked() (list []ranked, hidden int) {
	files, hidden := v.files()
	for _, f := range files {
		list = append(list, ranked{f, wording.RiskOf(f.Path)})
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.risk, b.risk), cmp.Compare(b.Added+b.Deleted, a.Added+a.Deleted),
			strings.Compare(a.Path, b.Path))
	})
	return list, hidden
}

// riskiest lists all changed files.
func (v View) riskiest(most int) string {
	files, hidden := v.ranked()
	return v.fileList(files, hidden, most)
}

// fileList lists files; hidden are those that no record names.
func (v View) fileList(files []ranked, hidden, most int) string {
	if len(files) == 0 || most == 0 {
		return ""
	}
	var b strings.Builder
	for i, f := range files {
		if i == most {
			hidden += len(files) - most
			break
		}
		b.WriteString(v.fileLine(f))
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "- and %s more\n", safetext.Count(hidden, "file"))
	}
	return b.String()
}

func (v View) fileLine(f ranked) string {
	line := "- " + v.Code(f.Path, 150)
	if f.Added < 0 {
		line += " (binary)"
	} else {
		line += fmt.Sprintf(" (+%d −%d)", f.Added, f.Deleted)
	}
	switch {
	case wording.RiskJudges(f.risk) && f.Added >= 0 && f.Deleted == 0:
		line += " — adds to a test or a check"
	default:
		if why := wording.WhyRisky(f.Path); why != "" {
			line += " — ⚠️ " + why
		}
	}
	return line + "\n"
}

// files adds up what all iterations changed; hidden counts files that no record names.
func (v View) files() (files []loop.FileChange, hidden int) {
	at := map[string]int{}
	for _, it := range v.State.Iterations {
		if it.Commit == nil {
			continue
		}
		hidden += it.Commit.MoreFiles
		for _, f := range it.Commit.Files {
			i, seen := at[f.Path]
			if !seen {
				at[f.Path] = len(files)
				files = append(files, f)
				continue
			}
			if f.Added < 0 || files[i].Added < 0 {
				files[i].Added, files[i].Deleted = -1, -1
				continue
			}
			files[i].Added += f.Added
			files[i].Deleted += f.Deleted
		}
	}
	return files, hidden
}
