package fake

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

func (g *GitHub) listReviews(r *request) answer {
	is := found(g.findPull(r))
	return page(g, r, is.pull.reviews, func(v *Review) object { return g.reviewShape(r.repo, is, v) })
}

func (g *GitHub) getReview(r *request) answer {
	is := found(g.findPull(r))
	v := found(first(is.pull.reviews, func(v *Review) bool { return v.ID == r.number("id") }))
	return ok(g.reviewShape(r.repo, is, v))
}

// listPullComments lists newest first: ralph asks for that.
func (g *GitHub) listPullComments(r *request) answer {
	is := found(g.findPull(r))
	all := is.pull.reviewComments()
	slices.Reverse(all)
	if r.query.Get("sort") != "created" || r.query.Get("direction") != "desc" {
		r.problems = append(r.problems, "the double lists comments on lines only with sort=created&direction=desc")
	}
	return page(g, r, all, func(c *reviewComment) object { return g.reviewCommentShape(r.repo, is, c) })
}

// findReviewComment finds one in the whole repository: its address names no pull request.
func (r *repo) findReviewComment(id int64) (*issue, *reviewComment) {
	for _, is := range r.issues {
		if is.pull == nil {
			continue
		}
		if c := first(is.pull.reviewComments(), func(c *reviewComment) bool { return c.ID == id }); c != nil {
			return is, c
		}
	}
	return nil, nil
}

func (g *GitHub) getReviewComment(r *request) answer {
	is, c := r.repo.findReviewComment(r.number("id"))
	return ok(g.reviewCommentShape(r.repo, is, found(c)))
}

// replyToReviewComment answers in a thread. Only the thread's first comment can be replied to: any other is not found.
func (g *GitHub) replyToReviewComment(r *request) answer {
	is := found(g.findPull(r))
	in, c := r.repo.findReviewComment(r.number("id"))
	if c == nil || in != is || c.InReplyTo != 0 {
		return notFound()
	}
	body := r.textOf("PullRequestReviewComment")
	added := g.reviewComment(r.repo, is, ReviewComment{Author: r.token.Login, Body: body, InReplyTo: c.ID})
	return created(g.reviewCommentShape(r.repo, is, added))
}

func (g *GitHub) reactToReviewComment(r *request) answer {
	_, c := r.repo.findReviewComment(r.number("id"))
	return g.react(r, &found(c).Reactions)
}

// Review is one review of a pull request.
type Review struct {
	ID     int64 // reading only
	Author string
	// State is GitHub's word: APPROVED, CHANGES_REQUESTED, COMMENTED (when it is not given), DISMISSED or PENDING.
	State    string
	Body     string
	Commit   string          // the head that was reviewed; the pull request's when it is not given
	Comments []ReviewComment // each begins a thread
	At       time.Time
}

// ReviewComment is one comment on a line of a pull request: a thread's first one, or a reply.
type ReviewComment struct {
	ID       int64 // reading only
	ReviewID int64 // reading only; GitHub puts every comment, replies too, into some review
	Author   string
	Path     string // of the thread; ignored in a reply
	Line     int    // of the thread, in the file as the pull request leaves it; ignored in a reply
	Body     string
	// InReplyTo is the thread's first comment, or any other one of it when seeding; 0 begins a thread.
	InReplyTo int64
	CreatedAt time.Time
	UpdatedAt time.Time
	Reactions []Reaction // reading only
}

type thread struct {
	path               string
	line               int
	resolved, outdated bool
	comments           []*reviewComment // oldest first
}

type reviewComment struct {
	ReviewComment
	thread   *thread
	editedAt time.Time // zero when its text was never edited
}

