package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// What a run may spend before its first turn: twelve calls, of which up to six show that it has started. What is left
// goes to looking up the authors of comments, one call each and the newest first; comments by further authors are
// dropped and counted.
const (
	maxAuthors  = 3
	callsBefore = 12
	callsToShow = 6
)

// Gather reads everything that the decision and the task need, once, and completes the event with what its payload
// could not say: the issue of a dispatch. A permission that cannot be read is a fact too: Authorize refuses on it. The
// error is for reads without which nothing can be decided.
func (c *Client) Gather(ctx context.Context, ev event.Event) (event.Event, event.Facts, error) {
	g := &gathering{c, ev, event.Facts{Permissions: map[string]event.Permission{}}, nil}
	err := g.gather(ctx)
	return g.ev, g.facts, err
}

// gathering is what has been read of an event so far.
type gathering struct {
	*Client
	ev    event.Event
	facts event.Facts
	known map[string]string // permissions that were read before; nil: none were
}

func (g *gathering) gather(ctx context.Context) (err error) {
	ev := &g.ev
	if g.o.As != nil {
		g.known = g.o.As.Known
	}
	for login, level := range g.known {
		g.facts.Permissions[login] = event.Permission{Level: level}
	}
	if g.facts.Self, err = g.whoami(ctx); err != nil {
		return err
	}
	if ev.Repo.DefaultBranch == "" {
		if ev.Repo, err = g.repository(ctx); err != nil {
			return err
		}
	}
	if ev.Kind == event.Scheduled && ev.Issue == nil {
		return nil
	}
	if ev.Issue == nil && ev.Ask.Issue != 0 {
		if ev.Issue, err = g.Issue(ctx, ev.Ask.Issue); err != nil {
			return err
		}
	}
	if ev.Issue != nil && ev.Issue.Pull && !strings.HasPrefix(ev.Name, "pull_request") { // whose payload tells
		if ev.Issue.Fork, err = g.fork(ctx); err != nil {
			return err
		}
	}
	if err = g.reread(ctx); err != nil {
		return err
	}
	if ev.Kind == event.Labeled {
		if g.facts.Labeler = ev.Sender.Login; g.known == nil {
			// Unreadable leaves the labeler empty, on which Authorize refuses.
			g.facts.Labeler, _, _ = g.LabelChanged(ctx, ev.Issue.Number, event.Labeled, ev.Label)
		}
	}
	for _, login := range event.Identities(*ev, g.facts.Labeler) {
		g.permission(ctx, g.facts.Permissions, login)
	}
	if ev.Issue != nil {
		err = g.comments(ctx)
	}
	return err
}

// reread completes the issue that a label or a comment is on with its labels and its state as they are now: a job may
// have been queued for long. Its text stays what it was when someone asked. If GitHub does not answer, a comment counts
// with its payload, because it might be one that stops a run.
func (g *gathering) reread(ctx context.Context) error {
	if g.rereadLater || g.ev.Issue == nil || g.ev.Kind != event.Labeled && g.ev.Kind != event.Commented ||
		strings.HasPrefix(g.ev.Name, "pull_request_review") {
		return nil
	}
	now, err := g.Issue(ctx, g.ev.Issue.Number)
	if err != nil && g.ev.Kind == event.Labeled {
		return err
	}
	if err != nil {
		return nil //nolint:nilerr // said above
	}
	issue := *g.ev.Issue
	issue.Labels, issue.Closed = now.Labels, now.Closed
	g.ev.Issue = &issue
	g.facts.LabelOff = g.ev.Kind == event.Labeled &&
		!slices.ContainsFunc(now.Labels, func(l string) bool { return strings.EqualFold(l, g.ev.Label) })
	return nil
}

func (c *Client) repository(ctx context.Context) (event.Repo, error) {
	r, _, err := c.api.Repositories.Get(ctx, c.o.Repo.Owner, c.o.Repo.Name)
	if err != nil {
		return c.o.Repo, explain("reading the repository "+c.o.Repo.String(), err)
	}
	return repo(r), nil
}

