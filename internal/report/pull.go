package report

import (
	"fmt"
	"strings"
)

// PullTitle is the pull request's title: the task's, as plain text that closes and mentions nothing, because a squash makes it the
// subject of a commit.
func PullTitle(v View) string {
	title := plain(v.clean(v.State.Start.Title))
	if title == "" {
		title = plain(v.State.Start.Task)
	}
	return shorten(title, 120)
}

// PullBody is the pull request's description (B-19), at most 60,000 bytes.
func PullBody(v View) string {
	return fit(pullLimit, func(r room) string {
		s := v.State
		var p page
		p.part(v.atCap(r))
		if s.Start.Issue > 0 {
			p.part(fmt.Sprintf("Closes #%d", s.Start.Issue))
		}
		p.part("**" + v.headline() + "**")
		p.part(v.lead())
		p.part(v.storySection(r))
		p.part(v.asked(r))
		p.part(v.lookFirst(r))
		p.part(titled("How it went", v.byStory(r.rows)))
		p.part(v.inWords(r))
		p.part(titled("Checks", v.checks(r.checks)))
		p.part(titled("Verification", v.verification(r.rows)))
		p.part(v.baseline())
		p.part(v.lastFailure(r.lines))
		if cost := spent(s.Usage); cost != "" {
			p.part("**Cost:** " + cost)
		}
		if note := v.text(v.TokenNote, 400); note != "" {
			p.part("> ℹ️ " + note)
		}
		p.part(small(append(v.credits(), v.updated()...)))
		return p.String()
	})
}

func titled(title, body string) string {
	if body == "" {
		return ""
	}
	return "### " + title + "\n\n" + body
}

// asked quotes the task as it stood when it was asked, and the maintainers' hints.
func (v View) asked(r room) string {
	s := v.State
	var p page
	p.line("### What was asked")
	p.part("**" + v.text(s.Start.Title, 200) + "**")
	if r.spec > 0 && strings.TrimSpace(s.Start.Spec) != "" {
		p.part(v.quote(s.Start.Spec, r.spec))
	}
	for i, hint := range s.Hints {
		if i == r.remarks {
			p.part(fmt.Sprintf("%s more", count(len(s.Hints)-i, "hint")))
			break
		}
		p.part("Hint: " + v.text(hint, 500))
	}
	return p.String()
}
