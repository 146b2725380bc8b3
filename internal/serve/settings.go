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
func asked(ctx context.Context, app *github.App, j job, above []work.Layer) (config.Explained, error) {
	var layers []config.Layer
	for _, l := range above {
		layers = append(layers, config.Layer{Name: l.Name, JSON: []byte(l.JSON)})
	}
	own, err := app.File(ctx, j.Installation, repositoryOf(j.Repository), config.SettingsFile)
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
func settingsOf(ctx context.Context, app *github.App, of job, allow config.Allowance) (list []web.Setting,
	findings []web.Finding) {
	read := config.Explained{}
	above, err := organisation(ctx, app, of)
	if err == nil {
		read, err = asked(ctx, app, of, above)
	}
	if err == nil {
		var given config.Explained
		var notes []string
		given, notes, err = allow.Apply(read)
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

func wrong(err error) web.Finding {
	return web.Finding{Level: "error", What: safetext.FirstRunes(safetext.OneLine(err.Error()), 300)}
}
