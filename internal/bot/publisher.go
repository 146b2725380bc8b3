package bot

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// publisher shows a run on GitHub: one sticky comment, the pull request, the labels, the check run. Everything it
// writes is a view of the state that it is given; a write that fails is logged and made up for by the next one, because
// the work must continue.
type publisher struct {
	github *github.Client
	view   func(loop.State) report.View
	rules  event.Rules
	labels []string // those of the issue when it was read
	onto   string   // branch the pull request goes to
	each   bool     // a comment for each iteration
	// notifyOn are the outcomes that the requester is notified of, as in the setting.
	notifyOn []string
	// again says that an earlier process, or try, may have written what this one does not know of: it looks before it posts.
	again bool
	log   func(format string, args ...any)

	mu      sync.Mutex // held while something is written: a late write is concurrent to the run
	sticky  sticky
	running bool     // the running label was read back from GitHub
	failed  error    // of a write since this was last set to nil; of all, one that says that GitHub was away
	left    []string // labels that could not be removed when the run started
	spent   int      // calls since the turn started
}

// sticky is when the sticky comment was written, and the write that waits until the comment has been quiet.
type sticky struct {
	clock   func() time.Time
	after   func(time.Duration, func()) (stop func() bool) // time.AfterFunc
	at      time.Time                                      // of the latest write
	late    func() bool                                    // ends the wait of a write for its time; nil: none waits
	latest  loop.State                                     // what it will show
	deleted bool                                           // someone has deleted the comment
}

const (
	// quiet is how long the sticky comment stays as it is after a write, while a run continues.
	quiet = 15 * time.Second
	// mostAnIteration is how many calls an iteration may take.
	mostAnIteration = 2
	lateWrite       = 30 * time.Second
)

// begin shows that the run has started: the labels change, and the sticky comment appears.
func (p *publisher) begin(ctx context.Context, s loop.State) *loop.Post {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.Start.Issue == 0 {
		return nil
	}
	p.left = p.relabel(ctx, s.Start.Issue, github.LabelRunning, p.labels,
		func(label string) bool { return strings.EqualFold(label, p.rules.TriggerLabel) })
	return p.refresh(ctx, s)
}

// watch hears of each record. It writes at most twice an iteration: when its commit arrives, and when the next turn
// starts.
func (p *publisher) watch(ctx context.Context, r loop.Record, s loop.State) *loop.Post {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.Type {
	case loop.TurnBegun:
		over := p.each && p.spent >= mostAnIteration // its own comment has just told
		if p.spent = 0; over {
			return nil
		}
		return p.show(ctx, s)
	case loop.Committed:
		switch {
		case s.Post.Pull == 0 && !r.Commit.NoDiff && s.Tip != "":
			p.spent++
			return p.open(ctx, s, true)
		case s.Post.PullComment != 0 && s.Post.IssueComment != 0 && !s.Post.Linked:
			// only then does the link lead to a comment; and not in the call budget of the first
			p.spent++
			return p.link(ctx, s)
		case !p.each:
			return p.show(ctx, s)
		}
	case loop.Judged:
		if p.each {
			p.spent++
			return p.iteration(ctx, s)
		}
	case loop.Paused:
		return p.show(ctx, s)
	}
	return nil
}

// show brings the sticky comment up to date, as far as the iteration's calls reach: at once, or when it has been quiet
// for long enough. What is not shown now, the next write shows.
func (p *publisher) show(ctx context.Context, s loop.State) *loop.Post {
	p.sticky.latest = s
	wait := quiet - p.sticky.clock().Sub(p.sticky.at)
	switch {
	case p.spent >= mostAnIteration:
		return nil
	case commentOf(s) == 0 || p.sticky.deleted: // a new one: the pull request has just been opened
		p.waitForUpdates()
	case p.sticky.late != nil: // it will show this
		return nil
	case wait > 0:
		p.sticky.late = p.sticky.after(wait, func() { p.showLate(context.WithoutCancel(ctx)) })
		p.spent++
		return nil
	}
	p.spent++
	return p.refresh(ctx, s)
}

