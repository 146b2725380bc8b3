package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/task"
)

// Local is ralph on a laptop: the same run in the clone at Dir, without a write to GitHub.
type Local struct {
	Env    config.Environment
	Parent []string
	Dir    string // the current directory
	Out    io.Writer
	Clock  func() time.Time

	Issue  string // a file, or an issue's number
	Fresh  bool
	Resume bool
	// Flags is the layer of settings that the command line makes.
	Flags config.Layer

	redact func(string) string
}

// stateFile is the view of the journal that people and agents read (S0-10, C7).
const stateFile = ".ralph_state.md"

// Run takes the issue to its outcome.
func (l *Local) Run(ctx context.Context) (loop.Result, error) {
	l.redact = report.Redactor(l.Env.Secrets())
	_ = proc.HideSelf() // where it does not work, the agent is as trusted as the person at the keyboard
	from := l.Dir       // the issue's file is named from here; all else is at the top of the clone
	if top, err := git.Top(ctx, l.Dir, l.Parent); err == nil {
		l.Dir = top
	}
	settings, err := l.settings()
	if err != nil {
		return loop.Result{Outcome: loop.Invalid}, err
	}
	wanted, err := l.task(ctx, from)
	if err != nil {
		return loop.Result{Outcome: loop.Invalid}, err
	}
	work, err := l.open(ctx, settings, wanted)
	if err != nil {
		var held *journal.HeldError
		if errors.As(err, &held) {
			return loop.Result{Outcome: loop.Failed}, err
		}
		return loop.Result{Outcome: loop.Invalid}, err
	}
	defer work.close()

	result := drive(ctx, work.shop, work.ledger, work.words)
	if result.Outcome == loop.Invalid && len(result.State.Iterations) == 0 { // nothing has happened that is worth keeping
		return result, errors.Join(&invalidError{errors.New(result.Reason)}, work.shop.tree.Retreat(ctx), os.RemoveAll(work.shop.dir))
	}

	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	result, err = conclude(late, work.shop, work.ledger, l.view, result)
	return result, errors.Join(err, l.finish(work, result))
}

func (l *Local) settings() (config.Settings, error) {
	var layers []config.Layer
	for _, name := range []string{config.SettingsFile, config.LocalSettingsFile} {
		content, err := os.ReadFile(filepath.Join(l.Dir, name)) //nolint:gosec // the user's own settings
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return config.Settings{}, invalid("reading %s: %w", name, err)
		}
		layers = append(layers, config.Layer{Name: name, JSON: content})
	}
	return config.Load(append(layers, l.Flags)...)
}

// task reads the issue: a file, or by its number from GitHub.
func (l *Local) task(ctx context.Context, from string) (task.Task, error) {
	if number, err := strconv.Atoi(strings.TrimPrefix(l.Issue, "#")); err == nil && number > 0 {
		return l.fromGitHub(ctx, number)
	}
	name := l.Issue
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	content, err := os.ReadFile(name) //nolint:gosec // the user names it
	if err != nil {
		return task.Task{}, invalid("flag --issue is %q: %w; allowed are a file that says what is wanted, and an issue's number", l.Issue, err)
	}
	t, err := task.FromFile(l.Issue, string(content))
	if err != nil {
		return t, &invalidError{err}
	}
	return t, nil
}

func (l *Local) fromGitHub(ctx context.Context, number int) (task.Task, error) {
	repo, err := l.repository(ctx)
	if err != nil {
		return task.Task{}, err
	}
	hub, err := github.New(ctx, github.Options{APIURL: l.Env.APIURL, GraphQLURL: l.Env.GraphQLURL, Repo: repo, Token: l.Env.Token, DryRun: true, Log: l.log})
	if err != nil {
		return task.Task{}, invalid("reading issue #%d needs a token: set GITHUB_TOKEN in the environment", number)
	}
	issue, err := hub.Issue(ctx, number)
	if err != nil {
		return task.Task{}, &invalidError{err}
	}
	// You ask for what stands there now; what others wrote in comments is left out.
	t, err := task.From(event.Request{Event: event.Event{Kind: event.Dispatched, Repo: repo, Issue: issue, At: l.Clock()}}, event.Facts{})
	if err != nil {
		return t, &invalidError{err}
	}
	return t, nil
}

