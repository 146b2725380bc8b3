package serve

import (
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/work"
)

// accountOf is whose a repository is.
func accountOf(repository string) string {
	return repositoryOf(repository).Owner
}

// repositoryOf is a repository by its "owner/name".
func repositoryOf(name string) event.Repo {
	owner, short, _ := strings.Cut(name, "/")
	return event.Repo{Owner: owner, Name: short}
}

// organisation are the settings of the account, below those of the repository.
func organisation(ctx context.Context, app *github.App, j job) ([]work.Layer, error) {
	owner := accountOf(j.Repository)
	text, err := app.File(ctx, j.Installation, event.Repo{Owner: owner, Name: config.OrganisationRepository},
		config.OrganisationFile)
	if err != nil || text == nil {
		return nil, err
	}
	layer, err := config.Organisation(owner, text)
	if err != nil {
		return nil, invalid.Mark(err)
	}
	return []work.Layer{{Name: layer.Name, JSON: string(layer.JSON)}}, nil
}

// appTokens makes the tokens of one job.
type appTokens struct {
	app          *github.App
	installation int64
	repository   string
	dispatch     bool // it starts workflows
}

// Make implements launch.Tokens.
func (t appTokens) Make(ctx context.Context) (work.Token, error) {
	made, err := t.app.Token(ctx, t.installation, t.repository, github.Needed(false, t.dispatch))
	return work.Token{Value: made.Value, Ends: made.Ends}, err
}

// Revoke implements launch.Tokens.
func (t appTokens) Revoke(ctx context.Context, token string) error {
	return t.app.Revoke(ctx, github.Token{Value: token})
}
