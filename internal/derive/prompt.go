package derive

import (
	"cmp"
	"crypto/rand"
	_ "embed" // the template
	"strings"
	"sync"
	"text/template"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Request is what a plan is derived from.
type Request struct {
	name    string // "issue #42", "ralph/prd.md"
	Text    string // what is needed, sanitised when others wrote it
	foreign bool   // others may have written it: it is data for the agent, and brings no commands
	// the PRD that already exists and stays: only its stories are derived (mode 2); empty: it is written, too
	PRD string
	// kept is what is set already: project, branch and description, as far as they are not empty.
	Kept plan.Plan
}

// exchange is a question of the agent's and what the person said.
type exchange struct{ Question, Answer string }

// planQuestion is the content of the prompt for a plan.
type planQuestion struct {
	known    []string // commands of the project
	request  Request
	open     bool       // someone can answer
	said     []exchange // so far
	last     string     // its last answer, when that was no plan
	problems []string   // and why
}

// maxLastAnswer bounds what it is shown of its last answer.
const maxLastAnswer = 64 << 10

//go:embed prompt.md
var promptText string

var promptTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("").Parse(promptText)) })

// text is the whole prompt. Borders are drawn again for each, so the authors of the texts within cannot know them.
func (q planQuestion) text() string {
	r := q.request
	facts := map[string]any{
		"Intro": plan.Derive(), "PRD": r.PRD, "Name": r.name, "Foreign": r.foreign, "Open": q.open, "Known": q.known,
		"Template": bordered(plan.PRD("the name of the feature")), "Text": bordered(cmp.Or(r.PRD, r.Text)),
		"Derivation": strings.TrimSpace(plan.Derivation()), "Answer": strings.TrimSpace(plan.Answer()),
		"Last": bordered(safetext.FirstBytes(q.last, maxLastAnswer)),
	}
	var said, kept []exchange
	for _, e := range q.said {
		said = append(said, exchange{safetext.OneLine(e.Question), e.Answer})
	}
	for _, e := range []exchange{{"project", r.Kept.Project}, {"branchName", r.Kept.BranchName},
		{"description", r.Kept.Description}} {
		if e.Answer != "" && e.Answer != plan.TemplateBranch {
			kept = append(kept, e)
		}
	}
	facts["Said"], facts["Kept"] = said, kept
	if len(q.problems) > 0 {
		facts["Problems"] = bordered("- " + strings.Join(safetext.Map(q.problems, safetext.OneLine), "\n- ") + "\n")
	}
	var b strings.Builder
	if err := promptTemplate().Execute(&b, facts); err != nil {
		panic(err) // the template is wrong
	}
	return b.String()
}

func bordered(text string) string { return safetext.Border("data-" + rand.Text()).Around(text) }