// repository is where the clone came from.
func (l *Local) repository(ctx context.Context) (event.Repo, error) {
	if owner, name, ok := strings.Cut(l.Env.Repository, "/"); ok {
		return event.Repo{Owner: owner, Name: name}, nil
	}
	remote, err := git.RemoteURL(ctx, l.Dir, l.Parent)
	if err != nil {
		return event.Repo{}, &invalidError{err}
	}
	path := remote
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		path = u.Path
	} else if _, after, ok := strings.Cut(remote, ":"); ok { // git@host:owner/name.git
		path = after
	}
	parts := strings.Split(strings.Trim(strings.TrimSuffix(path, ".git"), "/"), "/")
	if len(parts) < 2 || remote == "" {
		return event.Repo{}, invalid("which repository the issue is in cannot be told from the remote %q; set GITHUB_REPOSITORY=owner/name, or give --issue a file", remote)
	}
	return event.Repo{Owner: parts[len(parts)-2], Name: parts[len(parts)-1]}, nil
}

// open opens the clone, finds the run or begins one, and holds it.
func (l *Local) open(ctx context.Context, settings config.Settings, t task.Task) (work *opened, err error) {
	work = &opened{}
	defer func() {
		if err != nil {
			work.close()
		}
	}()
	before, dir, err := l.newest(t.ID)
	if err != nil {
		return work, err
	}
	way, why := l.takeUp(before, dir != "", t)
	if way == loop.Nothing {
		return work, invalid("%s", why)
	}
	tree, err := git.Open(ctx, l.Dir, git.Options{
		Env: l.Parent, Identity: git.Identity{Name: "ralph", Email: "ralph@localhost"}, Task: t.ID,
		Fresh: way == loop.Begin && dir != "", Resume: way != loop.Begin, Log: l.log, Secrets: l.Env.Secrets(),
	}, "ralph/"+t.ID, "")
	if err != nil {
		return work, &invalidError{err}
	}
	work.cleanup = append(work.cleanup, func() { _ = tree.Close() })
	if way == loop.Begin && dir != "" {
		if err := tree.Archive(ctx); err != nil {
			l.log("archiving old failure branches: %v", err)
		}
	}
	shop := &workshop{
		tree: tree, settings: settings, parent: l.Parent, host: "localhost", console: redacting{l.Out, l.redact}, clock: l.Clock, log: l.log, redact: l.redact,
		logs: filepath.Join(l.Dir, ".ralph"), keys: l.keys(),
	}
	if err := shop.guard(ctx, tree.Base()); err != nil {
		return work, err
	}
	if _, _, err := shop.agents(nil); err != nil {
		return work, err
	}
	unlock, err := journal.Lock(l.Dir)
	if err != nil {
		return work, err
	}
	work.cleanup = append(work.cleanup, unlock)
	l.log("%s: %s", way, why)
	work.shop, work.words = shop, shop.words(t.Comments)
	return work, l.hold(ctx, work, way, dir, t)
}

func (l *Local) keys() map[string]string {
	return oneKey([]string{"ANTHROPIC_API_KEY", l.Env.AnthropicAPIKey, "CLAUDE_CODE_OAUTH_TOKEN", l.Env.ClaudeCodeOAuthToken})
}

