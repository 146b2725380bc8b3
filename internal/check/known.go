package check

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// known looks whether a command that fails did so on the base commit in the same way: every test and every finding that
// it names was named there, or, where it names nothing, its signature is the same. That may be no part of the task,
// which is for the reviewer to say, or a person, of each by name. The agent is told first: at its next claim, or where
// no turn is left, they are asked. Where nothing is named, that claim must change nothing more: what fails may be what
// the agent works on. A test that the task itself names has to pass.
func (l List) known(c Check, at Input, v *loop.Verdict) {
	_, isCommand := c.(*Command)
	if !isCommand || l.MustPass || v.Pass || v.Missing || v.Killed || v.Severity != loop.Hard {
		return
	}
	base := onBase(at, v.Check)
	if base == nil || base.Pass || base.Missing || base.Skipped != "" || base.Exit != v.Exit {
		return
	}
	concerns := sameFailures(*base, *v)
	if len(concerns) == 0 || asked(at, concerns) {
		return
	}
	if maybeTask(at, *base, *v) {
		for i := range concerns {
			concerns[i].Kind = loop.MaybeTask
		}
	}
	claimed, named := at.Iteration.Claimed(), len(v.Findings) > 0
	if !claimed && !named {
		return
	}
	v.Concerns = concerns
	names := safetext.FirstN(loop.Names(concerns), 5)
	last := at.State.MaxIterations > 0 && at.Iteration.N >= at.State.MaxIterations // there is no turn to tell it in
	switch {
	case !claimed:
	case (!last || !named) && !told(at, v.Check), !named && !at.Iteration.Commit.Empty:
		v.PromptText += fmt.Sprintf("\n\nThe base commit fails in the same way (%s). If your task asks for these to pass, make "+
			"them pass. If it does not, leave them as they are and say again that you are done; other changes are fine. Then "+
			"the reviewer or a maintainer decides whether to accept them.", names)
	default:
		v.Severity = loop.Soft
		v.Reason = fmt.Sprintf("it fails as it does on the base commit (%s): %s", names, v.Reason)
	}
}

var (
	failingWord = lazy(`(?i)\b(?:fail\w*|broken|break\w*|red|pass(?:es|ing)?|green|flak\w*)\b`)
	checkWord   = lazy(`(?i)\b(?:tests?|checks?|builds?|CI|lint\w*|suites?)\b`)
	repairWord  = lazy(`(?i)\b(?:fix\w*|bugs?|wrong|regress\w*)\b`)
	sentenceEnd = lazy(`[.!?]\s|\n\s*\n|\n\s*[-*#]`)
)

// maybeTask reports whether a failure of the base commit may be what the task is about, so that no reviewer may wave it
// away: a sentence speaks of failing tests, the change touches a file that the failure names, or the task is to repair
// something and nothing that failed passes now.
func maybeTask(at Input, base, now loop.Verdict) bool {
	task := at.State.Start.Title + "\n\n" + at.State.Start.Spec
	for _, sentence := range sentenceEnd.Regexp().Split(task, -1) {
		if failingWord.MatchString(sentence) && checkWord.MatchString(sentence) {
			return true
		}
	}
	told := now.Output
	for _, f := range now.Findings {
		told += "\n" + f.File + " " + f.Test + " " + f.Message
	}
	for _, it := range at.State.Iterations {
		for _, f := range it.Commit.Files {
			stem := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
			if len(stem) > 3 && holdsWord(told, stem) {
				return true
			}
		}
	}
	return repairWord.MatchString(task) && len(now.Failing()) >= len(base.Failing())
}

// onBase is what a check said of the base commit; nil: nothing.
func onBase(at Input, name string) *loop.Verdict {
	for i, v := range at.State.Baseline {
		if v.Check == name {
			return &at.State.Baseline[i]
		}
	}
	return nil
}

// told reports whether the agent has claimed before to be done with this failure of the base commit, and was told of
// it.
func told(at Input, name string) bool {
	for _, it := range at.State.Iterations {
		if it.N == at.Iteration.N || !it.Claimed() {
			continue
		}
		for _, v := range it.Verdicts {
			if v.Check == name && v.OfBase() {
				return true
			}
		}
	}
	return false
}

// asked reports whether the task names one of what fails.
func asked(at Input, concerns []loop.Concern) bool {
	task := at.State.Start.Title + "\n" + at.State.Start.Spec
	for _, c := range concerns {
		name := c.Name[strings.LastIndexAny(c.Name, ":./ ")+1:]
		if len(name) > 3 && c.File != c.Name && holdsWord(task, name) {
			return true
		}
	}
	return false
}

// sameFailures makes concerns of what fails, when the base commit failed in all of it; else nil.
func sameFailures(base, now loop.Verdict) (list []loop.Concern) {
	if len(now.Findings) == 0 || len(now.Findings) >= loop.MaxFindings || len(base.Findings) == 0 {
		if now.Hash == "" || now.Hash != base.Hash {
			return nil
		}
		return []loop.Concern{{Name: loop.ConcernName(now.Check), Kind: loop.FailedBefore,
			Message: safetext.ShortenBytes("fails as it does on the base commit: "+now.Reason, mostMessage)}}
	}
	left := map[string]int{}
	for _, f := range base.Findings {
		left[failureKey(f)]++
	}
	for _, f := range now.Findings {
		key := failureKey(f)
		if left[key] == 0 {
			return nil
		}
		if f.Test == "" { // a linter's finding; a test may be named by several lines
			left[key]--
		}
		list = addConcern(list, loop.Concern{Name: f.Name(now.Check), Kind: loop.FailedBefore, File: f.File,
			Line:    f.Line,
			Message: "fails as it does on the base commit: " + f.Message})
	}
	return list
}

// failureKey is by what a failure is known again: the test, or the file with the rule and the words. Lines move.
func failureKey(f loop.Finding) string {
	if f.Test != "" {
		return "test\x00" + f.Test
	}
	words := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, f.Message)
	return f.File + "\x00" + f.Rule + "\x00" + words
}

// shownName writes a path into a sentence: as it is, or quoted when it holds what could break the sentence.
func shownName(name string) string {
	plain := strings.IndexFunc(name,
		func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("\"`\uFFFD", r) }) < 0
	if !plain {
		name = strconv.Quote(name)
	}
	return shorten(safetext.Inert(name), 200)
}

// few names at most five paths, and counts the rest.
func few(names []string) string {
	shown := make([]string, 0, 5)
	for _, name := range names[:min(len(names), 5)] {
		shown = append(shown, shownName(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// quote writes foreign text into a message.
func quote(text string) string { return fmt.Sprintf("%q", shorten(strings.TrimSpace(text), 120)) }

func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
