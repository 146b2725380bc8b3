package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
)

// mostAge is how old a request may be that a dispatch names. GitHub lets a job wait for a runner for a day.
const mostAge = 24 * time.Hour

// requested is the event that the input request names, read from GitHub again: who dispatched the workflow gives it no
// right. That is an App, which GitHub lets start workflows; a person who does has to have write access as well.
// Each request counts once, so that no one asks again with what someone else once wrote. refusal says why it does not
// count.
func (a *Action) requested(ctx context.Context, dispatched event.Event) (ev event.Event, refusal *event.Refusal,
	err error) {
	if a.Inputs.Request == "" {
		return dispatched, nil, nil
	}
	from, ok := event.ParseOrigin(a.Inputs.Request)
	if !ok || dispatched.Name != "workflow_dispatch" || dispatched.Ask != (event.DispatchRequest{}) || a.Inputs.PromptFile != "" {
		return ev, nil, invalid.Errorf("input request is %q; must be %s, for workflow_dispatch alone, and without "+
			"issue, plan, prompt and prompt_file", a.Inputs.Request, event.OriginForms)
	}
	if a.github, err = a.connect(ctx, dispatched); err != nil {
		return ev, nil, err
	}
	ev, err = a.github.EventOf(ctx, from)
	if edited := (*github.EditedError)(nil); errors.As(err, &edited) {
		return ev, &event.Refusal{Who: ev.Sender.Login, Reason: err.Error()}, nil
	}
	if github.ErrGone(err) {
		return ev, &event.Refusal{Reason: fmt.Sprintf("%s no longer exists", from)}, nil
	}
	if err != nil {
		return ev, nil, err
	}
	switch ev.TriggeringActor = starter(dispatched, a.Env.RunAttempt); ev.Kind {
	case event.Scheduled:
		ev.At = dispatched.At
	case event.Built: // a server asks only where the settings have runs wait for other workflows
		_, said := a.Inputs.Set["ciGate"]
		a.rules.CIGate = a.rules.CIGate || !said
	}
	if age := a.Clock().Sub(ev.At); age > mostAge {
		return ev, &event.Refusal{Who: ev.Sender.Login, Reason: fmt.Sprintf("%s is %.0f hours old, and counts for %.0f; ask "+
			"again", from, age.Hours(), mostAge.Hours())}, nil
	}
	runs, err := a.recorded(ctx)
	if err != nil {
		return ev, nil, err
	}
	if a.Env.RunAttempt <= 1 {
		for _, s := range runs {
			if ev.Issue != nil && about(ev, s) && begunSince(s, ev.At) {
				return ev, &event.Refusal{Who: ev.Sender.Login, Reason: fmt.Sprintf("the run %s has started or resumed since %s was made; ask again", s.Start.Run, from)}, nil
			}
		}
	}
	a.github.Recount()
	return ev, nil, nil
}

// starter is the user who, with the requester, needs permission: the one who dispatched the workflow or runs its job
// again, unless that is an App.
func starter(dispatched event.Event, attempt int) string {
	who := cmp.Or(dispatched.TriggeringActor, dispatched.Sender.Login)
	app := dispatched.Sender.Bot || strings.HasSuffix(dispatched.Sender.Login, "[bot]")
	if attempt <= 1 && app && slices.Contains([]string{"", dispatched.Sender.Login}, dispatched.TriggeringActor) {
		return ""
	}
	return who
}
