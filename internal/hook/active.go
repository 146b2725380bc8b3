package hook

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/ralph-loop/ralph/internal/plan"
)

// ActiveFile is there while a plan is run.
const ActiveFile = ".ralph-active"

// Active is what the harness says in ActiveFile before each iteration. It is taken as it is: whose process wrote it
// is not asked.
type Active struct {
	plan.Rules
	Mode     plan.Mode     `json:"iterationMode"`        // "" when it is not said
	Snapshot plan.Snapshot `json:"preIterationSnapshot"` // nil without one
	RalphDir string        `json:"ralphDir"`             // where the plan is, relative to the file's directory
	PlanFile string        `json:"planFile"`             // in RalphDir; "" is tasks.json
}

// ReadActive reads an ActiveFile. What it cannot read it says, and takes the default: a file that exists is a run,
// whatever it holds.
func ReadActive(content []byte) (a Active, problems []string) {
	if err := json.Unmarshal(content, &a); err != nil { // the other members are still read
		problems = append(problems, fmt.Sprintf("%s is not what it should be: %s.", ActiveFile, err))
	}
	if a.ReviewCap < 1 {
		a.ReviewCap = plan.DefaultReviewCap
	}
	a.RalphDir = cmp.Or(a.RalphDir, "ralph")
	switch a.Mode {
	case "", plan.Implement, plan.Review, plan.ReviewFix:
	default:
		problems = append(problems, fmt.Sprintf("iterationMode of %s is %q; must be implement, review or review-fix.",
			ActiveFile, a.Mode))
		a.Mode = ""
	}
	return a, problems
}