var errTransferred = &github.ErrorResponse{Response: &http.Response{StatusCode: http.StatusGone}}

// Issue reads one issue or pull request as it is now.
func (c *Client) Issue(ctx context.Context, number int) (*event.Issue, error) {
	i, _, err := c.api.Issues.Get(ctx, c.o.Repo.Owner, c.o.Repo.Name, number)
	if err != nil {
		return nil, explain(fmt.Sprintf("reading issue #%d", number), err)
	}
	if i.GetNumber() != number { // GitHub leads to where it was transferred
		return nil, &failed{fmt.Sprintf("issue #%d was transferred to %s; ask there", number, oneLine(i.GetHTMLURL())), errTransferred}
	}
	return issue(i), nil
}

// File reads a file as a branch or a commit has it; ok is false if none exists. Only what GitHub sends in one piece is
// read: at most 1 MiB.
func (c *Client) File(ctx context.Context, ref, path string) (content []byte, ok bool, err error) {
	sha, text, err := c.content(ctx, ref, path)
	if err != nil || sha == "" {
		return nil, false, explain(fmt.Sprintf("reading %s of %s", path, cmp.Or(ref, c.o.Repo.String())), err)
	}
	return []byte(text), true, nil
}

// content is the id of a file and what it holds; both are empty if none exists.
func (c *Client) content(ctx context.Context, ref, path string) (sha, text string, err error) {
	file, _, _, err := c.api.Repositories.GetContents(ctx, c.o.Repo.Owner, c.o.Repo.Name, path,
		&github.RepositoryContentGetOptions{Ref: ref})
	switch {
	case ErrGone(err):
		return "", "", nil
	case err != nil:
		return "", "", err
	case file == nil || file.GetType() != "file":
		return "", "", &failed{text: "it is no file; move what is there away, or name another path"}
	case file.GetEncoding() == "none":
		return "", "", &failed{text: fmt.Sprintf("it has %d bytes, and GitHub sends at most 1048576", file.GetSize())}
	}
	text, err = file.GetContent()
	return file.GetSHA(), text, err
}

// fork reports whether a pull request's head is another repository; also true when that one is gone.
func (g *gathering) fork(ctx context.Context) (bool, error) {
	p, err := g.readPull(ctx, g.ev.Issue.Number)
	return p.GetHead().GetRepo().GetFullName() != p.GetBase().GetRepo().GetFullName(), err
}

// permission looks up one login and notes the answer, a failed lookup too. Bots have no permission to look up. A custom
// role needs no reading of its own: permission is what it inherits, role_name is what it is called.
func (c *Client) permission(ctx context.Context, known map[string]event.Permission, login string) event.Permission {
	key := strings.ToLower(login)
	if p, ok := known[key]; ok {
		return p
	}
	if strings.HasSuffix(key, "[bot]") {
		return event.Permission{}
	}
	if !plainLogin().MatchString(login) { // it would be read as a part of the address that is asked
		known[key] = event.Permission{Err: fmt.Errorf("%q is no login", login)}
		return known[key]
	}
	level, _, err := c.api.Repositories.GetPermissionLevel(ctx, c.o.Repo.Owner, c.o.Repo.Name, login)
	known[key] = event.Permission{Level: level.GetPermission(), Err: briefly(err)}
	if statusIs(err, http.StatusNotFound) { // GitHub knows no one of this name
		known[key] = event.Permission{Level: "none"}
	}
	return known[key]
}

// LabelChanged reads from the issue's event log who put the label on last, or took it off, and when.
func (c *Client) LabelChanged(ctx context.Context, number int, how event.Kind, label string) (login string, at time.Time,
	err error) {
	opts := &github.ListOptions{PerPage: 100}
	for {
		events, resp, err := c.api.Issues.ListIssueEvents(ctx, c.o.Repo.Owner, c.o.Repo.Name, number, opts)
		if err != nil {
			return "", time.Time{}, explain(fmt.Sprintf("reading the event log of issue #%d", number), err)
		}
		if opts.Page == 0 && resp.LastPage > 1 { // oldest first: the label is most likely on the last page
			opts.Page = resp.LastPage
			continue
		}
		for i := len(events) - 1; i >= 0; i-- {
			if e := events[i]; e.GetEvent() == string(how) && strings.EqualFold(e.GetLabel().GetName(), label) {
				return e.GetActor().GetLogin(), e.GetCreatedAt().Time, nil
			}
		}
		if opts.Page <= 1 {
			return "", time.Time{}, fmt.Errorf("the event log of issue #%d does not say who %s it %q", number, how, label)
		}
		opts.Page--
	}
}

