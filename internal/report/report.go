// Package report shows a run: every text that people read about it is a view of its state, and no view holds state of
// its own.
package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/secret"
)

// View is a run's state with what is needed to show it.
type View struct {
	State           loop.State
	Now             time.Time
	ServerURL, Repo string              // "https://github.com", "alice/demo"; empty on the CLI
	Phrase          string              // "/ralph"
	Redact          func(string) string // nil: identity; applied to every piece of foreign text before it is cut or fenced
	TokenNote       string              // one sentence on what the token in use will not do, or ""
	Ways            event.Ways          // which events start jobs
	Label           string              // "ralph": added to the issue, it requests a run; empty: none does
	Running         string              // "ralph:running": removed from the issue, it stops the run; empty: the issue has no such label

	Limits loop.Limits // what the run may spend; only its sums are shown
	// where the report in full is to be had: the workflow run's address with #artifacts; empty: nowhere
	ReportURL string
	// the repository's own pull request template, as it is in the base commit; empty: it has none
	Template string
	Subjects []string // of the newest commits of the base branch, for the form of a title
	Labels   []string // the issue's, for the kind of a change
	Worktree string   // the run's worktree as an absolute path, which tools print before the names of files
	Dir      string   // where the checks run, from the top of the repository; empty: there
	Again    string   // of the CLI: the command that continues with the run, as it can be copied; empty: it is not known

	here  bool // the text is on the run's pull request, which needs no name there
	plain bool // the text is no Markdown: a console's
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

// room says how much of a run a view may show. Views that turn out too long are written again with less.
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

// screen is as much of a room as is shown of it where nothing is folded and a screen is all there is.
func (r room) screen() room {
	r.remarks, r.lines, r.stories = min(r.remarks, 3), 0, min(r.stories, 8)
	return r
}

// fit writes a view with the most room that keeps it within limit bytes. The last room holds nothing of unbounded
// length.
func (v View) fit(limit int, write func(room) string) string {
	var text string
	for _, r := range rooms {
		if text = write(r); len(text) <= limit {
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

// Redactor returns a function that takes secrets out of a text: the known values and the forms they travel in, and
// whatever looks like a credential of GitHub, a model vendor or AWS, or a private key. Values of fewer than six
// characters are ignored, because they would take ordinary words with them.
func Redactor(secrets []string) func(string) string {
	known := secret.NewRedactor(secrets)
	return func(text string) string {
		safe := redactAll(text, known)
		if hides(text) { // what no one sees may part a secret, and only its beginning looks like one
			if seen := redactAll(wording.Bare(text), known); seen != wording.Bare(safe) {
				return seen
			}
		}
		return safe
	}
}

// hides reports whether anything in a text may be there without being seen: nearly nothing that is printed has any of
// it.
func hides(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return true
		}
	}
	return false
}

const redacted = "[redacted]"

// redactAll replaces what is known and what looks like a credential; what overlaps becomes one, so that no end of
// either is left.
func redactAll(text string, known *secret.Redactor) string {
	spans := known.All(text)
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, s := range spans {
		b.WriteString(text[end:s.From] + redacted)
		end = s.To
	}
	return b.String() + text[end:]
}
