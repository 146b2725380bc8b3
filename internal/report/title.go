package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// maxTitle is how many characters a pull request's title has at most.
const maxTitle = 120

// PullTitle is the pull request's title: the task's, as plain text that closes and mentions nothing, because a squash
// makes it the subject of a commit. Where the base branch's commits have the form of conventional ones, it has it, too:
// "fix: …".
func PullTitle(v View) string {
	title := plain(v.Clean(v.State.Start.Title))
	if title == "" {
		title = plain(v.State.Start.Task)
	}
	if usual, lower := conventions(v.Subjects); usual && !conventional.MatchString(title) {
		if lower {
			title = lowered(title)
		}
		title = v.changeType(title) + ": " + title
	}
	mark := v.capMark()
	return safetext.Shorten(title, maxTitle-utf8.RuneCountInString(mark)) + mark
}

// capMark says behind a title that stories were approved at the cap of reviews: whoever sees the title alone must know.
func (v View) capMark() string {
	switch ids := v.State.AtCap(); len(ids) {
	case 0:
		return ""
	case 1:
		return " (" + plain(safetext.Shorten(v.Redacted(ids[0]), 40)) + " approved at the cap)"
	default:
		return fmt.Sprintf(" (%d stories approved at the cap)", len(ids))
	}
}

// conventional is the subject of a conventional commit, with its text in a group.
var conventional = regex.Lazy(`^[a-z]{2,12}(\([^()]{1,60}\))?!?: (\S.*)$`)

// leastSubjects is how many commits have to be seen before their form says anything.
const leastSubjects = 3

// conventions reports whether most of the subjects have the form of conventional commits, and whether most of those go
// on with a small letter. Merges count neither way.
func conventions(subjects []string) (usual, lower bool) {
	all, are, small := 0, 0, 0
	for _, s := range subjects {
		if strings.HasPrefix(s, "Merge ") {
			continue
		}
		all++
		if m := conventional.FindStringSubmatch(s); m != nil {
			are++
			if r, _ := utf8.DecodeRuneInString(m[2]); !unicode.IsUpper(r) {
				small++
			}
		}
	}
	return all >= leastSubjects && 2*are > all, 2*small > are
}

// changeTypes are the kinds of a change with the words that tell them, in labels first; anything else is a feature.
var changeTypes = []struct {
	name    string
	pattern *regex.Pattern
}{
	{"fix", regex.Lazy(`(?i)\b(bug|bugs|bugfix|fix|fixes|fixed|regression|crash|crashes|broken|defect|hotfix)\b`)},
	{"docs", regex.Lazy(`(?i)\b(doc|docs|documentation|readme|typo|typos|changelog)\b`)},
	{"test", regex.Lazy(`(?i)^(add |more |improve |fix )?(unit |flaky |missing )?tests?\b|\btest coverage\b`)},
	{"perf", regex.Lazy(`(?i)\b(performance|perf|faster|speed up|slow)\b`)},
	{"refactor", regex.Lazy(`(?i)\b(refactor|refactoring|clean ?up|tech debt)\b`)},
	{"ci", regex.Lazy(`(?i)\b(ci|github actions|workflows?)\b`)},
}

// changeType is the kind of the change, by the labels and else by the words of its title.
func (v View) changeType(title string) string {
	for _, text := range append(append([]string(nil), v.Labels...), title) {
		for _, t := range changeTypes {
			if t.pattern.MatchString(text) {
				return t.name
			}
		}
	}
	return "feat"
}

// lowered is a title that begins with a small letter, unless its first word is a name: of more than one capital, or of
// other signs.
func lowered(title string) string {
	first, _, _ := strings.Cut(title, " ")
	r, size := utf8.DecodeRuneInString(first)
	for _, other := range first[size:] {
		if !unicode.IsLower(other) {
			return title
		}
	}
	return string(unicode.ToLower(r)) + title[size:]
}
