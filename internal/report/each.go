package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// IterationMarker is the line by which the comment on one iteration is found again. Like Marker it proves
// nothing by itself.
func IterationMarker(run string, n int) string {
	return fmt.Sprintf("<!-- ralph:iteration:%s/%d -->", runName(run), n)
}

// IterationComment tells of one iteration in a comment of its own, for `comments: each`. Its first line is
// IterationMarker; "" when the run has no iteration with this number that the checks have spoken about. It never has
// more than 65,000 bytes.
func IterationComment(v View, n int) string {
	i := slices.IndexFunc(v.State.Iterations, func(it *loop.Iteration) bool { return it.N == n })
	if i < 0 || !v.State.Iterations[i].Judged {
		return ""
	}
	it := v.State.Iterations[i]
	return fit(commentLimit, func(r room) string {
		var p page
		p.line("%s", IterationMarker(v.State.Start.Run, n))
		p.line("### Iteration %s, %s", v.State.Of(n), v.who(it))
		p.part(v.result(it) + "; " + v.done(it) + ".")
		if said := spoken(it); r.spec > 0 && strings.TrimSpace(said) != "" {
			p.part("The agent said:\n\n" + v.quote(said, min(r.spec, 1<<10)))
		}
		p.part(v.failureOf(it, r.lines))
		p.part(v.checksOf(it, r.checks))
		p.part(small([]string{v.spentOn(it), v.runLink()}))
		return p.String()
	})
}

// done says what an iteration changed, with its commit.
func (v View) done(it *loop.Iteration) string {
	text := or(changed(it), "nothing committed")
	if sha := v.commit(it); sha != "" {
		text += " in " + sha
	}
	return text
}

var commitID = lazy(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// commit names the commit of an iteration that changed something, with a link where there is a server.
func (v View) commit(it *loop.Iteration) string {
	if it.Commit == nil || it.Commit.Empty || !commitID.MatchString(it.Commit.SHA) {
		return ""
	}
	shown := "`" + it.Commit.SHA[:7] + "`"
	if v.ServerURL == "" || v.Repo == "" {
		return shown
	}
	return link(shown, v.ServerURL+"/"+v.Repo+"/commit/"+it.Commit.SHA)
}

// spentOn is the time, the money and the tokens of an iteration.
func (v View) spentOn(it *loop.Iteration) string {
	return joinedBy(" · ", duration(took(it)), spent(usage(it)))
}
