package planrun

import (
	"context"

	"github.com/ralph-loop/ralph/internal/journal"
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
	if err := p.ran(ctx, &v, src); err != nil {
		return status.PlanStanding{}, err
	}
	p.onRecord(&v)
	return status.StandPlan(v), nil
}

// ran adds what the newest run of the plan tells: its state, its rules, the story that it works on, the plan on its
// branch.
func (p *Plans) ran(ctx context.Context, v *status.PlanView, src Source) error {
	on, err := FindOnBranch(ctx, &p.Session, src)
	if err != nil {
		return err
	}
	if v.Note = on.Note(); on.Branch != "" {
		v.Plan = on.Plan
	}
	_, dir, err := p.NewestRun(planID(v.Plan))
	if dir == "" || err != nil {
		return err
	}
	found := &session.Found{Session: &p.Session, Dir: p.Dir, Run: dir, Follower: journal.Follow(dir)}
	st, err := found.Status()
	if err != nil {
		return err
	}
	v.Run, v.Rules = st.Line(), found.State.Rules()
	if st.State == "running" && found.State.Plan != nil {
		v.Plan = *found.State.Plan
	}
	if st.State == "running" && found.State.Turning != nil {
		v.Working, v.Mode = found.State.Turning.Story, found.State.Turning.Mode
	}
	return nil
}

// onRecord holds what the file says of reviews against what is on record here.
func (p *Plans) onRecord(v *status.PlanView) {
	id := planID(v.Plan)
	sealed, _ := sealedReviews(&p.Session, id)
	bound, _, claims := v.Plan.Bound(v.Rules, approvedByHand(&p.Session, id), sealed)
	v.Plan, v.Unrecorded = bound, claims
}
