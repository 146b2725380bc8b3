package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

// setPlace says in an order where a job is worked on, by the settings of its repository as they are now. Mistakes in
// them, and what is not allowed, are told to whoever asked, by a process that begins no run. A mistake in the
// repository's own file may not be in the commit that the run begins at: where this server may do the run, its process
// looks there.
func (w *worker) setPlace(ctx context.Context, app *github.App, j job, ev event.Event, o *work.Order) (err error) {
	if j.quick { // no settings matter to an answer
		return nil
	}
	owner := accountOf(j.row.Repository)
	shared, err := app.File(ctx, j.row.Installation, event.Repo{Owner: owner, Name: config.OrganisationRepository},
		config.OrganisationFile)
	if err != nil {
		return err
	}
	own, err := app.File(ctx, j.row.Installation, repositoryOf(j.row.Repository), config.SettingsFile)
	if err != nil {
		return err
	}
	layers, err := layersOf(owner, shared, own)
	if err != nil {
		o.Mistake = err.Error()
		return nil
	}
	if o.Settings = layers; own != nil { // which the process reads of the base commit
		o.Settings = layers[:len(layers)-1]
	}
	read, err := config.Explain(layers...)
	mistake := (*config.Error)(nil)
	if errors.As(err, &mistake) && o.Allow.Allows(config.OnServer) {
		return nil
	}
	if err == nil {
		read, _, err = o.Allow.Apply(read)
	}
	if errors.As(err, &mistake) {
		o.Mistake = err.Error()
		return nil
	}
	if err != nil || read.Settings.Dispatch != config.InWorkflow {
		return err
	}
	err = dispatch(ctx, app, j.row.Installation, ev, read.Settings.Workflow)
	if refused := (*github.DispatchError)(nil); errors.As(err, &refused) {
		o.Mistake = refused.Why
		return nil
	}
	return err
}

// dispatch has the repository's workflow do what was decided. It is told what somebody asked with, and reads and
// authorizes that itself. The error is a *settledError once it was started.
func dispatch(ctx context.Context, app *github.App, installation int64, ev event.Event, workflow string) error {
	from, ok := event.OriginOf(ev)
	if !ok {
		return &settledError{declined, "this is for the triggers of the workflow " + workflow + " itself"}
	}
	err := app.Dispatch(ctx, installation, ev.Repo, workflow, ev.Repo.DefaultBranch, map[string]any{"request": from.String()})
	if err != nil {
		return err
	}
	_ = app.React(ctx, installation, ev, "rocket") // what was started shows on the run's page as well
	return &settledError{web.Dispatched, "handed to the workflow " + workflow}
}

// accountOf is whose a repository is.
func accountOf(repository string) string {
	return repositoryOf(repository).Owner
}

// repositoryOf is a repository by its "owner/name".
func repositoryOf(name string) event.Repo {
	owner, short, _ := strings.Cut(name, "/")
	return event.Repo{Owner: owner, Name: short}
}

// appTokens makes the tokens of one job.
type appTokens struct {
	app          *github.App
	installation int64
	repository   string
	s            *store.Store
	log          *slog.Logger
}

// sealedToken begins the names of tokens that are not revoked yet, among the database's secrets: the next start revokes
// those of jobs that were killed with their server.
const sealedToken = "token "

func tokenName(value string) string {
	sum := sha256.Sum256([]byte(value))
	return sealedToken + hex.EncodeToString(sum[:])
}

// Make implements launch.Tokens.
func (t appTokens) Make(ctx context.Context) (work.Token, error) {
	made, err := t.app.Token(ctx, t.installation, t.repository, github.Needed(false, false))
	if err == nil {
		if failed := t.s.Seal(ctx, tokenName(made.Value), []byte(made.Value)); failed != nil {
			t.log.Warn("a token ends only by itself if this server is killed", "error", failed)
		}
	}
	return work.Token{Value: made.Value, Ends: made.Ends}, err
}

// Revoke implements launch.Tokens.
func (t appTokens) Revoke(ctx context.Context, token string) error {
	return errors.Join(t.app.Revoke(ctx, github.Token{Value: token}), t.s.Remove(ctx, tokenName(token)))
}

// revokeLeft revokes the tokens of those names, which a killed server has left. GitHub may have ended them already.
func (sv *Server) revokeLeft(ctx context.Context, names []string) {
	for _, name := range names {
		app, _, err := sv.in.current(ctx)
		var token []byte
		if err == nil {
			token, err = sv.s.Unseal(ctx, name)
		}
		if err == nil {
			_ = app.Revoke(ctx, github.Token{Value: string(token)})
			err = sv.s.Remove(ctx, name)
		}
		if err != nil {
			sv.o.Log.Warn("a token of a killed server ends only by itself, within the hour", "error", err)
		}
	}
}
