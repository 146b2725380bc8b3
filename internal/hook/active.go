package hook

import (
	"encoding/json"
	"fmt"

	"github.com/ralph-loop/ralph/internal/plan"
)

// ActiveFile is there while a plan is run.
const ActiveFile = ".ralph-active"

// Active is what the harness says in ActiveFile before each iteration. It is taken as it is: whose process wrote it
// is not asked.
type Active struct {
	Rules    plan.Rules
	Mode     plan.Mode     // "" when it is not said
	Snapshot plan.Snapshot // nil without one
	RalphDir string        // where the plan is, relative to the file's directory
	PlanFile string        // in RalphDir; "" is tasks.json, or prd.json where only that is
}

// ReadActive reads an ActiveFile. What it cannot read it says, and takes the default: a file that exists is a run,
// whatever it holds.
func ReadActive(content []byte) (Active, []string) {
	a := Active{Rules: plan.Rules{ReviewCap: plan.DefaultReviewCap}, RalphDir: "ralph"}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil {
		return a, []string{fmt.Sprintf("%s is not a JSON object: %s.", ActiveFile, err)}
	}
	var problems []string
	take := func(name string, to any) {
		value, ok := fields[name]
		if !ok || string(value) == "null" {
			return
		}
		if err := json.Unmarshal(value, to); err != nil {
			problems = append(problems, fmt.Sprintf("%s of %s is not what it should be: %s.", name, ActiveFile, err))
		}
	}
	take("skipReview", &a.Rules.SkipReview)
	take("reviewCap", &a.Rules.ReviewCap)
	take("failAtCap", &a.Rules.FailAtCap)
	take("iterationMode", &a.Mode)
	take("preIterationSnapshot", &a.Snapshot)
	take("ralphDir", &a.RalphDir)
	take("planFile", &a.PlanFile)
	if a.Rules.ReviewCap < 1 {
		a.Rules.ReviewCap = plan.DefaultReviewCap
	}
	if a.RalphDir == "" {
		a.RalphDir = "ralph"
	}
	switch a.Mode {
	case "", plan.Implement, plan.Review, plan.ReviewFix:
	default:
		problems = append(problems, fmt.Sprintf("iterationMode of %s is %q; must be implement, review or review-fix.",
			ActiveFile, a.Mode))
		a.Mode = ""
	}
	return a, problems
}
