package check

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// known looks whether a command that fails did so on the base commit in the same way: every test and every finding that
// it names was named there, or, where it names nothing, its signature is the same. That may be no part of the task,
// which is for the reviewer to say, or a person, of each by name. Before they are asked, the agent is told, and has to
// say again that it is done, without a further change: many a task is about just that failure, and whoever still tries
// does not mean to leave it. A test that the task itself names has to pass.
func (l List) known(c Check, at Input, v *loop.Verdict) {
	_, isCommand := c.(*Command)
	if !isCommand || l.MustPass || v.Pass || v.Missing || v.Killed || v.Severity != loop.Hard || !at.Iteration.Claimed() {
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
	v.Concerns = concerns
	names := safetext.FirstN(loop.Names(concerns), 5)
	only := at.State.MaxIterations == 1 && len(v.Findings) > 0 // there is no turn to tell it in
	if !only && (!told(at, v.Check) || !at.Iteration.Commit.Empty) {
		v.PromptText += fmt.Sprintf("\n\nThe base commit fails in the same way (%s). If your task asks for these to pass, make "+
			"them "+
			"pass. If it does not, leave them as they are and say again that you are done: then it is for the reviewer to "+
			"accept.", names)
		return
	}
	v.Severity = loop.Soft
	v.Reason = fmt.Sprintf("it fails as it does on the base commit (%s): %s", names, v.Reason)
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
			if v.Check == name && !v.Pass && len(v.Concerns) > 0 && v.Concerns[0].Kind == loop.FailedBefore {
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
