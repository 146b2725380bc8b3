package planrun

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/status"
	"github.com/ralph-loop/ralph/internal/session"
)

// Look says where the plan stands, and the newest run of it. It writes nothing.
func (p *Plans) Look(ctx context.Context) (status.PlanStanding, error) {
	root, err := p.Open(ctx)
	if err != nil {
		return status.PlanStanding{}, err
	}
	defer root.Close()
	src, err := ReadPlanIn(p.Dir, p.PlanDir)
	if err != nil {
		return status.PlanStanding{}, err
	}
	of, _, err := readPlan(src.File, src.Content)
	if err != nil {
		return status.PlanStanding{}, err
	}
	v := status.PlanView{Plan: of, Rules: p.Rules(), File: src.File, Redact: p.Redact}
	if err := p.ran(&v); err != nil {
		return status.PlanStanding{}, err
	}
	p.onRecord(&v)
	return status.StandPlan(v), nil
}

// ran adds what the newest run of the plan's file tells: its state, its rules, the story that it works on.
func (p *Plans) ran(v *status.PlanView) error {
	found, state, err := p.newestRun(v.File)
	if found == nil || err != nil {
		return err
	}
	st, err := found.Status()
	if err != nil {
		return err
	}
	v.Run, v.Rules = st.Line(), state.Rules()
	// what the agent has written into the file by now has not been judged
	if st.State == "running" && state.Plan != nil {
		v.Plan = *state.Plan
	}
	if st.State == "running" && state.Turning != nil {
		v.Working, v.Mode = state.Turning.Story, state.Turning.Mode
	}
	if state.Plan != nil && state.Plan.Passed() > v.Plan.Passed() {
		v.Note = fmt.Sprintf(
			"the run has come to %d of %d stories on the branch %s; this is %s as it is checked out here",
			state.Plan.Passed(), len(state.Plan.Stories), state.Start.Branch, v.File,
		)
	}
	return nil
}

// onRecord holds what the file says of reviews against what is on record here.
func (p *Plans) onRecord(v *status.PlanView) {
	id := planID(v.Plan)
	sealed, _ := sealedReviews(&p.Session, id)
	bound, _, claims := v.Plan.Bound(v.Rules, approvedByHand(&p.Session, id), sealed)
	v.Plan = bound
	for _, c := range claims {
		v.Unrecorded = append(v.Unrecorded, c.Story)
	}
}

// newestRun is the newest run of a plan's file in this clone; nil when there is none.
func (p *Plans) newestRun(file string) (*session.Found, loop.State, error) {
	runs := filepath.Join(p.Dir, ".ralph", "runs")
	entries, err := os.ReadDir(runs) // in the order of their names, which begin with the time
	if err != nil && !os.IsNotExist(err) {
		return nil, loop.State{}, fmt.Errorf("looking for runs of the plan: %w", err)
	}
	for _, e := range slices.Backward(entries) {
		dir := filepath.Join(runs, e.Name())
		state, _, err := journal.Follow(dir).Next()
		if err == nil && state.Start.Plan != nil && state.Start.Plan.File == file {
			return &session.Found{
				Session: &p.Session, Dir: p.Dir, Run: dir, Follower: journal.Follow(dir),
			}, state, nil
		}
	}
	return nil, loop.State{}, nil
}
