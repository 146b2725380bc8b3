package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// GitHubInit puts into a repository on GitHub what ralph needs there: its labels, and by a pull request its workflow.
// Done twice, it is as done once.
type GitHubInit struct {
	session.Session
	Repo string    // the flag --repo
	In   io.Reader // a terminal; nil: no one is asked, and everything is done

	place  session.GitHub
	hub    *github.Client
	redact func(string) string
	onto   string // the default branch
}

// initBranch is the branch of the pull request that adds the workflow.
const initBranch = "ralph/init"

// The pull request that adds the workflow.
const (
	initTitle = "Add the workflow that runs ralph"
	initBody  = "This adds `" + config.WorkflowFile +
		"`, as `ralph init --github` proposes it. Once it is merged, the label `ralph` on an issue, or a comment " +
		"that begins with `/ralph`, by someone with write access starts a run.\n\nThe workflow takes the key of the agent " +
		"from the repository's secrets: " +
		"`ANTHROPIC_API_KEY` or `CLAUDE_CODE_OAUTH_TOKEN`. Another agent, limits and checks go into `.ralph/settings.json`.\n"
)

// ErrUndone is that something could not be done; what and why is said already.
var ErrUndone = invalid.AsReported(errors.New("not everything could be done"))

// deed is one thing to do.
type deed struct {
	does string // "make the label ralph:plan"
	do   func(context.Context) (done string, err error)
}

// Run shows what it would do, asks, does it, and says what is left for the person. ErrAborted is that the answer did
// not come, ErrUndone that something could not be done; anything else is an error that kept it from beginning.
func (i *GitHubInit) Run(ctx context.Context) error {
	found, err := i.look(ctx)
	if err != nil {
		return err
	}
	deeds, notes, err := i.deeds(ctx, found)
	if err != nil {
		return err
	}
	i.say("%s/%s\n", i.place.Page, i.place.Repo)
	for _, note := range notes {
		i.say("%s", note)
	}
	if len(deeds) == 0 {
		i.say("Nothing to do.")
		i.left(found, false)
		return nil
	}
	if agreed, err := i.agreed(ctx, deeds); err != nil || !agreed {
		return err
	}
	undone := false
	for _, d := range deeds {
		done, err := d.do(ctx)
		if err != nil && ctx.Err() != nil {
			return errors.New("stopped before everything was done; run it again to do the rest")
		}
		if err != nil {
			undone = true
			i.say("Could not %s: %v", d.does, err)
		}
		if done != "" {
			i.say("%s", done)
		}
	}
	i.left(found, undone)
	if undone {
		return ErrUndone
	}
	return nil
}

// look finds the repository, and out what is there.
func (i *GitHubInit) look(ctx context.Context) (found github.Report, err error) {
	if i.place, err = session.FindGitHub(ctx, i.Env, i.Parent, i.Dir, i.Repo); err != nil {
		return found, err
	}
	i.redact = report.Redactor(append(engine.Secrets(i.Env, i.Parent), i.place.Token))
	if i.hub, err = i.place.Open(ctx, false, func(string, ...any) {}); err != nil {
		return found, err
	}
	ev, _, err := i.hub.Gather(ctx, event.Event{Kind: event.Scheduled, Repo: i.place.Repo})
	if err != nil {
		return found, invalid.Mark(err)
	}
	i.onto = ev.Repo.DefaultBranch
	return i.hub.Examine(ctx, labelNames(), i.onto), ctx.Err()
}

// deeds are the things to do, and notes about the rest.
func (i *GitHubInit) deeds(ctx context.Context, found github.Report) (deeds []deed, notes []string, err error) {
	for _, l := range githubLabels() {
		if slices.Contains(found.Labels, l.name) {
			deeds = append(deeds, deed{"make the label " + l.name, func(ctx context.Context) (string, error) {
				err := i.hub.MakeLabel(ctx, l.name, l.color, l.description)
				return map[bool]string{true: "Made the label " + l.name + "."}[err == nil], err
			}})
		}
	}
	if len(deeds) == 0 && slices.ContainsFunc(found.Facts,
		func(f github.Fact) bool { return f.What == labelsFact && f.Grade == github.OK }) {
		notes = append(notes, "All of ralph's labels are there.")
	}
	text, there, err := i.hub.File(ctx, i.onto, config.WorkflowFile)
	if err != nil {
		return nil, nil, invalid.Mark(err)
	}
	switch {
	case there && string(text) == config.Workflow:
		return deeds, append(notes, config.WorkflowFile+" is as this version of ralph proposes it."), nil
	case there:
		return deeds, append(notes, config.WorkflowFile+" is there, and is left as it is. It is not as this version of "+
			"ralph proposes it: to have that, delete it and run this again."), nil
	}
	pull, err := i.pending(ctx)
	if err != nil {
		return nil, nil, invalid.Mark(err)
	}
	if pull != nil {
		return deeds, append(notes, fmt.Sprintf("Pull request #%d proposes the workflow: %s", pull.Number, pull.URL)), nil
	}
	return append(deeds, deed{"open a pull request that adds " + config.WorkflowFile + ", from the branch " + initBranch,
		i.propose}), notes, nil
}

