package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// known looks whether a command that fails did so on the base commit in the same way: every test and every finding that
// it names was named there, or, where it names nothing, its signature is the same. That may be no part of the task,
// which is for the reviewer to say, or a person, of each by name. The prompt tells the agent first; they decide at its
// next claim, or at once if no turn is left. Where nothing is named, that claim must change nothing more: what fails
// may be what the agent works on. A test that the task itself names has to pass.
func known(at Input, mustPass bool, v *loop.Verdict) {
	if mustPass || v.Pass || v.Missing || v.Killed || v.Severity != loop.Hard {
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
	last := at.State.MaxIterations > 0 && at.Iteration.N >= at.State.MaxIterations // no turn is left
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
	digit       = lazy(`[0-9]`)
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

// told reports whether the agent has claimed before to be done with this failure of the base commit, and its prompt
// named the failure.
func told(at Input, name string) bool {
	return slices.ContainsFunc(at.State.Iterations, func(it *loop.Iteration) bool {
		v := findVerdict(it.Verdicts, name)
		return it.N != at.Iteration.N && it.Claimed() && v != nil && v.OfBase()
	})
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
	return f.File + "\x00" + f.Rule + "\x00" + digit.ReplaceAllString(f.Message, "0")
}

// mostMessage is how long the sentence of a concern may be.
const mostMessage = 300

// addConcern puts a concern into a list in which every name stands once: what is said of one name is one concern, and
// the same name in another file gets the file before it.
func addConcern(list []loop.Concern, c loop.Concern) []loop.Concern {
	c.Name = loop.ConcernName(c.Name)
	c.Message = safetext.ShortenBytes(safetext.OneLine(c.Message), mostMessage)
	c.Detail = safetext.ShortenBytes(c.Detail, loop.DetailBytes)
	i := slices.IndexFunc(list, func(o loop.Concern) bool { return o.Name == c.Name })
	if i >= 0 && list[i].File != c.File && c.File != "" && c.Name != loop.ConcernName(c.File) {
		c.Name = loop.ConcernName(c.File + ":" + c.Name)
		i = slices.IndexFunc(list, func(o loop.Concern) bool { return o.Name == c.Name })
	}
	switch {
	case i >= 0 && !strings.Contains(list[i].Message, c.Message):
		list[i].Message = safetext.ShortenBytes(list[i].Message+"; "+c.Message, mostMessage)
	case i < 0 && len(list) == loop.MaxConcerns-1:
		list = append(list, loop.Concern{Name: "the-rest", Kind: c.Kind, Message: "there are more than can be named here"})
	case i < 0 && len(list) < loop.MaxConcerns:
		list = append(list, c)
	}
	return list
}
