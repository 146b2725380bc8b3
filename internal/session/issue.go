package session

import (
	"context"
	"net/url"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/task"
)

func (s *Session) FromGitHub(ctx context.Context, number int) (task.Task, error) {
	repo, err := s.repository(ctx)
	if err != nil {
		return task.Task{}, err
	}
	hub, err := github.New(
		ctx,
		github.Options{
			APIURL: s.Env.APIURL, GraphQLURL: s.Env.GraphQLURL, Repo: repo, Token: s.Env.Token, DryRun: true,
			Log: s.Log,
		},
	)
	if err != nil {
		return task.Task{}, invalid.Errorf(
			"reading issue #%d needs a token: set GITHUB_TOKEN in the environment", number,
		)
	}
	issue, err := hub.Issue(ctx, number)
	if err != nil {
		return task.Task{}, invalid.Mark(err)
	}
	// You ask for what is there now; what others wrote in comments is left out.
	t, err := task.From(
		event.Request{Event: event.Event{Kind: event.Dispatched, Repo: repo, Issue: issue, At: s.Clock()}},
		event.Facts{},
	)
	if err != nil {
		return t, invalid.Mark(err)
	}
	return t, nil
}

// repository is where the clone came from.
func (s *Session) repository(ctx context.Context) (event.Repo, error) {
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
		return event.Repo{}, invalid.Errorf(
			"the repository of the issue is not known from the remote %q; set GITHUB_REPOSITORY=owner/name, or pass a file to --issue",
			remote,
		)
	}
	return event.Repo{Owner: parts[len(parts)-2], Name: parts[len(parts)-1]}, nil
}
