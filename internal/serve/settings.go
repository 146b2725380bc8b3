package serve

import (
	"errors"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/web"
)

// layersOf are the files of an account and, last, of its repository; nil is one that does not exist.
func layersOf(owner string, shared, own []byte) (layers []config.Layer, err error) {
	if shared != nil {
		layer, err := config.Organisation(owner, shared)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	if own != nil {
		layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: own})
	}
	return layers, nil
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
	layers, err := layersOf(owner, shared, own)
	if err != nil {
		return judged{}, err
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