// hold records the beginning and puts the worktree where the run stands.
func (l *Local) hold(ctx context.Context, work *opened, way loop.Way, dir string, t task.Task) error {
	shop := work.shop
	run := newRun(l.Clock())
	if way != loop.Begin {
		run = filepath.Base(dir)
	}
	shop.dir = filepath.Join(l.Dir, ".ralph", "runs", run)
	book, err := journal.Open(shop.dir)
	if err != nil {
		return err
	}
	work.cleanup = append(work.cleanup, func() { _ = book.Close() })
	work.ledger = &ledger{journal: book, tree: shop.tree, clock: l.Clock, watch: l.watch, redact: l.redact}
	record := loop.Record{Type: loop.Started, At: l.Clock(), Start: shop.start(run, t)}
	if way == loop.Begin {
		record.Start.Owner = fmt.Sprintf("process %d", os.Getpid())
	} else {
		if err := shop.tree.UseBase(ctx, book.State().Start.Base); err != nil {
			return &invalidError{err}
		}
		record = loop.Record{Type: loop.Resumed, At: l.Clock(), Resume: &loop.Resume{
			Owner: fmt.Sprintf("process %d", os.Getpid()), Retry: way == loop.Again,
		}}
		if way == loop.Again {
			record.Resume.MaxIterations = shop.settings.Iterations(config.TaskIterations)
		}
	}
	if err := shop.tree.Start(ctx); err != nil {
		return &invalidError{err}
	}
	_, err = work.ledger.Append(ctx, record)
	return err
}

// newest finds the newest run of a task in the clone; dir is empty when there is none.
func (l *Local) newest(id string) (s loop.State, dir string, err error) {
	runs := filepath.Join(l.Dir, ".ralph", "runs")
	entries, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, "", fmt.Errorf("looking for earlier runs: %w", err)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() > entries[j].Name() })
	for _, e := range entries {
		file, err := os.Open(filepath.Join(runs, e.Name(), journal.File)) //nolint:gosec // our own directory
		if err != nil {
			continue
		}
		records, _, err := journal.Read(file)
		_ = file.Close()
		if err != nil {
			l.log("the run %s is passed over: %v", e.Name(), err)
			continue
		}
		if s := loop.Fold(records); s.Start.Task == id {
			return s, filepath.Join(runs, e.Name()), nil
		}
	}
	return loop.State{}, "", nil
}

// takeUp resumes an unfinished run when the task is unchanged, else begins afresh; the flags decide otherwise (C15).
func (l *Local) takeUp(before loop.State, known bool, t task.Task) (loop.Way, string) {
	asked := loop.Asked{Retry: l.Resume, Fresh: l.Fresh}
	if known && !l.Resume && (before.Start.Spec != t.Spec || before.Start.Title != t.Title) {
		asked.Fresh = true
	}
	before.Lease = time.Time{} // the lock file keeps processes of one machine apart
	return loop.TakeUp(before, known, asked, l.Clock())
}

// watch keeps the state file a view of the journal.
func (l *Local) watch(_ context.Context, r loop.Record, s loop.State) *loop.Post {
	if r.Type == loop.Judged || r.Type == loop.Ended {
		if err := writeFile(filepath.Join(l.Dir, stateFile), []byte(report.StateFile(l.view(s)))); err != nil {
			l.log("writing %s: %v", stateFile, err)
		}
	}
	return nil
}

// finish writes the reports and clears up (S0-63…S0-65).
func (l *Local) finish(work *opened, result loop.Result) error {
	v := l.view(result.State)
	file, err := writeReports(work.shop.dir, v)
	if result.Outcome == loop.Done {
		_ = os.Remove(filepath.Join(l.Dir, stateFile))
		l.log("SUCCESS: %s completed in %d iterations", result.State.Start.Task, len(result.State.Iterations))
	} else if result.Outcome.Limited() {
		l.log("CAP HIT: %s failed after %d attempts (%s)", result.State.Start.Task, len(result.State.Iterations), result.Reason)
		if end := result.State.End; end != nil {
			l.log("the work is on %s", end.FailureBranch)
		}
	} else {
		l.log("%s: %s", result.Outcome, result.Reason)
	}
	l.log("report: %s", file)
	return err
}

func (l *Local) view(s loop.State) report.View {
	return report.View{State: s, Now: l.Clock(), Redact: l.redact, Phrase: "/ralph"}
}

func (l *Local) log(format string, args ...any) {
	_, _ = fmt.Fprintln(l.Out, l.redact(fmt.Sprintf(format, args...)))
}

// writeFile replaces a file in one step, and never writes through a link that somebody left in its place.
func writeFile(name string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if err := errors.Join(err, temp.Chmod(0o644), temp.Close()); err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	return os.Rename(temp.Name(), name)
}
