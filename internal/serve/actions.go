package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// actions does what people ask for on pages. What is asked of a run that works goes to its process. Everything else is
// said on GitHub, as the person: it is decided there and in the open, as if they had written it themselves.
type actions struct {
	*parts
	again func(ctx context.Context, delivery string) error
}

// Do implements web.Actions.
func (a *actions) Do(ctx context.Context, asks web.Action) error {
	err := a.do(ctx, asks)
	result := "done"
	if err != nil {
		result = safetext.FirstRunes(safetext.OneLine(err.Error()), 500)
	}
	kind, subject := "run.", asks.Run
	if asks.Delivery != "" {
		kind, subject = "delivery.", asks.Delivery
	}
	return errors.Join(err, a.s.Audit(ctx, store.Entry{Person: asks.By.Login, Action: kind + asks.Kind,
		Repository: asks.Repository, Subject: subject, Result: result}))
}

func (a *actions) do(ctx context.Context, asks web.Action) error {
	if asks.Kind == web.Redeliver {
		return a.again(ctx, asks.Delivery)
	}
	run, err := a.s.Run(ctx, asks.Run)
	if err != nil {
		return err
	}
	switch {
	case asks.Kind == web.Stop && (run.State == web.Queued || run.State == web.Running):
		return stopRun(ctx, a.s, run, asks.By.Login)
	case asks.Kind == web.Hint && run.State == web.Running:
		return a.s.Say(ctx, store.Word{Run: run.ID, Kind: asks.Kind, Person: asks.By.Login, Text: asks.Text})
	case asks.Kind == web.Hint:
		return &web.Refusal{Why: "The run is not running, so it gets no hint. Retry it with your text."}
	}
	return a.comment(ctx, run, asks)
}

// stopRun stops a run that waits for a place or works.
func stopRun(ctx context.Context, s *store.Store, run store.Run, by string) error {
	if run.State == web.Queued {
		ended, err := s.EndQueued(ctx, run.ID, string(loop.Interrupted), unwantedError{by}.Error())
		if ended || err != nil {
			return err
		}
	}
	return s.Say(ctx, store.Word{Run: run.ID, Kind: web.Stop, Person: by, Text: "asked to stop"}) // it may have begun just now
}

// comment says it on GitHub, as the person.
func (a *actions) comment(ctx context.Context, run store.Run, asks web.Action) error {
	shown := detailOf(run)
	number := cmp.Or(shown.Issue, shown.Pull)
	if number == 0 {
		return &web.Refusal{Why: "The run is for no issue and has no pull request, so there is nowhere to ask."}
	}
	text := strings.Join(strings.Fields(asks.Text), " ") // a line: what follows a command is a part of it
	body := map[string]string{web.Stop: "stop", web.Retry: "retry " + text, web.Approve: "accept " + text}[asks.Kind]
	if body == "" {
		return fmt.Errorf("handling the request: %q is not an action", asks.Kind)
	}
	app, err := a.in.current(ctx)
	if err != nil {
		return err
	}
	return app.CommentAs(ctx, asks.By.Token, repositoryOf(run.Repository), number,
		strings.TrimSpace(a.o.Rules.TriggerPhrase+" "+body))
}
