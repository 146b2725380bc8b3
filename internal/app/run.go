package app

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/task"
)

// Local is ralph on a laptop: the same run as in a job, in the clone at Dir, without a write to GitHub.
type Local struct {
	Seat
	Issue string // a file, or an issue's number
	Task  string // a task file, or the id of one under .ralph/tasks
	Plan  string // the directory of a plan
	// Criteria are those of the flags; nil: none.
	Criteria *task.Completion
	// Accept names paths, shared with the checks, whose changes in the run are accepted; "all" names every one.
	Accept []string
	// AllowDirty lets the run begin in a clone whose tracked files are modified: it leaves them alone.
	AllowDirty bool

	stands *footing          // of a list: what the run begins from; nil: the run finds out
	locked bool              // whoever runs a list of tasks holds the lock
	one    *task.Task        // of a list: the task
	given  *given            // of a list: what was read before its first task
	source planSource        // of a plan: as it lies in the clone
	stored func(loop.Record) // see ledger
}

// stateFile is the view of the journal that people and agents read (S0-10, C7).
const stateFile = ".ralph_state.md"

// Run takes the issue to its outcome. When ctx is done it begins nothing new, when hard is done it stops what runs (C11).
func (l *Local) Run(ctx, hard context.Context) (loop.Result, error) {
	l.sit()
	from := l.Dir // the issue's file is named from here; all else is at the top of the clone
	if top, err := git.Top(ctx, l.Dir, l.Parent); err == nil {
		l.Dir = top
	}
	_, work, err := openRun(ctx, &cloneOpening{Local: l, from: from})
	defer work.close()
	if all := new(completeError); errors.As(err, &all) {
		l.log("%s", all.reason)
		return loop.Result{Outcome: loop.Done, Reason: all.reason, State: loop.State{Plan: &l.source.plan}}, nil
	}
	if err != nil {
		return loop.Result{Outcome: outcomeOf(err)}, files.Advise(err)
	}

	result := drive(ctx, hard, work.shop, work.ledger, work.words)
	if result.Outcome == loop.Invalid && len(result.State.Iterations) == 0 { // nothing has happened that is worth keeping
		return result, errors.Join(invalid.Mark(errors.New(result.Reason)), work.shop.tree.Retreat(ctx), work.ledger.journal.Discard())
	}

	late, cancel := afterStop(ctx, hard, 2*time.Minute)
	defer cancel()
	result, err = conclude(late, work.shop, work.ledger, l.view, result)
	if err != nil { // where the journal cannot be written, the reports beside it had better not be
		return result, err
	}
	l.keepRecord(late, work)
	return result, errors.Join(l.leave(late, work.shop.tree, result), l.finish(late, work, result))
}

// leave puts the clone back where it stood when the run has come to nothing: who reads and works there goes on with what they had. When it is done, or
// goes on later, the clone stays on its branch. A plan's does in any case: where it stands is in its file there. Between the tasks of a list the clone
// is back in any case.
func (l *Local) leave(ctx context.Context, tree *git.Tree, result loop.Result) error {
	came, stood := tree.Came(), strings.TrimPrefix(tree.Came(), "refs/heads/")
	if came == "refs/heads/"+tree.Branch() {
		return nil
	}
	nothing := result.Outcome.Limited() || result.Outcome == loop.Failed || l.one != nil && result.Outcome == loop.Done
	if nothing && result.State.Plan == nil && result.State.Settled() {
		err := tree.Return(ctx)
		if err == nil && l.one == nil {
			l.log("the clone stands on %s again, as before the run", stood)
		}
		return err
	}
	if l.one == nil {
		l.log("the clone stands on %s now; %s takes it back to where it was", tree.Branch(), wayBack(came))
	}
	return nil
}

// wayBack is the command that takes a clone to where it stood.
func wayBack(came string) string {
	if branch, ok := strings.CutPrefix(came, "refs/heads/"); ok {
		return "git switch " + hook.Quote(branch)
	}
	return "git switch --detach " + came
}

// given is what a run takes from the directory's files, once, before the first turn of an agent (C29).
type given struct {
	settings config.Settings
	prompts  prompt.Set
}

func (l *Local) read() (given, error) {
	if l.given != nil {
		return *l.given, nil
	}
	settings, err := l.settings()
	if err != nil {
		return given{}, err
	}
	prompts, err := promptsIn(l.Dir)
	return given{settings, prompts}, err
}

