package bot

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
)

// List says what a sweep would take up, at most max_tasks, and takes up nothing. It is also set as the output matrix,
// in the form that strategy.matrix takes.
func (a *Action) List(ctx context.Context) ([]byte, error) {
	a.prepare()
	defer a.disconnect(ctx)
	owner, name, ok := strings.Cut(a.Env.Repository, "/")
	if !ok {
		return nil, invalid.Errorf("GITHUB_REPOSITORY is not set; ralph sweep runs in a workflow, or with " +
			"GITHUB_REPOSITORY=owner/name and GITHUB_TOKEN")
	}
	ev := event.Event{Kind: event.Scheduled, Name: "sweep", Repo: event.Repo{Owner: owner, Name: name}, At: a.Clock()}
	var err error
	if a.github, err = a.connect(ctx, ev); err != nil {
		return nil, err
	}
	ev, facts, err := a.github.Gather(ctx, ev)
	if err != nil {
		return nil, err
	}
	return a.list(ctx, ev, facts)
}

func (a *Action) list(ctx context.Context, ev event.Event, facts event.Facts) ([]byte, error) {
	rows := []Listed{}
	for p, err := range a.pending(ctx, ev, facts) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, p.row())
		if len(rows) == a.Inputs.MaxTasks {
			break
		}
	}
	matrix, err := json.Marshal(map[string][]Listed{"include": rows})
	if err != nil {
		return nil, err
	}
	return matrix, a.Runner.SetOutputs(map[string]string{"matrix": string(matrix)})
}
