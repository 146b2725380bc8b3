package planrun

import (
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/prompt"
)

// choosePrompt settles whether the prompt.md beside the plan is what agents are told, and says so. Beside a prd.json it
// may be of another tool, whose rules are not those of a run: it is taken when it names a variable of ralph's.
func (p *Run) choosePrompt() {
	name := path.Join(p.Dir, promptMD)
	switch {
	case strings.TrimSpace(p.Prompt) == "":
	case path.Base(p.File) == ForeignPlan && !prompt.NamesVariable(p.Prompt):
		p.Prompt = ""
		p.log(
			"plan: %s is not used: it names none of ralph's variables, so it seems to be for another tool; to have it used, "+
				"write $RALPH_STORY where it names the story",
			name,
		)
	default:
		p.log("plan: agents are told what %s says, and ralph's own sections after it", name)
	}
}
