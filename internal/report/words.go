package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// stateWord is the run's state in one word.
func (v View) stateWord() string {
	if e := v.State.End; e != nil {
		return string(e.Outcome)
	}
	return "running"
}

var signs = map[string]string{
	"running": "🔄", string(loop.Done): "✅", string(loop.Waiting): "⏸️", string(loop.Interrupted): "⏹️",
	string(loop.Invalid): "⚠️", string(loop.Refused): "⛔",
}

func (v View) sign() string {
	if v.State.Start.DryRun {
		return "🧪"
	}
	if s, ok := signs[v.stateWord()]; ok {
		return s
	}
	return "❌"
}

func (v View) runningLine() string {
	s := v.State
	switch last := s.Last(); {
	case s.Pause != nil:
		return fmt.Sprintf("Waiting until %s before iteration %d of %d", wording.Clock(s.Pause.Until), last.N,
			s.MaxIterations)
	case s.Turning != nil:
		return wording.JoinedBy(": ", fmt.Sprintf("Working: iteration %d of %d", s.Turning.Iteration, s.MaxIterations),
			v.step())
	case last == nil:
		return "Starting"
	default:
		return wording.JoinedBy(": ", fmt.Sprintf("Working: iteration %d of %d", last.N, s.MaxIterations), v.step())
	}
}

// now says in one sentence what a running run does at this moment.
func (v View) now() string {
	s := v.State
	last := s.Last()
	switch {
	case s.Pause != nil:
		return v.Text(s.Pause.Reason, 300)
	case v.onFeedback():
		who := "other workflows found"
		if by := v.Code(s.Feedback.By, 60); by != "" {
			who = by + " asked for"
		}
		return fmt.Sprintf("The agent works on what %s since %s.", who, wording.Clock(s.Turning.At))
	case s.Turning != nil:
		return fmt.Sprintf("The agent %s since %s.", wording.Doing(s.Turning.Mode, v.name(s.Turning.Story, 40)),
			wording.Clock(s.Turning.At))
	case last == nil && !s.Baselined:
		return "The checks run on the base commit first, to know what already fails."
	case last == nil:
		return "The first iteration is about to begin."
	case last.Commit == nil:
		return "What the agent changed is being committed."
	case !last.Judged:
		return wording.Sentence(wording.JoinedBy(": ", "The checks run on what the agent changed", v.deciders(5)))
	case last.Failure() != nil && last.N < s.MaxIterations:
		return "The next iteration begins with what failed."
	case s.PlanDue:
		return "The plan's file is fixed."
	case s.Plan != nil && v.open() && last.N < s.MaxIterations:
		return "The next iteration is about to begin."
	}
	return "The result is being written down."
}

// onFeedback reports whether the turn that runs is the first for what a review of people, or other workflows, asked for.
func (v View) onFeedback() bool {
	s := v.State
	return s.Feedback != nil && s.Turning != nil && s.Turning.Mode == loop.ReviewFix && s.Turning.Iteration == s.Reopened+1
}

// silent says since when a run that should be working has given no sign of life; "" when it has.
func (v View) silent() string {
	s := v.State
	if s.End != nil || s.Lease.IsZero() || v.Now.IsZero() || !v.Now.After(s.Lease) {
		return ""
	}
	return parts(fmt.Sprintf("⚠️ No sign of life since %s", wording.Clock(s.At)),
		"the process that worked on it seems to be gone", v.Offer("continue", "resumes it"))
}

// iterationMarker is the line by which the comment on one iteration is found again. Like Marker it proves
// nothing by itself.
func iterationMarker(run string, n int) string {
	return fmt.Sprintf("<!-- ralph:iteration:%s/%d -->", wording.MarkerName(run), n)
}

// IterationComment tells of one iteration in a comment of its own, for `comments: each`. Its first line is
// iterationMarker; "" when the run has no iteration with this number that the checks have spoken about. It never has
// more than 65,000 bytes.
func IterationComment(v View, n int) string {
	i := slices.IndexFunc(v.State.Iterations, func(it *loop.Iteration) bool { return it.N == n })
	if i < 0 || !v.State.Iterations[i].Judged {
		return ""
	}
	it := v.State.Iterations[i]
	return v.fit(CommentLimit, func(r room) string {
		var p wording.Markdown
		p.Line("%s", iterationMarker(v.State.Start.Run, n))
		p.Line("### Iteration %s, %s", v.State.Of(n), v.who(it))
		p.Part(v.result(it) + "; " + v.done(it) + ".")
		if said := wording.Spoken(it); r.spec > 0 && strings.TrimSpace(said) != "" {
			p.Part("The agent said:\n\n" + v.quote(said, min(r.spec, 1<<10)))
		}
		p.Part(v.failureOf(it, r.lines))
		p.Part(v.checksOf(it, r.checks))
		p.Part(wording.Small([]string{v.spentOn(it), v.runLink()}))
		return p.String()
	})
}

// done says what an iteration changed, with its commit.
func (v View) done(it *loop.Iteration) string {
	text := cmp.Or(wording.Changed(it), "nothing committed")
	if sha := v.commit(it); sha != "" {
		text += " in " + sha
	}
	return text
}

var commitID = regex.Lazy(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// commit names the commit of an iteration that changed something, with a link where there is a server.
func (v View) commit(it *loop.Iteration) string {
	if it.Commit == nil || it.Commit.Empty || !commitID.MatchString(it.Commit.SHA) {
		return ""
	}
	shown := "`" + it.Commit.SHA[:7] + "`"
	if v.ServerURL == "" || v.Repo == "" {
		return shown
	}
	return wording.Link(shown, v.ServerURL+"/"+v.Repo+"/commit/"+it.Commit.SHA)
}

// spentOn is the time, the money and the tokens of an iteration.
func (v View) spentOn(it *loop.Iteration) string {
	return wording.JoinedBy(" · ", wording.Duration(wording.IterationTime(it)), wording.UsageText(wording.Usage(it)),
		wording.AgentUsage(it.Turn))
}