// showLate writes what has waited. It only edits a comment that is known: what it finds out about another one could not
// be recorded.
func (p *publisher) showLate(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sticky.late == nil { // the end of the run was first
		return
	}
	p.sticky.late = nil
	ctx, cancel := context.WithTimeout(ctx, lateWrite)
	defer cancel()
	s := p.sticky.latest
	err := p.github.EditComment(ctx, commentOf(s), report.Comment(p.view(s)))
	p.sticky.at, p.sticky.deleted = p.sticky.clock(), github.ErrGone(err)
	p.try("updating the comment", err)
}

// shownOn is the pull request or else the issue that a run is shown on; 0: none.
func shownOn(s loop.State) int { return cmp.Or(s.Post.Pull, s.Start.Issue) }

// commentOf is the sticky comment there; 0: none is known.
func commentOf(s loop.State) int64 {
	if s.Post.Pull != 0 {
		return s.Post.PullComment
	}
	return s.Post.IssueComment
}

// checkName is what ralph calls its check run, and the commit status that stands for it.
const checkName = "ralph"

// checkRun says the outcome on the newest commit, with a remark on each line that a failing check names.
func (p *publisher) checkRun(ctx context.Context, s loop.State) *loop.Post {
	if s.Tip == "" || s.Post.Pull == 0 || s.Post.Checked == s.Endings {
		return nil
	}
	said := report.CheckRunOf(p.view(s))
	run := github.CheckRun{
		Name: checkName, SHA: s.Tip, ExternalID: fmt.Sprintf("%s.%d", s.Start.Run, s.Endings), URL: s.RunURL,
		Conclusion: said.Conclusion, Title: said.Title, Summary: said.Summary, Text: said.Text,
	}
	for _, a := range said.Annotations {
		run.Annotations = append(run.Annotations,
			github.Annotation{Path: a.Path, Line: a.Line, Level: a.Level, Title: a.Title, Message: a.Message})
	}
	id, err := p.github.PutCheckRun(ctx, run, p.again)
	p.try("writing the check run", err)
	if id == 0 {
		return nil
	}
	return &loop.Post{Checked: s.Endings}
}

// ending notifies the requester of the outcome once: by a request for a review if the work is done, and otherwise by a
// new comment, because GitHub notifies no one of an edit. After a limit, the failure report is that comment.
func (p *publisher) ending(ctx context.Context, s loop.State) *loop.Post {
	number, v := shownOn(s), p.view(s)
	if number == 0 || s.End.Outcome.Limited() || s.Post.NotifyComment != 0 || s.Post.Requested != "" || !p.shouldNotify(s) {
		return nil
	}
	closed := s.Post.Closed != nil && *s.Post.Closed
	// its author cannot review
	if who := v.Asker(); s.End.Outcome == loop.Done && s.Post.Pull != 0 && !closed && who != "" &&
		!strings.EqualFold(who, p.github.Self()) {
		err := p.github.RequestReview(ctx, number, who)
		if err == nil {
			return &loop.Post{Requested: who}
		}
		if !github.ErrRefused(err) { // otherwise GitHub would refuse it again
			p.try("asking for a review", err)
			return nil
		}
		p.log("asking for a review: %s", strings.TrimSpace(err.Error()))
	}
	marker := report.Marker(fmt.Sprintf("%s.ended.%d", s.Start.Run, s.Endings))
	return posted(&loop.Post{NotifyComment: p.once(ctx, number, marker+"\n"+report.OutcomeComment(v),
		"the comment with the outcome")})
}

// deliver opens the pull request, as a draft: what reports the end makes it ready. Nothing is posted in a dry run.
func (p *publisher) deliver(ctx context.Context, s loop.State) (*loop.Post, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tryOpen(ctx, s, true)
}

// open opens the pull request.
func (p *publisher) open(ctx context.Context, s loop.State, draft bool) *loop.Post {
	post, err := p.tryOpen(ctx, s, draft)
	p.try("opening the pull request", err)
	return post
}