// comments reads the newest comments of the issue and looks up those authors whose comments reach the agent when they
// may write.
func (g *gathering) comments(ctx context.Context) error {
	all, err := g.Comments(ctx, g.ev.Issue.Number)
	if err != nil {
		return err
	}
	left := min(maxAuthors, callsBefore-callsToShow-g.reserved-int(g.wire.sent.Load()))
	for i := len(all) - 1; i >= 0; i-- { // newest first, so that the budget goes to them
		login := all[i].Author.Login
		if _, known := g.facts.Permissions[strings.ToLower(login)]; !known && !all[i].Author.Bot &&
			!strings.EqualFold(login, g.facts.Self) && g.matters(login) {
			if left <= 0 {
				g.facts.Dropped++
				continue
			}
			left--
			g.permission(ctx, g.facts.Permissions, login)
		}
	}
	g.facts.Comments = all
	if said := g.ev.Comment; g.ev.Kind == event.Commented && said != nil && !said.Inline {
		g.facts.CommentGone = len(all) == 0 || !all[0].CreatedAt.After(said.CreatedAt) &&
			!slices.ContainsFunc(all, func(c event.Comment) bool { return c.ID == said.ID })
	}
	return nil
}

// matters reports whether it depends on someone's permission if a comment reaches the agent: not that of one who is
// named, nor anyone's when only the named ones count.
func (g *gathering) matters(login string) bool {
	return g.o.CommentsBy.Reads(login, true) != g.o.CommentsBy.Reads(login, false)
}

// enoughComments is how many of the newest comments are read at least, where there are so many.
const enoughComments = 20

// Comments reads the comments of an issue, oldest first: of a conversation of more than 100 only the newest, 20 at
// least and 119 at most.
func (c *Client) Comments(ctx context.Context, number int) ([]event.Comment, error) {
	opts := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	list, resp, err := c.api.Issues.ListComments(ctx, c.o.Repo.Owner, c.o.Repo.Name, number, opts)
	if err == nil && resp.LastPage > 1 {
		before := list
		opts.Page = resp.LastPage
		list, _, err = c.api.Issues.ListComments(ctx, c.o.Repo.Owner, c.o.Repo.Name, number, opts)
		if err == nil && len(list) < enoughComments {
			if opts.Page--; opts.Page > 1 {
				before, _, err = c.api.Issues.ListComments(ctx, c.o.Repo.Owner, c.o.Repo.Name, number, opts)
			}
			list = slices.Concat(before, list)
		}
	}
	return each(list, comment), explain(fmt.Sprintf("reading the comments of issue #%d", number), err)
}

// Queued lists the open issues that carry the label, oldest first, at most 100.
func (c *Client) Queued(ctx context.Context, label string) ([]event.Issue, error) {
	list, _, err := c.api.Issues.ListByRepo(ctx, c.o.Repo.Owner, c.o.Repo.Name, &github.IssueListByRepoOptions{
		Labels: []string{label}, State: "open", Sort: "created", Direction: "asc",
		ListOptions: github.ListOptions{PerPage: 100},
	})
	list = slices.DeleteFunc(list, func(i *github.Issue) bool { return i.IsPullRequest() })
	return each(list, func(i *github.Issue) event.Issue { return *issue(i) }), explain("listing the issues labeled "+label, err)
}

// Permission looks up what a login may do here.
func (c *Client) Permission(ctx context.Context, login string) event.Permission {
	return c.permission(ctx, map[string]event.Permission{}, login)
}
