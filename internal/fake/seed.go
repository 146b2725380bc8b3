package fake

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// AddRepo makes a public repository with an empty bare git repository behind it.
func (g *GitHub) AddRepo(owner, name, defaultBranch string) error {
	defer g.lock()()
	key := strings.ToLower(owner + "/" + name)
	if g.repos[key] != nil {
		return fmt.Errorf("%s/%s already exists", owner, name)
	}
	dir := filepath.Join(g.dir, owner, name+".git")
	if err := initBare(dir, defaultBranch); err != nil {
		return fmt.Errorf("making %s: %w", dir, err)
	}
	g.user(owner)
	g.repos[key] = &repo{
		id: g.id(), owner: owner, name: name, defaultBranch: defaultBranch, gitDir: dir,
		permissions: map[string]string{strings.ToLower(owner): "admin"},
		settings:    repoSettings{protections: map[string]Protection{}, rules: map[string][]string{}},
	}
	return nil
}

// GitDir is where a repository's bare git repository lies.
func (g *GitHub) GitDir(owner, name string) string {
	defer g.lock()()
	return g.mustRepo(owner, name).gitDir
}

// CloneURL is the address that git clones from, without credentials.
func (g *GitHub) CloneURL(owner, name string) string {
	return fmt.Sprintf("%s/%s/%s.git", g.url, owner, name)
}

// AddUser makes someone. A user who is named elsewhere without it is made as a person, or a bot when the login ends in
// [bot].
func (g *GitHub) AddUser(login string, bot bool) {
	defer g.lock()()
	g.user(login).bot = bot
}

// user finds or makes someone. Callers hold the lock.
func (g *GitHub) user(login string) *user {
	key := strings.ToLower(login)
	if g.users[key] == nil {
		g.users[key] = &user{id: g.id(), login: login, bot: strings.HasSuffix(key, "[bot]")}
	}
	return g.users[key]
}

// SetPermission gives login a role on a repository: admin, maintain, write, triage, read or none. Someone without one
// has read, as everyone has on a public repository; someone unknown is not a user at all.
func (g *GitHub) SetPermission(owner, name, login, role string) {
	if _, ok := legacy[role]; !ok {
		panic("fake: there is no role " + role)
	}
	defer g.lock()()
	g.user(login)
	g.mustRepo(owner, name).permissions[strings.ToLower(login)] = role
}

// AddIssue opens an issue and returns its number; a Number in it is ignored. Its author put its labels on.
func (g *GitHub) AddIssue(owner, name string, i Issue) int {
	defer g.lock()()
	r := g.mustRepo(owner, name)
	is := g.open(r, i)
	g.subjectHappened(r, is, "opened", is.Author)
	for _, label := range is.Labels {
		g.labelHappened(r, is, "labeled", label, is.Author)
	}
	return is.Number
}

// open adds an issue under the next number. Callers hold the lock.
func (g *GitHub) open(r *repo, i Issue) *issue {
	if i.Author == "" {
		i.Author = r.owner
	}
	i.CreatedAt = cmp.Or(i.CreatedAt, g.time())
	i.UpdatedAt = cmp.Or(i.UpdatedAt, i.CreatedAt)
	g.user(i.Author)
	labels := i.Labels
	i.Number, i.Labels, i.Pull = len(r.issues)+1, nil, false
	is := &issue{Issue: i, id: g.id()}
	r.issues = append(r.issues, is)
	for _, l := range labels { // who opens it reports them
		g.putLabel(r, is, l, i.Author)
	}
	is.UpdatedAt = i.UpdatedAt
	return is
}

// AddPull opens a pull request without asking git, also one from a fork, and returns its number. Its state is open
// unless it is given.
func (g *GitHub) AddPull(owner, name string, p Pull) int {
	defer g.lock()()
	r := g.mustRepo(owner, name)
	if p.Base == "" {
		p.Base = r.defaultBranch
	}
	is := g.open(r, Issue{Title: p.Title, Body: p.Body, Author: p.Author, Labels: p.Labels,
		Closed: p.State == "closed" || p.Merged})
	is.pull = &pull{Pull: p, id: g.id()}
	g.subjectHappened(r, is, "opened", is.Author)
	return is.Number
}

// CloseIssue closes an issue or a pull request.
func (g *GitHub) CloseIssue(owner, name string, number int) {
	defer g.lock()()
	r, is := g.mustIssue(owner, name, number)
	is.Closed, is.UpdatedAt = true, g.time()
	g.subjectHappened(r, is, "closed", r.owner)
}

