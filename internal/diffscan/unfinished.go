package diffscan

import (
	"context"
	"strings"
)

// Stage is how bad a mark is.
type Stage int

const (
	Remark   Stage = iota // a remark that something remains to do
	Stub                  // code that only says that it does not exist
	Conflict              // no language takes it
)

// Mark is one line that says that work is not done.
type Mark struct {
	File  string
	Line  int
	Text  string
	Stage Stage
}

var (
	mergeBegin = lazy(`^<{7} \S`)
	mergeEnd   = lazy(`^>{7} \S`)
	// stubs are whole statements.
	stubs = lazy(
		`\braise\s+NotImplementedError\b|\bunimplemented!\s*\(|\btodo!\s*\(|\bNotImplementedException\s*\(|(?:^|[\s=({])TODO\s*\(\s*["')]|` +
			`(?i:(?:panic!?|fatalError|raise|throw|abort|die|die!|fail|errors\.New|Errorf|preconditionFailure|log\.Fatal\w*|new \w*(?:Error|Exception)|\w*(?:Error|Exception))\s*\(?\s*(?:new\s+[\w\\]+\(\s*)?[@$]?["'` + "`" + `](?:todo\b|(?:\w+[ :.-]+){0,4}(?:not(?: been)?(?: yet)? implemented|not implemented yet|unimplemented|implement me)\b))`)
	// remarks are in comments.
	remarks = lazy(`\b(?:TODO|FIXME|XXX|HACK)(?:[:(\s!,-]|$)`)
	noWork  = lazy(
		`(?i)\bTODOs?[ -]?(?:list|app|application|item|entry|entries|text|title|model|store|component|page|view|api|s\b)|\bTODOs?\.(?:md|txt)|\bno (?:more )?todos?\b`)
	phrases = lazy(
		`(?i)\byour (?:code|logic|implementation) (?:goes )?here\b|\b(?:rest|remainder) of (?:the |your )?(?:code|implementation|function|file|method|methods|class|logic)\b|\bexisting code (?:here|unchanged|remains|stays)\b|` +
			`\b(?:code|implementation|logic|details) (?:omitted|goes here|to follow)\b|\bplaceholder (?:implementation|for now|until|code|logic|value|function|method|stub)\b|^\W*placeholder\b|\b(?:implement|finish|complete|do) (?:this|it|me|the rest) later\b|` +
			`\bstub(?:bed)? (?:implementation|out|for now)\b|\bnot (?:yet )?implemented\b|\bunimplemented\b|\bto be implemented\b|\bsimplified (?:version|implementation) for now\b|^\W*(?:implementation|omitted|remaining code|same as before)\W*\.\.\.\W*$`)
	abstract = lazy(
		`@(?:abc\.)?abstract\w*|\bclass \w*(?:Base|Abstract|Interface|Mixin|Protocol)\w*\b|\bclass \w+\(.*\b(?:ABC|Protocol|metaclass=ABCMeta)\b`)
)

// Unfinished finds the marks among the added lines, in the order of the patch.
func (d *Change) Unfinished(ctx context.Context) (marks []Mark, err error) {
	old := map[string]int{}
	for _, f := range d.files {
		for _, h := range f.hunks {
			for _, l := range h.old {
				if s, ok := judge(f.name, l.text); ok && s != Conflict {
					old[strings.TrimSpace(l.text)]++
				}
			}
		}
	}
	for _, f := range d.files {
		if foreign.MatchString(f.name) || fixtures.MatchString(f.name) {
			continue
		}
		found := merges(f)
		if !isTest(f.name) && !prose.MatchString(f.name) {
			found = append(found, remarksOf(f, old)...)
		}
		if found, err = d.withoutAbstract(ctx, f, found); err != nil {
			return nil, err
		}
		marks = append(marks, found...)
	}
	return marks, nil
}

// merges are the marks of a merge; a single one does not count.
func merges(f *fileDiff) (found []Mark) {
	begins, ends := false, false
	for _, h := range f.hunks {
		for _, l := range h.new {
			begin, end := mergeBegin.MatchString(l.text), mergeEnd.MatchString(l.text)
			begins, ends = begins || begin, ends || end
			if begin || end {
				found = append(found, Mark{f.name, l.n, l.text, Conflict})
			}
		}
	}
	if !begins || !ends {
		return nil
	}
	return found
}

func remarksOf(f *fileDiff, old map[string]int) (found []Mark) {
	for _, h := range f.hunks {
		for _, l := range h.new {
			s, ok := judge(f.name, l.text)
			if !ok {
				continue
			}
			text := strings.TrimSpace(l.text)
			if old[text]--; old[text] >= 0 {
				continue
			}
			found = append(found, Mark{f.name, l.n, text, s})
		}
	}
	return found
}

// judge says whether a line is a mark, and of which kind.
func judge(name, text string) (Stage, bool) {
	code, comment := splitComment(name, clip(text))
	switch {
	case stubs.MatchString(code) && !strings.Contains(code, "501"):
		return Stub, true
	case remarks.MatchString(comment) && !noWork.MatchString(comment), phrases.MatchString(comment):
		return Remark, true
	}
	return 0, false
}

// withoutAbstract drops stubs that are no such thing: a method that says so is how Python declares one for others to write.
func (d *Change) withoutAbstract(ctx context.Context, f *fileDiff, found []Mark) ([]Mark, error) {
	has := false
	for _, m := range found {
		has = has || strings.Contains(m.Text, "NotImplementedError")
	}
	if !has || !strings.HasSuffix(f.name, ".py") && !strings.HasSuffix(f.name, ".rb") {
		return found, nil
	}
	text, _, err := d.after(ctx, f.name)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(text, "\n")
	kept := found[:0]
	for _, m := range found {
		if m.Stage != Stub || !strings.Contains(m.Text, "NotImplementedError") || !isAbstract(lines, m.Line) {
			kept = append(kept, m)
		}
	}
	return kept, nil
}

// isAbstract reports whether a line is in a method or class that says it is abstract: right above it, or in the head of its class.
func isAbstract(lines []string, n int) bool {
	for i := min(n, len(lines)) - 1; i >= 0 && i > n-2000; i-- {
		text := clip(lines[i])
		if n-i <= 12 && strings.Contains(text, "@") && abstract.MatchString(text) {
			return true
		}
		if strings.HasPrefix(strings.TrimSpace(text), "class ") {
			return abstract.MatchString(text)
		}
	}
	return false
}