// propose opens the pull request. Where that cannot be, a person can still paste the file.
func (i *GitHubInit) propose(ctx context.Context) (string, error) {
	var pull *event.Pull
	var err error
	for n := range mostBranches {
		pull, err = i.hub.WriteFileByPull(ctx, initBranchNo(n), config.WorkflowFile, []byte(config.Workflow), initTitle,
			initBody)
		// this branch was merged before, and left there
		if err == nil || !strings.Contains(err.Error(), "No commits between") {
			break
		}
	}
	if err == nil {
		return fmt.Sprintf("Opened pull request #%d: %s", pull.Number, pull.URL), nil
	}
	needs := ""
	if strings.Contains(err.Error(), "the token may") { // not do this, or not see it
		needs = "A token needs contents, pull requests and workflows: write for this (a classic one the scopes repo and " +
			"workflow; the job's own cannot have it).\n"
	}
	return needs + fmt.Sprintf("You can add the file yourself, at %s?filename=%s, with this text:\n\n%s",
		i.place.At("new/"+i.onto), config.WorkflowFile, config.Workflow), err
}

// pending is the open pull request that proposes the workflow already; nil: none.
func (i *GitHubInit) pending(ctx context.Context) (*event.Pull, error) {
	for n := range mostBranches {
		branch := initBranchNo(n)
		if pull, err := i.hub.FindPull(ctx, branch); err != nil || pull != nil {
			return pull, err
		}
		if _, there, err := i.hub.File(ctx, branch, config.WorkflowFile); err != nil || !there {
			return nil, err // a later one was never needed
		}
	}
	return nil, nil
}

// initBranchNo is the branch to propose from when so many are there from earlier proposals.
func initBranchNo(earlier int) string {
	if earlier == 0 {
		return initBranch
	}
	return fmt.Sprintf("%s-%d", initBranch, earlier+1)
}

// mostBranches bounds how many branches of earlier proposals, merged and left there, are skipped.
const mostBranches = 5

// agreed lists the things to do and asks for a yes.
func (i *GitHubInit) agreed(ctx context.Context, deeds []deed) (bool, error) {
	i.say("To do:")
	for _, d := range deeds {
		i.say("- %s", d.does)
	}
	i.say("")
	if i.In == nil {
		return true, nil
	}
	d := session.NewDialogue(i.In, i.Out)
	if d.Yes(ctx, "Do it? (y/N): ") {
		i.say("")
		return true, nil
	}
	if d.Err == nil {
		i.say("Nothing was done.")
	}
	return false, d.Err
}

// left says what only a person can do.
func (i *GitHubInit) left(found github.Report, undone bool) {
	d := diagnosis(i.place, found)
	var lines []string
	for _, f := range d.Facts {
		if f.Advice != "" && (f.Grade == github.Problem || f.Grade == github.Warning) && f.What != labelsFact &&
			f.What != workflowFact {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("- %s: %s %s %s", f.What, f.Says, f.Advice, f.Address)))
		}
	}
	switch {
	case len(lines) > 0:
		i.say("\nNext steps:\n%s", strings.Join(lines, "\n"))
	case !undone:
		i.say("\nNow merge the pull request. ralph doctor --github shows what is still missing.")
	}
}

// say prints, without secrets and terminal sequences, a line or several.
func (i *GitHubInit) say(format string, args ...any) {
	lines := strings.Split(i.redact(fmt.Sprintf(format, args...)), "\n")
	for n := range lines {
		lines[n] = safetext.Inert(lines[n])
	}
	_, _ = fmt.Fprintln(i.Out, strings.Join(lines, "\n")) // a terminal that is gone reads nothing more
}
