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
	return fit(CommentLimit, func(r room) string {
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
