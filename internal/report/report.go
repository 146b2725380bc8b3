// Package report shows a run: every text that people read about it is a view of its state, and no view holds state of
// its own.
package report

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// View is a run's state with what is needed to show it.
type View struct {
	State  loop.State
	Now    time.Time
	Again  string      // of the CLI: the command that resumes the run, as it can be copied; empty: it is not known
	Limits loop.Limits // what the run may spend; only its sums are shown
	Words
	Site
	Controls
	Repository

	here bool // the text is on the run's pull request, which needs no name there
}

// Site is where people read about a run on GitHub. All of it is empty on the CLI.
type Site struct {
	ServerURL, Repo string // "https://github.com", "alice/demo"
	TokenNote       string // one sentence on what the token in use will not do, or ""
	ReportURL       string // the workflow run's address with #artifacts, where the full report is; empty: nowhere
}

// Controls are what starts and stops runs on GitHub.
type Controls struct {
	Ways    event.Ways // which events start jobs
	Label   string     // "ralph": added to the issue, it requests a run; empty: none does
	Running string     // "ralph:running": removed from the issue, it stops the run; empty: the issue has no such label
}

// Repository is what a pull request is fitted to, and where the places that checks name are in it.
type Repository struct {
	Template string // its pull request template, as it is in the base commit; empty: it has none
	Worktree string // the run's worktree as an absolute path, which tools print before the names of files
	Dir      string // where the checks run, from the top of the repository; empty: there
}

// onPull is a view whose text is on the run's pull request, once there is one.
func (v View) onPull() View {
	v.here = v.State.Post.Pull != 0
	return v
}

// InPlain is a view whose text is no Markdown.
func (v View) InPlain() View {
	v.plain = true
	return v
}

// GitHub refuses comments and descriptions of more than 65,536 characters. The limits are in bytes, which are never
// fewer.
const (
	CommentLimit = 65_000
	pullLimit    = 60_000
)

// page is a view with the room that it has: how much of a run it may show, in quarters.
type page struct {
	View
	room int
}

// rooms are what a page is written with. One that turns out too long is written again with less.
var rooms = []int{4, 2, 1, 0}

// most is how many of n things a page shows.
func (v page) most(n int) int { return max(n*v.room/4, 1) }

// fit writes a page with the most room that keeps it within limit bytes. The last room holds nothing of unbounded
// length.
func (v View) fit(limit int, write func(page) string) string {
	var text string
	for _, r := range rooms {
		if text = write(page{v, r}); len(text) <= limit {
			break
		}
	}
	return text
}

// pull names the pull request with a link; "" before there is one.
func (v View) pull() string {
	p := v.State.Post
	switch {
	case p.Pull == 0:
		return ""
	case v.plain:
		return fmt.Sprintf("#%d", p.Pull)
	}
	return wording.Link(fmt.Sprintf("#%d", p.Pull), v.PullPage())
}

// PullPage is the address of the run's pull request; "" before there is one, and where its server is not known.
func (v View) PullPage() string {
	p := v.State.Post
	if p.Pull == 0 {
		return p.PullURL
	}
	return cmp.Or(p.PullURL, v.Address(fmt.Sprintf("pull/%d", p.Pull)))
}

// Address is that of a page of the repository; "" where its server is not known.
func (v View) Address(page string) string {
	if v.ServerURL == "" || v.Repo == "" {
		return ""
	}
	return v.ServerURL + "/" + v.Repo + "/" + page
}

// branch names a branch, with a link where there is a server.
func (v View) branch(b loop.WorkBranch) string {
	name := b.Name()
	if shown := v.Code(name, 120); v.plain || name == "" || v.Redacted(name) != name { // its address would tell the secret
		return shown
	}
	return wording.Link(v.Code(name, 120), v.Address("tree/"+name))
}

// local reports whether the run is one of the CLI, where no one can be answered by a comment.
func (v View) local() bool { return v.Repo == "" }

// Offer is the part of a sentence that names a command and what it does: "`/ralph retry` starts over". It is empty if no
// comment starts a job.
func (v View) Offer(words, does string) string {
	if !v.Ways.Work(event.Commented) {
		return ""
	}
	return v.Command(words) + " " + does
}

// parts are the parts of a sentence that are not empty, as one.
func parts(of ...string) string { return wording.Sentence(wording.JoinedBy("; ", of...)) }
