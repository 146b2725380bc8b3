package plan

import "slices"

// Mode says what the next iteration is for: review-fix, else review, else implement; with SkipReview always implement.
func (p Plan) Mode(r Rules) Mode {
	mode := Implement
	for _, s := range p.Stories {
		switch {
		case r.SkipReview:
		case s.ReviewStatus == ChangesRequested:
			return ReviewFix
		case s.ReviewStatus == NeedsReview:
			mode = Review
		}
	}
	return mode
}

// Next is the story of the next iteration: of those the mode is for the one of the best priority, of several the first
// in the file. A story is implemented only when all that it depends on has passed; an implemented story is reviewed and
// fixed in any case, because a dependency that is added later could block it forever. ok is false when nothing is left
// to do in this mode.
func (p Plan) Next(m Mode, r Rules) (s Story, ok bool) {
	passed := make(map[string]bool, len(p.Stories))
	for _, s := range p.Stories {
		passed[s.ID] = s.Done(r)
	}
	best := -1
	for i, s := range p.Stories {
		if s.waitsFor(m, r) && (m != Implement || s.ready(passed)) && (best < 0 || s.Priority < p.Stories[best].Priority) {
			best = i
		}
	}
	if best < 0 {
		return Story{}, false
	}
	return p.Stories[best], true
}

// waitsFor reports whether a story is ready for an iteration of a mode.
func (s Story) waitsFor(m Mode, r Rules) bool {
	switch m {
	case Implement:
		return !s.Passes && (r.SkipReview || s.ReviewStatus == Unreviewed)
	case Review:
		return !r.SkipReview && s.ReviewStatus == NeedsReview
	case ReviewFix:
		return !r.SkipReview && s.ReviewStatus == ChangesRequested
	}
	return false
}

func (s Story) ready(passed map[string]bool) bool {
	return !slices.ContainsFunc(s.DependsOn, func(id string) bool { return !passed[id] })
}

// Done reports whether nothing is left to do for a story.
func (s Story) Done(r Rules) bool {
	return s.Passes && (r.SkipReview || s.ReviewStatus == Approved)
}

// Complete reports whether every story passes, and unless SkipReview is approved. A plan without stories is not
// complete.
func (p Plan) Complete(r Rules) bool {
	return len(p.Stories) > 0 && len(p.those(func(s Story) bool { return s.Done(r) })) == len(p.Stories)
}

// Passed counts the stories whose passes is true.
func (p Plan) Passed() int { return len(p.those(func(s Story) bool { return s.Passes })) }

// cap is after how many reviews a story is approved whatever they say. Rules that name none have the default, never
// none: with a cap of 0 the first review would pass every story.
func (r Rules) cap() int {
	if r.ReviewCap < 1 {
		return DefaultReviewCap
	}
	return r.ReviewCap
}

// Estimate is how many iterations the stories that are left will take. likely is three for a story that is not begun
// (implemented, reviewed, and every other one fixed or reviewed again), two for one that waits for its review or for
// its fix. most is what the cap allows: a story that is not begun is implemented, reviewed as often as the cap says and
// fixed between, 2×cap in all, 10 at a cap of 5; of one that is begun the reviews that it has had are taken off. With
// SkipReview both are one a story. likely is never more than most.
func (p Plan) Estimate(r Rules) (likely, most int) {
	for _, s := range p.Stories {
		if s.Done(r) {
			continue
		}
		l, m := s.estimate(r)
		likely += min(l, m)
		most += m
	}
	return likely, most
}

func (s Story) estimate(r Rules) (likely, most int) {
	if r.SkipReview {
		return 1, 1
	}
	reviews := max(1, r.cap()-s.ReviewCount)
	switch s.ReviewStatus {
	case NeedsReview:
		return 2, 2*reviews - 1
	case ChangesRequested:
		return 2, 2 * reviews
	}
	return 3, 2 * reviews
}
