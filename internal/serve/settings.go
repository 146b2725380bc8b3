package serve

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/web"
)

// asked are the settings of a repository as it stands now, without what the server allows. An error that is a
// *config.Error is a mistake in a file; any other is of reading them.
func asked(ctx context.Context, app *github.App, installation int64, repo event.Repo) (config.Explained, error) {
	above, err := organisation(ctx, app, job{Repository: repo.String(), Installation: installation})
	if err != nil {
		return config.Explained{}, err
	}
	var layers []config.Layer
	for _, l := range above {
		layers = append(layers, config.Layer{Name: l.Name, JSON: []byte(l.JSON)})
	}
	own, err := app.File(ctx, installation, repo, config.SettingsFile)
	if err != nil {
		return config.Explained{}, err
	}
	if own != nil {
		layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: own})
	}
	return config.Explain(layers...)
}

// settingsOf are the settings that a run of a repository would have, as its page shows them, and what is wrong with
// them.
func (sv *Server) settingsOf(ctx context.Context, app *github.App, installation int64, name string) (list []web.Setting,
	findings []web.Finding) {
	read, err := asked(ctx, app, installation, repositoryOf(name))
	if err == nil {
		var given config.Explained
		var notes []string
		given, notes, err = sv.o.Allow.Of(accountOf(name)).Apply(read)
		for _, note := range notes {
			findings = append(findings, web.Finding{Level: "warning", What: note})
		}
		if err == nil {
			read = given // else what was asked for is shown, with why it is refused
		}
	}
	if mistakes := (*config.Error)(nil); errors.As(err, &mistakes) {
		for _, problem := range mistakes.Problems {
			findings = append(findings, web.Finding{Level: "error", What: problem, Advice: "No run begins until it is changed."})
		}
	} else if err != nil {
		return nil, []web.Finding{wrong(err)}
	}
	if read.From == nil {
		return nil, findings
	}
	rows, err := read.Rows(nil)
	if err != nil {
		return nil, append(findings, wrong(err))
	}
	for _, r := range rows {
		list = append(list, web.Setting{Key: r.Key, Value: r.Value, From: r.From})
	}
	return list, findings
}