// tryOpen opens the pull request, or says why GitHub does not. In a dry run there is neither.
func (p *publisher) tryOpen(ctx context.Context, s loop.State, draft bool) (*loop.Post, error) {
	v := p.view(s)
	made, err := p.github.OpenPull(ctx, github.PullRequest{
		Title: report.PullTitle(v), Body: report.PullBody(v), Head: s.Start.Branch, Base: p.onto, Draft: draft,
	})
	if made == nil || made.Number == 0 {
		return nil, err
	}
	return &loop.Post{PostedPull: loop.PostedPull{Pull: made.Number, PullNode: made.NodeID, PullURL: made.URL, Draft: &made.Draft}}, nil
}

// refresh writes the sticky comment: on the issue until there is a pull request, then there. One that an earlier
// process of this run posted, and died before it could say so, is taken over; one that someone has deleted is posted
// again.
func (p *publisher) refresh(ctx context.Context, s loop.State) *loop.Post {
	number, known := shownOn(s), commentOf(s)
	if number == 0 {
		return nil
	}
	p.sticky.at, p.sticky.deleted = p.sticky.clock(), false
	body, id, err := report.Comment(p.view(s)), known, error(nil)
	if known == 0 && (p.again || !s.ResumedAt.IsZero()) {
		id = p.find(ctx, number, report.Marker(s.Start.Run), "the run's comment")
	}
	if id != 0 {
		err = p.github.EditComment(ctx, id, body)
	}
	if id == 0 || github.ErrGone(err) && p.find(ctx, number, report.Marker(s.Start.Run), "the run's comment") == 0 {
		id, err = p.github.Comment(ctx, number, body, false)
	}
	p.try("writing the comment", err)
	switch {
	case id == known:
		return nil
	case s.Post.Pull != 0:
		return posted(&loop.Post{PullComment: id})
	}
	return posted(&loop.Post{IssueComment: id})
}

// link turns the issue's comment into the one line that leads to the pull request.
func (p *publisher) link(ctx context.Context, s loop.State) *loop.Post {
	if s.Post.Pull == 0 || s.Post.IssueComment == 0 {
		return nil
	}
	err := p.github.EditComment(ctx, s.Post.IssueComment, report.IssueLine(p.view(s)))
	// someone has deleted it
	if github.ErrGone(err) && p.find(ctx, s.Start.Issue, report.Marker(s.Start.Run), "the run's comment") == 0 {
		return nil
	}
	p.try("linking the pull request", err)
	return posted(&loop.Post{Linked: err == nil})
}

// iteration posts the comment of the newest iteration.
func (p *publisher) iteration(ctx context.Context, s loop.State) *loop.Post {
	number, last := shownOn(s), s.Last()
	if number == 0 || last == nil || last.N <= s.Post.Each {
		return nil
	}
	id := p.once(ctx, number, report.IterationComment(p.view(s), last.N), "the iteration's comment")
	if id == 0 {
		return nil
	}
	return &loop.Post{Each: last.N}
}

// failure posts the failure report of a run that a limit stopped: on the draft pull request, or without one on the
// issue. The issue's own line links it.
func (p *publisher) failure(ctx context.Context, s loop.State) *loop.Post {
	number := shownOn(s)
	if number == 0 || !s.End.Outcome.Limited() || s.Post.Failure != 0 {
		return nil
	}
	marker := report.Marker(fmt.Sprintf("%s.failure.%d", s.Start.Run, s.Retries))
	return posted(&loop.Post{Failure: p.once(ctx, number, marker+"\n"+p.mention(s)+report.Failure(p.view(s)),
		"the failure report")})
}

