package hook

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Facts are what a Stop hook judges.
type Facts struct {
	Active   Active
	PlanName string // "ralph/tasks.json"
	Plan     []byte
	PlanErr  error // why the plan could not be read
	Foreign  bool  // it is a prd.json, which may lack the fields of reviews
	// Status is the output of git status --porcelain -z. It is asked last: it starts a process.
	Status func() ([]byte, error)
}

// Stop decides whether an agent can stop: block names what it must do first, and is empty if it can. The first check
// that fails reports all that it has found. warnings are for a person.
func Stop(f Facts) (block string, warnings []string) {
	p, problems := f.plan()
	if len(problems) > 0 {
		return listed("The task list is malformed. Fix "+f.PlanName+", then stop again:", problems), nil
	}
	if !f.Active.SkipReview {
		if broken := p.Invariants(f.Active.Rules); len(broken) > 0 {
			return listed("The review fields of "+f.PlanName+" contradict each other. Fix them, then stop again:",
				texts(broken)), nil
		}
		if f.Active.Mode == "" || f.Active.Snapshot == nil {
			warnings = append(warnings, ActiveFile+" has no iterationMode or no preIterationSnapshot: what this iteration "+
				"changed in the review fields is not checked.")
		} else if broken := plan.Transitions(f.Active.Snapshot, p, f.Active.Mode, f.Active.Rules); len(broken) > 0 {
			return listed("This iteration is for "+string(f.Active.Mode)+" and may not change the review fields of "+f.PlanName+
				" like this. Take it back, then stop again:", texts(broken)), warnings
		}
	}
	status, err := f.Status()
	if err != nil {
		return "", append(warnings, fmt.Sprintf("Whether everything is committed is not checked: %s.", err))
	}
	if changed := Uncommitted(status); len(changed) > 0 {
		return f.uncommitted(changed), warnings
	}
	return "", warnings
}

// plan is Check 1.
func (f Facts) plan() (plan.Plan, []string) {
	if f.PlanErr != nil {
		return plan.Plan{}, []string{f.PlanErr.Error()}
	}
	var (
		p   plan.Plan
		err error
	)
	if f.Foreign {
		p, _, err = plan.Read(f.PlanName, f.Plan)
	} else {
		p, err = plan.Parse(f.PlanName, f.Plan)
	}
	if err == nil {
		return p, nil
	}
	if e := (*plan.Error)(nil); errors.As(err, &e) && len(e.Problems) > 0 {
		return p, e.Problems
	}
	return p, []string{err.Error()}
}

func texts(violations []plan.Violation) []string {
	return safetext.Map(violations, func(v plan.Violation) string { return v.Text })
}

// mostListed is how many of anything an answer lists.
const mostListed = 50

func listed(title string, items []string) string {
	var b strings.Builder
	b.WriteString(title)
	for i, item := range items {
		if i == mostListed {
			fmt.Fprintf(&b, "\n- and %d more", len(items)-i)
			break
		}
		b.WriteString("\n- " + item)
	}
	return b.String()
}

// uncommitted is what Check 3 says.
func (f Facts) uncommitted(changed []string) string {
	dir, _, _ := safetext.CutLast(f.PlanName, "/")
	return listed("There are uncommitted changes. Before you stop:\n"+
		"1. Update "+dir+"/progress.txt with what was accomplished and what you learned.\n"+
		"2. Consider whether any lasting patterns belong in CLAUDE.md or .claude/rules/.\n"+
		"3. Commit ALL changes, including progress.txt and the updates of "+f.PlanName+".\n"+
		"Not committed:", changed)
}

// Uncommitted lists what git status --porcelain -z shows, a line a path. The files that ralph keeps while it runs are
// not the agent's, and do not count.
func Uncommitted(status []byte) []string {
	var changed []string
	entries := strings.Split(string(status), "\x00")
	for i := 0; i < len(entries); i++ {
		entry := entries[i]
		if len(entry) < 4 {
			continue
		}
		code, name := entry[:2], entry[3:]
		if strings.ContainsAny(code, "RC") { // the name it had follows
			i++
		}
		if !runtimeFile(name) {
			changed = append(changed, fmt.Sprintf("%s %q", code, name))
		}
	}
	return changed
}

func runtimeFile(name string) bool {
	switch name {
	case ActiveFile, ".ralph.lock", ".ralph_state.md", ".ralph/":
		return true
	}
	return strings.HasPrefix(name, ".ralph/") || strings.Contains(name, "/.ralph/")
}
