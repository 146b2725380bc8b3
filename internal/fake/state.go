package fake

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Issue is an issue, or the issue side of a pull request.
type Issue struct {
	Number      int
	Title, Body string
	Author      string
	Labels      []string
	Closed      bool
	Pull        bool // reading only; AddPull makes one
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Comment is one comment on an issue or a pull request.
type Comment struct {
	ID        int64
	Author    string
	Body      string
	CreatedAt time.Time
	UpdatedAt time.Time
	Reactions []Reaction // reading only
}

// Reaction is one reaction: Content is GitHub's word for it, as in "eyes".
type Reaction struct {
	ID      int64
	User    string
	Content string
	At      time.Time
}

// LabelEvent is a label that was put on or, with Removed, taken off.
type LabelEvent struct {
	ID      int64
	Label   string
	Actor   string
	Removed bool
	At      time.Time
}

// Pull is a pull request.
type Pull struct {
	Number      int
	Title, Body string
	Author      string
	Head, Base  string // branches
	// HeadRepo is OWNER/NAME of the fork that the head is in; empty for the same repository.
	HeadRepo string
	Draft    bool
	State    string // open or closed
	Merged   bool
	NodeID   string
	URL      string // the page's
	Labels   []string
	// Requested and Requests are reading only: of whom a review is needed, and all requests, each of which told someone.
	Requested, Requests []string
}

type user struct {
	id    int64
	login string
	bot   bool
}

type repo struct {
	id            int64
	owner, name   string
	defaultBranch string
	gitDir        string
	issues        []*issue // issues and pull requests by number: issues[n-1]
	labels        []string
	permissions   map[string]string // role by lower login
	private       bool
	checkRuns     []*checkRun // oldest first
	suites        []*suite
	statuses      []*status // oldest first
	runs          []*run
	settings      repoSettings
	dispatches    []Dispatched
}

type issue struct {
	Issue
	id        int64
	editedAt  time.Time // zero when its text was never edited
	comments  []*comment
	reactions []Reaction
	events    []*LabelEvent
	movedTo   int // number of the issue that it was transferred to; 0: it was not
	pull      *pull
}

type comment struct {
	Comment
	issue    *issue
	editedAt time.Time // zero when its text was never edited
	editedBy string    // empty when never, and when the account is gone
}

// pull is what a pull request has besides its issue. Of Pull, it keeps what an issue has not.
type pull struct {
	Pull
	id       int64
	headSHA  string // last seen
	mergedBy string
	mergeSHA string
	reviews  []*Review
	threads  []*thread
}

func (r *repo) String() string { return r.owner + "/" + r.name }

func (r *repo) find(number int64) *issue {
	if number < 1 || number > int64(len(r.issues)) {
		return nil
	}
	return r.issues[number-1]
}

func (r *repo) findComment(id int64) *comment {
	for _, is := range r.issues {
		if c := first(is.comments, func(c *comment) bool { return c.ID == id }); c != nil {
			return c
		}
	}
	return nil
}

// first is the first of a list that is something, or nil.
func first[T any](list []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}

// must is what a test names: it panics if that does not exist.
func must[T any](v *T, format string, args ...any) *T {
	if v == nil {
		panic("fake: there is no " + fmt.Sprintf(format, args...))
	}
	return v
}

func (g *GitHub) mustComment(owner, name string, id int64) (*repo, *comment) {
	r := g.mustRepo(owner, name)
	return r, must(r.findComment(id), "comment %d in %s", id, r)
}

// mustRepo and mustIssue are for seeding and reading by tests. Callers hold the lock.
func (g *GitHub) mustRepo(owner, name string) *repo {
	return must(g.repos[strings.ToLower(owner+"/"+name)], "repository %s/%s", owner, name)
}

func (g *GitHub) mustIssue(owner, name string, number int) (*repo, *issue) {
	r := g.mustRepo(owner, name)
	return r, must(r.find(int64(number)), "issue or pull request %s/%s#%d", owner, name, number)
}

// Issue reads one issue, or the issue side of a pull request.
func (g *GitHub) Issue(owner, name string, number int) Issue {
	defer g.lock()()
	_, is := g.mustIssue(owner, name, number)
	return is.copy()
}

// Issues reads every issue and pull request, by number.
func (g *GitHub) Issues(owner, name string) []Issue {
	defer g.lock()()
	return each(g.mustRepo(owner, name).issues, (*issue).copy)
}

func (is *issue) copy() Issue {
	i := is.Issue
	i.Labels, i.Pull = slices.Clone(is.Labels), is.pull != nil
	return i
}

// Comments reads an issue's comments, oldest first, with their reactions.
func (g *GitHub) Comments(owner, name string, number int) []Comment {
	defer g.lock()()
	_, is := g.mustIssue(owner, name, number)
	return each(is.comments, func(c *comment) Comment { return c.Comment })
}

// Reactions reads the reactions to an issue itself, oldest first.
func (g *GitHub) Reactions(owner, name string, number int) []Reaction {
	defer g.lock()()
	_, is := g.mustIssue(owner, name, number)
	return slices.Clone(is.reactions)
}

// LabelEvents reads which labels were put on an issue and taken off, oldest first.
func (g *GitHub) LabelEvents(owner, name string, number int) []LabelEvent {
	defer g.lock()()
	_, is := g.mustIssue(owner, name, number)
	return each(is.events, value)
}

// RepoLabels reads the names of the labels that a repository knows.
func (g *GitHub) RepoLabels(owner, name string) []string {
	defer g.lock()()
	return slices.Clone(g.mustRepo(owner, name).labels)
}

// Pulls reads every pull request, by number.
func (g *GitHub) Pulls(owner, name string) []Pull {
	defer g.lock()()
	r := g.mustRepo(owner, name)
	pulls := those(r.issues, func(is *issue) bool { return is.pull != nil })
	return each(pulls, func(is *issue) Pull { return g.readPull(r, is) })
}

func (g *GitHub) readPull(r *repo, is *issue) Pull {
	p := is.pull.Pull
	p.Number, p.Title, p.Body, p.Author, p.State = is.Number, is.Title, is.Body, is.Author, state(is)
	p.NodeID, p.URL, p.Labels = pullNode(is), g.pullPage(r, is), slices.Clone(is.Labels)
	p.Requested, p.Requests = slices.Clone(p.Requested), slices.Clone(p.Requests)
	return p
}

func state(is *issue) string {
	if is.Closed {
		return "closed"
	}
	return "open"
}

// each is what a function makes of each of a list, which is not nil.
func each[T, U any](list []T, shape func(T) U) []U {
	all := make([]U, len(list))
	for i, one := range list {
		all[i] = shape(one)
	}
	return all
}

// those are the ones of a list that are something.
func those[T any](list []T, are func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), func(one T) bool { return !are(one) })
}

func value[T any](v *T) T { return *v }
