package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// actions does what people ask for on pages. What is asked of a run that works goes to its process. Everything else is
// said on GitHub, as the person: it is decided there and in the open, as if they had written it themselves.
type actions struct {
	s      *store.Store
	in     *installed
	again  func(ctx context.Context, delivery string) error
	phrase string // "/ralph"
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
		return notFound(err)
	}
	switch {
	case asks.Kind == web.Stop && run.State == web.Queued:
		return a.cancel(ctx, run, asks.By.Login)
	case run.State == web.Running && (asks.Kind == web.Stop || asks.Kind == web.Hint):
		text := asks.Text
		if asks.Kind == web.Stop {
			text = "asked to stop"
		}
		return a.s.Say(ctx, run.ID, store.Word{Kind: asks.Kind, Person: asks.By.Login, Text: text})
	case asks.Kind == web.Hint:
		return &web.Refusal{Why: "The run does not work now, so nobody hears a hint. Retry it with your words."}
	}
	return a.comment(ctx, run, asks)
}

// cancel ends a run that has not begun.
func (a *actions) cancel(ctx context.Context, run store.Run, login string) error {
	done, err := a.s.EndRun(ctx, run.ID, string(loop.Interrupted), "stopped by "+login+" before it started", web.Queued)
	if err == nil && !done {
		return &web.Refusal{Why: "The run begins just now. Stop it again in a moment."}
	}
	return err
}

// comment says it on GitHub, as the person.
func (a *actions) comment(ctx context.Context, run store.Run, asks web.Action) error {
	shown := shownRun(run)
	number := shown.Issue
	if number == 0 {
		number = shown.Pull
	}
	if number == 0 {
		return &web.Refusal{Why: "The run is for no issue and has no pull request, so there is nowhere to ask."}
	}
	text := strings.Join(strings.Fields(asks.Text), " ") // a line: what follows a command is a part of it
	body := map[string]string{web.Stop: "stop", web.Retry: "retry " + text, web.Approve: "accept " + text}[asks.Kind]
	if body == "" {
		return fmt.Errorf("doing what was asked for: %q is nothing that can be", asks.Kind)
	}
	app, _, err := a.in.current(ctx)
	if err != nil {
		return err
	}
	owner, name, _ := strings.Cut(run.Repository, "/")
	return app.CommentAs(ctx, asks.By.Token, event.Repo{Owner: owner, Name: name}, number,
		strings.TrimSpace(a.phrase+" "+body))
}
