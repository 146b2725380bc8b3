package github

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/event"
)

// ofWorkflow reads what a workflow made of a commit. A head that names no repository counts as one of another.
func ofWorkflow(ev event.Event, p *github.WorkflowRunEvent) (event.Event, error) {
	r := p.GetWorkflowRun()
	if r == nil {
		return ev, errors.New("it holds no workflow run")
	}
	ev.Build = &event.Build{
		Name: r.GetName(), Conclusion: strings.ToLower(r.GetConclusion()), Branch: r.GetHeadBranch(), SHA: r.GetHeadSHA(),
		URL:  r.GetHTMLURL(),
		Fork: !strings.EqualFold(r.GetHeadRepository().GetFullName(), ev.Repo.String()),
	}
	return completed(ev, p.GetAction()), nil
}

// ofSuite reads what a service made of a commit. GitHub names the branch only of what is in this repository.
func ofSuite(ev event.Event, p *github.CheckSuiteEvent) (event.Event, error) {
	s := p.GetCheckSuite()
	if s == nil {
		return ev, errors.New("it holds no check suite")
	}
	ev.Build = &event.Build{
		Name: s.GetApp().GetName(), Conclusion: strings.ToLower(s.GetConclusion()), Branch: s.GetHeadBranch(),
		SHA: s.GetHeadSHA(),
		URL: fmt.Sprintf("%s/commit/%s/checks", p.GetRepo().GetHTMLURL(), s.GetHeadSHA()), Fork: s.GetHeadBranch() == "",
	}
	return completed(ev, p.GetAction()), nil
}

func completed(ev event.Event, action string) event.Event {
	if action == "completed" {
		ev.Kind = event.Built
	}
	return ev
}

// dispatchType is the event_type of a repository_dispatch that is meant for ralph.
const dispatchType = "ralph"

// ofDispatch reads what another program asks for. A dispatch of another type is another program's.
func ofDispatch(ev event.Event, p *github.RepositoryDispatchEvent) (event.Event, error) {
	if p.GetAction() != dispatchType {
		return ev, nil
	}
	var err error
	ev.Kind = event.Dispatched
	ev.Ask, err = event.ParseAsk(p.ClientPayload)
	return ev, err
}
