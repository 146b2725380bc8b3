package work

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// RunnersPath is where a server has the jobs that runners do: each below it under its request.
const RunnersPath = "/runners/"

// joinPath answers the bearer of a job, as a JSON string, to whom the token of GitHub Actions proves to be its runner.
const joinPath = ""

// againTime is how long a job on a runner looks for its server.
const againTime = 5 * time.Minute

// Runner is a job of GitHub Actions that does a job of a server.
type Runner struct {
	Server  string // "https://ralph.example.com"
	Request string // what the server calls the job
	// Token is a new token by which GitHub Actions says who we are; the audience is the server.
	Token func(ctx context.Context, audience string) (string, error)
}

// Run does the job, as Run does one of this machine. ErrGone is of a server that wants nothing of us.
func (r Runner) Run(ctx context.Context, environ []string, clock func() time.Time) error {
	link, err := r.Join(ctx)
	if err != nil {
		return err
	}
	return run(ctx, context.WithoutCancel(ctx), link, environ, clock)
}

// Join gets the job, and continues trying for a while. ErrGone says that it is useless.
func (r Runner) Join(ctx context.Context) (Link, error) {
	server := strings.TrimSuffix(r.Server, "/")
	link := Link{Address: server + RunnersPath + r.Request, Patience: againTime}
	proving := link
	proving.prove = func(ctx context.Context) (string, error) {
		token, err := r.Token(ctx, server)
		if err != nil {
			err = fmt.Errorf("getting this job's OIDC token: %w; the job needs the permission id-token: write", err)
		}
		return token, err
	}
	err := proving.ask(ctx, joinPath, nil, &link.Bearer)
	return link, err
}
