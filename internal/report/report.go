// Package report shows a run: every text that people read about it is a view of its state, and no view holds state of
// its own.
package report

import (
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

// inPlain is a view whose text is no Markdown.
func (v View) inPlain() View {
	v.plain = true
	return v
}

// GitHub refuses comments and descriptions of more than 65,536 characters. The limits are in bytes, which are never
// fewer.
const (
	CommentLimit = 65_000
	pullLimit    = 60_000
)

// page is a view with the room that it has: how much of a run it may show.
type page struct {
	View
	room
}

// room bounds a page. One that turns out too long is written again with less.
type room struct {
	rows    int // iterations in the table
	lines   int // lines of the last failure
	files   int // changed files
	checks  int // checks listed
	spec    int // bytes of what was asked
	remarks int // maintainers' hints, and notes on what was tried
	history int // rows of the error history
	stories int // stories of a plan
	folded  int // stories in the folded list of all
}

var rooms = []room{
	{rows: 15, lines: 60, files: 20, checks: 20, spec: 8 << 10, remarks: 10, history: 50, stories: 20, folded: 200},
	{rows: 8, lines: 30, files: 10, checks: 10, spec: 4 << 10, remarks: 5, history: 20, stories: 10, folded: 50},
	{rows: 3, lines: 10, files: 5, checks: 5, spec: 1 << 10, remarks: 2, history: 5, stories: 5},
	{rows: 1},
}

// screen is a page where nothing is folded and a screen is all there is.
func (v page) screen() page {
	v.remarks, v.lines, v.room.stories = min(v.remarks, 3), 0, min(v.room.stories, 8)
	return v
}

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
	case v.plain && p.Pull != 0:
		return fmt.Sprintf("#%d", p.Pull)
	case p.Pull == 0:
		return ""
	}
	return wording.Link(fmt.Sprintf("#%d", p.Pull), v.PullPage())
}

// PullPage is the address of the run's pull request; "" before there is one, and where its server is not known.
func (v View) PullPage() string {
	p := v.State.Post
	if p.Pull == 0 || p.PullURL != "" || v.ServerURL == "" || v.Repo == "" {
		return p.PullURL
	}
	return fmt.Sprintf("%s/%s/pull/%d", v.ServerURL, v.Repo, p.Pull)
}

// branch names a branch, with a link where there is a server.
func (v View) branch(b loop.WorkBranch) string {
	name := b.Name()
	if name == "" {
		return ""
	}
	shown := v.Code(name, 120)
	if v.plain || v.ServerURL == "" || v.Repo == "" || v.Redacted(name) != name { // its address would tell the secret
		return shown
	}
	return wording.Link(shown, v.ServerURL+"/"+v.Repo+"/tree/"+name)
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