// relabel shows a standing on an issue, none for "", and removes other labels: those of another standing, and those over.
// labels are what the issue has where GitHub does not say. It returns the labels that it could not remove.
func (p *publisher) relabel(ctx context.Context, issue int, now string, labels []string, over func(string) bool) (left []string) {
	if now != "" {
		on, err := p.github.AddLabel(ctx, issue, p.rules.StatusLabel(now))
		p.try("changing labels", err)
		if err == nil {
			labels = on
		}
		p.running = err == nil && now == github.LabelRunning && p.shows(on, now)
	}
	for _, label := range labels {
		if strings.EqualFold(label, p.rules.StatusLabel(now)) || !over(label) && !outdated(p.rules, label, now) {
			continue
		}
		err := p.github.RemoveLabel(ctx, issue, label)
		p.try("taking the label "+label+" off", err)
		if err != nil {
			left = append(left, label)
		}
	}
	return left
}

// shows reports whether the labels include that of a standing.
func (p *publisher) shows(labels []string, standing string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, p.rules.StatusLabel(standing)) })
}

// outdated reports whether a label shows another standing than the one that is true now.
func outdated(rules event.Rules, label, now string) bool {
	return slices.ContainsFunc(github.StatusLabels,
		func(of string) bool { return of != now && strings.EqualFold(label, rules.StatusLabel(of)) })
}

// waitForUpdates lets no late write come after what is written now.
func (p *publisher) waitForUpdates() {
	if p.sticky.late != nil {
		p.sticky.late()
		p.sticky.late = nil
	}
}

func (p *publisher) try(doing string, err error) {
	if err != nil {
		if p.failed == nil || github.ErrAway(err) {
			p.failed = err
		}
		p.log("%s: %s", doing, strings.TrimSpace(err.Error()))
	}
}

// posted is a post worth recording; nil if nothing was written.
func posted(p *loop.Post) *loop.Post {
	if reflect.ValueOf(*p).IsZero() {
		return nil
	}
	return p
}

func join(a, b *loop.Post) *loop.Post {
	s := loop.State{Post: *a}.With(loop.Record{Type: loop.Posted, Post: b})
	return &s.Post
}

// shouldNotify reports whether the requester gets a notification of the latest outcome.
func (p *publisher) shouldNotify(s loop.State) bool {
	return slices.Contains(p.notifyOn, p.view(s).NotifyKind())
}

// mention is the start of a failure report that notifies the requester.
func (p *publisher) mention(s loop.State) string {
	if who := p.view(s).Mention(); who != "" && p.shouldNotify(s) {
		return who + "\n\n"
	}
	return ""
}

// find looks for a comment that an earlier process might have posted; 0: none.
func (p *publisher) find(ctx context.Context, number int, marker, what string) int64 {
	id, err := p.github.FindComment(ctx, number, marker)
	p.try("looking for "+what, err)
	return id
}

// once posts a comment that is not changed afterwards, unless an earlier process has. Its first line is its marker.
func (p *publisher) once(ctx context.Context, number int, body, what string) int64 {
	id, err := p.github.Comment(ctx, number, body, p.again)
	p.try("posting "+what, err)
	return id
}

// finish shows the outcome: the pull request, the comments, the check run, the answers to a review, the labels. Without
// a review it makes at most nine calls. Each of them may be made again: what a process that died in the middle, or a
// GitHub that said no, has left is made up for by the next sweep.
func (p *publisher) finish(ctx context.Context, s loop.State) *loop.Post {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waitForUpdates()
	p.failed = nil
	all := &loop.Post{}
	for _, step := range []func(context.Context, loop.State) *loop.Post{p.pull, p.refresh, p.failure, p.ending,
		p.link, p.checkRun, p.answers, p.endLabels} {
		if q := step(ctx, s); q != nil {
			all = join(all, q)
			s = s.With(loop.Record{Type: loop.Posted, At: s.At, Post: q})
		}
	}
	all.Finished = ctx.Err() == nil && p.failed == nil
	return posted(all)
}

// pull opens the pull request, or brings it up to date.
func (p *publisher) pull(ctx context.Context, s loop.State) *loop.Post {
	if s.Post.Pull != 0 {
		return p.update(ctx, s)
	}
	if s.Tip == "" || s.NoDiff() || s.End.ForPull { // that has just been tried
		return nil
	}
	done := s.End.Outcome == loop.Done
	made := p.open(ctx, s, !done)
	if made == nil || !done || !*made.Draft {
		return made
	}
	// an earlier process had opened a draft
	if q := p.update(ctx, s.With(loop.Record{Type: loop.Posted, At: s.At, Post: made})); q != nil {
		return join(made, q)
	}
	return made
}

