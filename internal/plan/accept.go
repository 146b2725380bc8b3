package plan

import "strings"

// Accept is what the harness takes of an iteration's edit: after, when there are no violations; else before with the
// new stories that begin as new stories do, and with the notes, priorities and dependencies of after as far as they are
// legal. No review field of before changes, and no story of it is lost. In a review that a harness has the verdict of,
// what is taken is what Reviewed makes of it: Agrees.
func Accept(before, after Plan, story string, m Mode, r Rules) (Plan, []Violation) {
	found := violations(Compare(before, after, story, m, r))
	if len(found) == 0 && !after.fits() {
		found.add(contentCheck, "", "userStories", "The plan is larger than %d stories or %d bytes; take out what was added.",
			maxStories, maxPlan)
	}
	if len(found) == 0 {
		return after, nil
	}
	if r.SkipReview {
		m = Implement
	}
	return harmless(before, after, story, m), found
}

// fits reports whether Parse would read what Marshal writes.
func (p Plan) fits() bool {
	return len(p.Stories) <= maxStories && len(p.Marshal()) <= maxPlan
}

// harmless is before with what may be taken of an edit that is illegal. What cannot be done in any order is tried with
// less.
func harmless(before, after Plan, story string, m Mode) Plan {
	added := begun(before, after, m)
	for _, p := range []Plan{
		before.taking(after, story, m, true).With(added...),
		before.taking(after, story, m, false).With(added...),
		before.taking(after, story, m, false),
	} {
		if _, err := p.Order(); err == nil && p.fits() {
			return p
		}
	}
	return before
}

// begun are the new stories of an edit that begin as new stories do. A review has none.
func begun(before, after Plan, m Mode) []Story {
	if m == Review {
		return nil
	}
	taken := map[string]bool{}
	for _, s := range before.Stories {
		taken[strings.ToLower(s.ID)] = true
	}
	var out []Story
	for _, s := range after.Stories {
		if key := strings.ToLower(s.ID); !taken[key] && s.standing() == (ReviewState{}) && s.ReviewFeedback == "" {
			taken[key] = true
			out = append(out, s)
		}
	}
	return out
}

// taking is the plan with the notes and priorities of an edit, and the dependencies if they are needed. A review has
// only the notes of its story.
func (p Plan) taking(after Plan, story string, m Mode, dependencies bool) Plan {
	var changed []Story
	for _, s := range p.Stories {
		is := after.Story(s.ID)
		if is == nil || m == Review && s.ID != story {
			continue
		}
		if strings.TrimSpace(is.Notes) != "" || !s.Passes {
			s.Notes = is.Notes
		}
		if m != Review {
			s.Priority = is.Priority
		}
		if m != Review && dependencies {
			s.DependsOn = is.DependsOn
		}
		changed = append(changed, s)
	}
	return p.With(changed...)
}
