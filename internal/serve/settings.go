package serve

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

// asked are the settings of a repository as it stands now, over those of its account, without what the server allows.
// An error that is a *config.Error is a mistake in a file; any other is of reading them.
func asked(ctx context.Context, app *github.App, installation int64, repository string,
	above []work.Layer) (config.Explained, error) {
	var layers []config.Layer
	for _, l := range above {
		layers = append(layers, config.Layer{Name: l.Name, JSON: []byte(l.JSON)})
	}
	own, err := app.File(ctx, installation, repositoryOf(repository), config.SettingsFile)
	if err != nil {
		return config.Explained{}, err
	}
	if own != nil {
		layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: own})
	}
	return config.Explain(layers...)
}

// judged are the settings that a run of a repository would have.
type judged struct {
	rows       []web.Setting // as its page shows them
	notes      []string      // what this server has lowered
	agent      string
	inWorkflow bool // a workflow of the repository does the runs
}

// judge holds the files of an account and a repository, nil for one that is not there, against each other and what the
// account is allowed. With an error that is of what is allowed, rows are what was asked for.
func judge(owner string, shared, own []byte, allow config.Allowance) (judged, error) {
	var layers []config.Layer
	if shared != nil {
		layer, err := config.Organisation(owner, shared)
		if err != nil {
			return judged{}, err
		}
		layers = append(layers, layer)
	}
	if own != nil {
		layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: own})
	}
	read, err := config.Explain(layers...)
	if err != nil {
		return judged{}, err
	}
	given, notes, refused := allow.Apply(read)
	if refused == nil {
		read = given
	}
	rows, err := read.Rows(nil)
	out := judged{notes: notes, agent: read.Settings.Agent.Command,
		inWorkflow: read.Settings.Dispatch == config.InWorkflow}
	for _, r := range rows {
		out.rows = append(out.rows, web.Setting{Key: r.Key, Value: r.Value, From: r.From})
	}
	return out, errors.Join(refused, err)
}

func wrong(err error) web.Finding {
	return web.Finding{Level: "error", What: safetext.FirstRunes(safetext.OneLine(err.Error()), 300)}
}