// update brings the pull request up to date, and takes that of a run which is done out of draft. The state tells when
// it turns out closed.
func (p *publisher) update(ctx context.Context, s loop.State) *loop.Post {
	v := p.view(s)
	post, closed, draft := &loop.Post{}, false, false
	title := "" // a maintainer may have renamed it
	if len(s.AtCap()) > 0 {
		title = report.PullTitle(v)
	}
	var err error
	if s.End.Outcome == loop.Done && s.Post.Draft != nil && *s.Post.Draft && s.Post.PullNode != "" {
		if closed, err = p.github.FinishPull(ctx, s.Post.PullNode, title, report.PullBody(v)); err == nil {
			post.Draft = new(bool)
		}
	} else {
		closed, draft, err = p.github.EditPull(ctx, s.Post.Pull, title, report.PullBody(v))
	}
	if err == nil && draft && !closed && s.End.Outcome == loop.Done { // a person has made it one
		err = p.github.ReadyPull(ctx, s.Post.PullNode)
	}
	p.try("updating the pull request", err)
	if was := s.Post.Closed != nil && *s.Post.Closed; err == nil && closed != was {
		post.Closed = &closed
	}
	return posted(post)
}

// endLabels shows the outcome on the issue. What could not be taken off when the run began goes, and whatever an earlier
// process left.
func (p *publisher) endLabels(ctx context.Context, s loop.State) *loop.Post {
	if s.Start.Issue == 0 {
		return nil
	}
	labels := append(slices.Clone(p.left), p.rules.StatusLabel(github.LabelRunning))
	if p.again {
		labels = append(labels, p.labels...)
	}
	p.relabel(ctx, s.Start.Issue, endLabel(s), labels, func(label string) bool {
		return slices.Contains(p.left, label) ||
			p.again && strings.EqualFold(label, p.rules.TriggerLabel) && p.answered(ctx, s, label)
	})
	return nil
}

// answered reports whether a label that asks for a run was there before the run was last asked for: it asks for nothing
// more.
func (p *publisher) answered(ctx context.Context, s loop.State, label string) bool {
	_, at, err := p.github.LabelChanged(ctx, s.Start.Issue, event.Labeled, label)
	p.try("looking for who put the label "+label+" on", err)
	return err == nil && begunSince(s, at)
}

// begunSince reports whether a run was requested at a time or later.
func begunSince(s loop.State, at time.Time) bool {
	return !s.StartedAt.Before(at) || !s.ResumedAt.Before(at)
}

// endLabel is what the labels say of a run that has ended; "" nothing.
func endLabel(s loop.State) string {
	switch s.End.Outcome {
	case loop.Interrupted:
		return ""
	case loop.Done:
		if s.Post.Pull == 0 || s.Post.Closed != nil && *s.Post.Closed {
			return ""
		}
		return github.LabelReview
	case loop.Waiting:
		return github.LabelWaiting
	}
	return github.LabelFailed
}

// answers answers each thread of the review that the run continued for.
func (p *publisher) answers(ctx context.Context, s loop.State) *loop.Post {
	if s.Feedback == nil || s.Post.Pull == 0 || s.End.Outcome == loop.Interrupted || s.End.Outcome == loop.Waiting {
		return nil
	}
	var done []int64
	for _, remark := range s.Feedback.Items {
		if slices.Contains(s.Post.Answered, remark.ID) {
			continue
		}
		if _, err := p.github.Reply(ctx, s.Post.Pull, remark.ID, report.Answer(p.view(s), remark), p.again); err != nil {
			p.try("answering a review's thread", err)
			continue
		}
		done = append(done, remark.ID)
	}
	return posted(&loop.Post{Answered: done})
}
