package doctor

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// GitHubDiagnosis is what a doctor found out about a repository on GitHub. There are no secrets in it.
type GitHubDiagnosis struct {
	Ready      bool         `json:"ready"`          // nothing is there that keeps ralph from working
	Todo       string       `json:"todo,omitempty"` // what to do first when not
	Repository string       `json:"repository"`     // its page
	API        string       `json:"api"`
	Facts      []GitHubFact `json:"facts"` // in an order that reads well
	Missing    []string     `json:"missing_labels"`
}

// GitHubFact is one thing about the repository or the token.
type GitHubFact struct {
	What    string       `json:"what"`  // "the token", "branch rules"
	Grade   github.Grade `json:"grade"` // "ok", "warning", "problem", "unknown"
	Says    string       `json:"says"`
	Advice  string       `json:"advice,omitempty"`
	Address string       `json:"address,omitempty"` // the page where it is fixed
}

// settingsPages are where facts are fixed, below the repository's address.
var settingsPages = map[string]string{
	"the repository": "settings", "issues": "settings", "permissions": "settings/access", labelsFact: "labels",
	"branch rules":   "settings/branches",
	"GitHub Actions": "settings/actions", "the job's own token": "settings/actions", "secrets": "settings/secrets/actions",
}

// ExamineHub looks at everything on GitHub that ralph needs, and writes nothing. named is the flag --repo. An error is
// an unknown repository or a missing token; everything else that is wrong is a fact.
func (d *Doctor) ExamineHub(ctx context.Context, named string) (GitHubDiagnosis, error) {
	place, err := session.FindGitHub(ctx, d.Env, d.Parent, d.Dir, named)
	if err != nil {
		return GitHubDiagnosis{}, err
	}
	redact := report.Redactor(append(engine.Secrets(d.Env, d.Parent), place.Token))
	hub, err := place.Open(ctx, true, func(string, ...any) {})
	if err != nil {
		return GitHubDiagnosis{}, err
	}
	found := hub.Examine(ctx, labelNames(), "")
	out := diagnosis(place, found)
	// otherwise nothing could be read
	if slices.ContainsFunc(found.Facts, func(f github.Fact) bool { return f.What == workflowFact }) {
		out.Facts = append(out.Facts, versionFact(ctx, hub)...)
	}
	out.judge()
	clean(reflect.ValueOf(&out).Elem(), func(s string) string { return safetext.Inert(redact(safetext.OneLine(s))) })
	return out, nil
}

// diagnosis gives facts the pages where they are fixed.
func diagnosis(p session.GitHub, found github.Report) GitHubDiagnosis {
	out := GitHubDiagnosis{Repository: p.Page + "/" + p.Repo.String(), API: p.API, Facts: []GitHubFact{},
		Missing: append([]string{}, found.Labels...)}
	for _, f := range found.Facts {
		fact := GitHubFact{What: f.What, Grade: f.Grade, Says: f.Says, Advice: f.Advice}
		if f.Advice != "" && (f.What == workflowFact || f.What == labelsFact) && f.Grade != github.Unknown {
			fact.Advice = "ralph init --github does it for you."
		}
		if page := settingsPages[f.What]; page != "" && f.Advice != "" {
			fact.Address = p.At(page)
		}
		out.Facts = append(out.Facts, fact)
	}
	return out
}

// What facts about things are called that ralph init --github makes.
const (
	workflowFact = "the workflow"
	labelsFact   = "labels"
)

// versionFact says whether the workflow file is the one that this version proposes.
func versionFact(ctx context.Context, hub *github.Client) []GitHubFact {
	text, ok, err := hub.File(ctx, "", config.WorkflowFile)
	switch {
	case err != nil || !ok: // said already
		return nil
	case string(text) == config.Workflow:
		return []GitHubFact{{What: workflowFact, Grade: github.OK, Says: "It is as this version of ralph proposes it."}}
	}
	return []GitHubFact{{What: workflowFact, Grade: github.Warning,
		Says:   "It differs from what this version of ralph proposes: it was changed, or it is older.",
		Advice: "If you have not changed it, delete it and run ralph init --github, which proposes this version's."}}
}

// judge says whether ralph can work there, and what to do first when it cannot.
func (d *GitHubDiagnosis) judge() {
	i := slices.IndexFunc(d.Facts, func(f GitHubFact) bool { return f.Grade == github.Problem })
	if d.Ready = i < 0; d.Ready {
		return
	}
	d.Todo = strings.TrimSpace(strings.TrimSuffix(d.Facts[i].Says, ".") + ". " + d.Facts[i].Advice)
}

// hubLabel is a label of ralph's as ralph init makes it.
type hubLabel struct{ name, color, description string }

// githubLabels are all of them: the two that ask, and those that show where a run stands.
func githubLabels() []hubLabel {
	rules := event.Rules{TriggerLabel: "ralph"}
	out := []hubLabel{
		{rules.TriggerLabel, "5319e7", "Asks ralph to work on this issue; again after a failure, it is a retry"},
		{rules.PlanLabel(), "c5def5", "Asks ralph for a plan of this issue, to be edited and approved"},
	}
	for _, s := range github.StatusLabels {
		l := map[string]hubLabel{
			github.LabelRunning: {"", "fbca04", "the run is running; remove it to stop the run"},
			github.LabelReview:  {"", "0e8a16", "ralph is done, and its pull request waits for review"},
			github.LabelWaiting: {"", "bfd4f2", "ralph waits: for an answer, a limit, or other workflows"},
			github.LabelFailed:  {"", "b60205", "ralph's run has failed; its report says why"},
		}[s]
		l.name = rules.StatusLabel(s)
		out = append(out, l)
	}
	return out
}

func labelNames() []string {
	return safetext.Map(githubLabels(), func(l hubLabel) string { return l.name })
}
