package report

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// CheckRun is the check "ralph" on the newest commit.
type CheckRun struct {
	Title      string // one line of plain text, at most 200 characters
	Summary    string // Markdown, at most 65,000 bytes
	Text       string // Markdown, at most 65,000 bytes; may be empty
	Conclusion string // GitHub's word: success, failure, neutral or cancelled; empty while the run continues
	// Annotations are the places that failing checks name, those of hard checks first, at most 100. GitHub takes 50 of
	// them a request.
	Annotations []Annotation
}

// Annotation is one line of a file with what a failing check says about it, in plain text.
type Annotation struct {
	Path    string // from the top of the repository, clean
	Line    int    // at least 1
	Column  int    // 0: the whole line
	Level   string // "failure" or "warning"
	Title   string // the check and its rule, at most 200 characters
	Message string // at most 1,000 characters
}

const mostAnnotations = 100

// conclusions are GitHub's words for the outcomes; all others are failures.
var conclusions = map[loop.Outcome]string{
	loop.Done: "success", loop.Waiting: "neutral", loop.Refused: "neutral", loop.Interrupted: "cancelled",
}

// Conclusion is GitHub's word for an outcome, such as "success"; empty without one.
func Conclusion(o loop.Outcome) string {
	if o == "" {
		return ""
	}
	return cmp.Or(conclusions[o], "failure")
}

// CheckRunOf shows a run as a check run, with the places that the failing checks of its newest iteration name.
func CheckRunOf(v View) CheckRun {
	out := CheckRun{
		Title: safetext.Shorten(sign(v.State)+" "+plain(wording.JoinedBy(": ", v.InPlain().outcome(), v.InPlain().cause())),
			200),
		Summary:     v.fit(CommentLimit, page.checkSummary),
		Text:        v.fit(CommentLimit, page.checkText),
		Annotations: v.annotations(),
	}
	if e := v.State.End; e != nil {
		out.Conclusion = Conclusion(e.Outcome)
	}
	return out
}

func (v page) checkSummary() string {
	var p wording.Markdown
	v.links(&p)
	p.Part(v.checkTable(v.State.LastJudged(), v.most(20)))
	return p.String()
}

func (v page) checkText() string {
	var p wording.Markdown
	if f := v.State.Failure(); f != nil {
		p.Part(v.places(*f, 0))
	}
	p.Part(wording.Titled("How it went", v.table(v.most(15), true)))
	return p.String()
}

// annotations are the places that failing checks name in the newest iteration, as far as they are files of the
// repository. An iteration without a judgment has no annotations: those of earlier iterations are about other lines.
func (v View) annotations() (list []Annotation) {
	it := v.State.LastJudged()
	if it == nil || it != v.State.Last() {
		return nil
	}
	seen := map[Annotation]bool{}
	for _, severity := range []loop.Severity{loop.Hard, loop.Soft} {
		for _, c := range it.Verdicts {
			if c.Severity != severity || c.Pass || c.Skipped != "" {
				continue
			}
			for _, f := range c.Findings {
				a, ok := v.annotation(c, f)
				key := Annotation{Path: a.Path, Line: a.Line, Column: a.Column, Message: a.Message}
				if !ok || seen[key] || len(list) == mostAnnotations {
					continue
				}
				seen[key] = true
				list = append(list, a)
			}
		}
	}
	// failures before warnings
	slices.SortStableFunc(list, func(a, b Annotation) int { return strings.Compare(a.Level, b.Level) })
	return list
}

// annotation is a finding of a check; ok is false when it names no file of the
// repository, or says nothing.
func (v View) annotation(c loop.Verdict, f loop.Finding) (a Annotation, ok bool) {
	name := v.path(f.File)
	message := safetext.Shorten(strings.TrimSpace(v.Clean(wording.Said(f))), 1000)
	if name == "" || v.Redacted(name) != name || message == "" {
		return a, false
	}
	a = Annotation{Path: name, Line: max(f.Line, 1), Level: "failure", Message: message,
		Title: wording.JoinedBy(", ", wording.Brief(v.Clean(c.Check), 100), wording.Brief(v.Clean(f.Rule), 60))}
	if f.Line > 0 {
		a.Column = max(f.Column, 0)
	}
	if c.Severity == loop.Soft || strings.EqualFold(f.Level, "warning") {
		a.Level = "warning"
	}
	return a, true
}

// path is a file that a check names as a path from the top of the repository; "" when it cannot be one.
func (r Repository) path(file string) string {
	if r.Worktree != "" {
		if rest, ok := strings.CutPrefix(file, strings.TrimRight(r.Worktree, "/")+"/"); ok {
			return cleanPath(rest)
		}
	}
	if strings.HasPrefix(file, "/") || file == "" {
		return ""
	}
	return cleanPath(path.Join(r.Dir, file))
}

// cleanPath is a path in its shortest form; "" when it leads out of the repository, or holds what no honest name does.
func cleanPath(file string) string {
	file = path.Clean(file)
	odd := func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar || r == '\\' }
	switch {
	case file == "." || !fs.ValidPath(file), len(file) > wording.MaxURL || safetext.Visible(file) != file || strings.ContainsFunc(file, odd) ||
		strings.Contains(file, ":/"), strings.HasPrefix(file+"/", ".git/"):
		return ""
	}
	return file
}