// TransferIssue makes an issue lead to another one of the repository, which stands for one of another repository.
func (g *GitHub) TransferIssue(owner, name string, number, to int) {
	defer g.lock()()
	_, is := g.mustIssue(owner, name, number)
	is.movedTo = to
}

// EditIssue replaces an issue's title and body, as its author would.
func (g *GitHub) EditIssue(owner, name string, number int, title, body string) {
	defer g.lock()()
	r, is := g.mustIssue(owner, name, number)
	now, was := g.time(), is.Issue
	is.Title, is.Body, is.UpdatedAt, is.editedAt = title, body, now, now
	g.happened(r, "issues", is.Author, func() object { return g.editedEvent(r, is, was) })
}

// AddComment writes a comment and returns its id, which is its own when it has one. Times that are not given are now.
func (g *GitHub) AddComment(owner, name string, number int, c Comment) int64 {
	defer g.lock()()
	r, is := g.mustIssue(owner, name, number)
	return g.comment(r, is, c).ID
}

// comment adds a comment. Callers hold the lock.
func (g *GitHub) comment(r *repo, is *issue, c Comment) *comment {
	c.CreatedAt = cmp.Or(c.CreatedAt, g.time())
	c.UpdatedAt = cmp.Or(c.UpdatedAt, c.CreatedAt)
	g.user(c.Author)
	if c.Reactions = nil; c.ID == 0 {
		c.ID = g.id()
	}
	g.lastID = max(g.lastID, c.ID)
	added := &comment{Comment: c, issue: is}
	is.comments = append(is.comments, added)
	if c.UpdatedAt.After(is.UpdatedAt) {
		is.UpdatedAt = c.UpdatedAt
	}
	g.happened(r, "issue_comment", c.Author, func() object { return g.commentEvent(r, added, "created") })
	return added
}

// EditComment replaces a comment's body, as its author would.
func (g *GitHub) EditComment(owner, name string, id int64, body string) {
	defer g.lock()()
	_, c := g.mustComment(owner, name, id)
	g.edit(c, body, c.Author)
}

// EditCommentAs replaces a comment's body as someone else; empty: an account that is gone.
func (g *GitHub) EditCommentAs(owner, name string, id int64, body, by string) {
	defer g.lock()()
	_, c := g.mustComment(owner, name, id)
	g.edit(c, body, by)
}

func (g *GitHub) edit(c *comment, body, by string) {
	now := g.time()
	c.Body, c.UpdatedAt, c.editedAt, c.editedBy = body, now, now, by
}

// Label puts a label on an issue as actor, and records it in the issue's event log. A label that is on already stays,
// without an event.
func (g *GitHub) Label(owner, name string, number int, label, actor string) {
	defer g.lock()()
	r, is := g.mustIssue(owner, name, number)
	g.label(r, is, label, actor)
}

// Unlabel takes a label off again.
func (g *GitHub) Unlabel(owner, name string, number int, label, actor string) {
	defer g.lock()()
	r, is := g.mustIssue(owner, name, number)
	g.unlabel(r, is, label, actor)
}

func (g *GitHub) label(r *repo, is *issue, name, actor string) {
	if put := g.putLabel(r, is, name, actor); put != "" {
		g.labelHappened(r, is, "labeled", put, actor)
	}
}

// putLabel puts a label on without telling anyone; empty when it is on.
func (g *GitHub) putLabel(r *repo, is *issue, name, actor string) string {
	name = g.repoLabel(r, name)
	if slices.Contains(is.Labels, name) {
		return ""
	}
	g.user(actor)
	is.Labels, is.UpdatedAt = append(is.Labels, name), g.time()
	is.events = append(is.events, &LabelEvent{ID: g.id(), Label: name, Actor: actor, At: g.time()})
	return name
}

// unlabel reports whether the label was on. Callers hold the lock.
func (g *GitHub) unlabel(r *repo, is *issue, name, actor string) bool {
	i := slices.IndexFunc(is.Labels, func(l string) bool { return strings.EqualFold(l, name) })
	if i < 0 {
		return false
	}
	g.user(actor)
	taken := is.Labels[i]
	is.events = append(is.events, &LabelEvent{ID: g.id(), Label: taken, Actor: actor, Removed: true, At: g.time()})
	is.Labels, is.UpdatedAt = slices.Delete(slices.Clone(is.Labels), i, i+1), g.time()
	g.labelHappened(r, is, "unlabeled", taken, actor)
	return true
}

// repoLabel finds a label, or makes it as GitHub does when an unknown one is put on. Callers hold the lock.
func (g *GitHub) repoLabel(r *repo, name string) string {
	for _, known := range r.labels {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	r.labels = append(r.labels, name)
	return name
}