// reviewComments are those of all threads in the order in which they were written.
func (p *pull) reviewComments() []*reviewComment {
	var all []*reviewComment
	for _, th := range p.threads {
		all = append(all, th.comments...)
	}
	slices.SortFunc(all, func(a, b *reviewComment) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// mustPull is for seeding and reading by tests. Callers hold the lock.
func (g *GitHub) mustPull(owner, name string, number int) (*repo, *issue) {
	r, is := g.mustIssue(owner, name, number)
	if is.pull == nil {
		panic(fmt.Sprintf("fake: %s#%d is no pull request", r, number))
	}
	return r, is
}

// AddReview submits a review with its comments and returns its id.
func (g *GitHub) AddReview(owner, name string, pull int, v Review) int64 {
	defer g.lock()()
	r, is := g.mustPull(owner, name, pull)
	added := g.review(r, is, v)
	for _, c := range v.Comments {
		c.Author = cmp.Or(c.Author, v.Author)
		g.reviewCommentIn(r, is, added, c)
	}
	g.happened(r, "pull_request_review", added.Author, func() object { return g.reviewEvent(r, is, added) })
	return added.ID
}

// review adds a review without its comments. Callers hold the lock.
func (g *GitHub) review(r *repo, is *issue, v Review) *Review {
	g.user(v.Author)
	v.ID, v.Comments = g.id(), nil
	v.State, v.Commit = cmp.Or(v.State, "COMMENTED"), cmp.Or(v.Commit, g.headSHA(r, is))
	v.At = cmp.Or(v.At, g.time())
	added := &v
	is.pull.reviews = append(is.pull.reviews, added)
	is.pull.Requested = slices.DeleteFunc(is.pull.Requested, func(l string) bool { return strings.EqualFold(l, v.Author) })
	is.UpdatedAt = g.time()
	return added
}

// AddReviewComment writes a comment on a line or a reply, with a review of its own around it as GitHub makes it, and
// returns its id.
func (g *GitHub) AddReviewComment(owner, name string, pull int, c ReviewComment) int64 {
	defer g.lock()()
	r, is := g.mustPull(owner, name, pull)
	return g.reviewComment(r, is, c).ID
}

func (g *GitHub) reviewComment(r *repo, is *issue, c ReviewComment) *reviewComment {
	return g.reviewCommentIn(r, is, g.review(r, is, Review{Author: c.Author, At: c.CreatedAt}), c)
}

// reviewCommentIn adds a comment to its thread, or starts one. Callers hold the lock.
func (g *GitHub) reviewCommentIn(r *repo, is *issue, v *Review, c ReviewComment) *reviewComment {
	c.CreatedAt = cmp.Or(c.CreatedAt, g.time())
	c.UpdatedAt = cmp.Or(c.UpdatedAt, c.CreatedAt)
	g.user(c.Author)
	th := &thread{path: c.Path, line: c.Line}
	if c.InReplyTo != 0 {
		_, parent := r.findReviewComment(c.InReplyTo)
		th = must(parent, "review comment %d in %s", c.InReplyTo, r).thread
		c.InReplyTo, c.Path, c.Line = th.comments[0].ID, th.path, th.line
	} else {
		is.pull.threads = append(is.pull.threads, th)
	}
	c.ID, c.ReviewID, c.Reactions = g.id(), v.ID, nil
	added := &reviewComment{ReviewComment: c, thread: th}
	th.comments = append(th.comments, added)
	is.UpdatedAt = g.time()
	return added
}

// ResolveThread marks the thread of a comment as resolved, or opens it again.
func (g *GitHub) ResolveThread(owner, name string, commentID int64, resolved bool) {
	defer g.lock()()
	g.mustReviewComment(owner, name, commentID).thread.resolved = resolved
}

// OutdateThread marks the thread of a comment as one whose line was changed since.
func (g *GitHub) OutdateThread(owner, name string, commentID int64) {
	defer g.lock()()
	g.mustReviewComment(owner, name, commentID).thread.outdated = true
}

// EditReviewComment replaces the text of a comment, as its author would.
func (g *GitHub) EditReviewComment(owner, name string, commentID int64, body string) {
	defer g.lock()()
	c := g.mustReviewComment(owner, name, commentID)
	c.Body, c.UpdatedAt, c.editedAt = body, g.time(), g.time()
}

func (g *GitHub) mustReviewComment(owner, name string, id int64) *reviewComment {
	r := g.mustRepo(owner, name)
	_, c := r.findReviewComment(id)
	return must(c, "review comment %d in %s", id, r)
}

// ReviewComments reads the comments of every thread of a pull request, replies too, oldest first.
func (g *GitHub) ReviewComments(owner, name string, pull int) []ReviewComment {
	defer g.lock()()
	_, is := g.mustPull(owner, name, pull)
	return each(is.pull.reviewComments(), func(c *reviewComment) ReviewComment { return c.ReviewComment })
}