// trusted reports whether the task's text is the user's own, not one of GitHub's that a stranger can have written.
func (l *Local) trusted(t task.Task) bool { return t.Issue == 0 }

// task reads what is wanted: a task file, an issue's file, or an issue by its number from GitHub.
func (l *Local) task(ctx context.Context, from string) (task.Task, error) {
	switch {
	case l.one != nil:
		return *l.one, nil
	case l.Task != "":
		return taskFile(l.Dir, from, l.Task)
	case l.Plan != "":
		return l.planTask(ctx, from)
	}
	if number, err := strconv.Atoi(strings.TrimPrefix(l.Issue, "#")); err == nil && number > 0 {
		return l.fromGitHub(ctx, number)
	}
	name := l.Issue
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	content, err := os.ReadFile(name) // the user names it
	if err != nil {
		return task.Task{}, invalid.Errorf("flag --issue is %q: %w; allowed are a file that says what is wanted, and an issue's number", l.Issue, err)
	}
	t, err := task.FromFile(l.Issue, string(content))
	if err != nil {
		return t, invalid.Mark(err)
	}
	return t, nil
}

func (s *Seat) fromGitHub(ctx context.Context, number int) (task.Task, error) {
	repo, err := s.repository(ctx)
	if err != nil {
		return task.Task{}, err
	}
	hub, err := github.New(ctx, github.Options{APIURL: s.Env.APIURL, GraphQLURL: s.Env.GraphQLURL, Repo: repo, Token: s.Env.Token, DryRun: true, Log: s.log})
	if err != nil {
		return task.Task{}, invalid.Errorf("reading issue #%d needs a token: set GITHUB_TOKEN in the environment", number)
	}
	issue, err := hub.Issue(ctx, number)
	if err != nil {
		return task.Task{}, invalid.Mark(err)
	}
	// You ask for what stands there now; what others wrote in comments is left out.
	t, err := task.From(event.Request{Event: event.Event{Kind: event.Dispatched, Repo: repo, Issue: issue, At: s.Clock()}}, event.Facts{})
	if err != nil {
		return t, invalid.Mark(err)
	}
	return t, nil
}

// repository is where the clone came from.
func (s *Seat) repository(ctx context.Context) (event.Repo, error) {
	if owner, name, ok := strings.Cut(s.Env.Repository, "/"); ok {
		return event.Repo{Owner: owner, Name: name}, nil
	}
	remote, err := git.RemoteURL(ctx, s.Dir, s.Parent)
	if err != nil {
		return event.Repo{}, invalid.Errorf("%w; change into a clone of the issue's repository", err)
	}
	path := remote
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		path = u.Path
	} else if _, after, ok := strings.Cut(remote, ":"); ok { // git@host:owner/name.git
		path = after
	}
	parts := strings.Split(strings.Trim(strings.TrimSuffix(path, ".git"), "/"), "/")
	if len(parts) < 2 || remote == "" {
		return event.Repo{}, invalid.Errorf("which repository the issue is in cannot be told from the remote %q; set GITHUB_REPOSITORY=owner/name, or give --issue a file", remote)
	}
	return event.Repo{Owner: parts[len(parts)-2], Name: parts[len(parts)-1]}, nil
}

// watch keeps the state file a view of the journal.
func (l *Local) watch(_ context.Context, r loop.Record, s loop.State) *loop.Post {
	if r.Type == loop.Judged || r.Type == loop.Ended {
		if err := files.Replace(filepath.Join(l.Dir, stateFile), []byte(report.StateFile(l.view(s)))); err != nil {
			l.log("writing %s: %v", stateFile, err)
		}
	}
	return nil
}

// finish writes the reports and clears up (S0-63…S0-65).
func (l *Local) finish(ctx context.Context, work *opened, result loop.Result) error {
	v := l.view(result.State)
	file, err := writeReports(work.shop.dir, work.shop.detail(ctx, v, work.ledger.journal.Bytes()))
	if result.Outcome == loop.Done {
		_ = os.Remove(filepath.Join(l.Dir, stateFile))
	}
	l.ending(v, result)
	if names := result.State.JudgedWith(); len(names) > 0 {
		l.log("judged with your %s, which no commit has", strings.Join(names, ", "))
	}
	if names := result.State.Start.LeftOut; len(names) > 0 {
		l.log("not in the commits, and unseen by the checks: what you have modified in %s", report.Few(names))
	}
	l.log("report: %s", file)
	return err
}
