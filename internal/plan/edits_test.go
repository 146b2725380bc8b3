package plan

import (
	"fmt"
	"slices"
	"strings"
)

// step is the plan as an agent leaves it: mostly with the step that the mode is for, sometimes with what it should not
// do.
func (r *run) step(mode Mode, given Story) Plan {
	p := r.plan.With()
	s := p.Story(given.ID)
	if r.chance(80) {
		switch {
		case r.rules.SkipReview:
			s.Passes, s.Notes = true, "Done."
		case mode == Implement:
			s.ReviewStatus = NeedsReview
		case mode == ReviewFix:
			s.ReviewStatus, s.ReviewFeedback = NeedsReview, ""
		case r.chance(50):
			s.ReviewStatus, s.Passes, s.Notes = Approved, true, "Done."
			s.ReviewCount++
			if s.ReviewCount >= r.rules.ReviewCap && r.chance(50) {
				s.ReviewFeedback = AtCap + " mend it"
			}
		default:
			s.ReviewStatus, s.ReviewFeedback = ChangesRequested, "mend it"
			s.ReviewCount++
		}
	}
	for r.chance(35) {
		r.mischief(&p)
	}
	return p
}

// mischief changes any field of any story, or the plan.
func (r *run) mischief(p *Plan) {
	if len(p.Stories) == 0 {
		return
	}
	at := r.rand.IntN(len(p.Stories))
	s := &p.Stories[at]
	other := &p.Stories[r.rand.IntN(len(p.Stories))]
	fresh := storyAt(fmt.Sprintf("N-%d", r.rand.IntN(1000)), false, Unreviewed, 0, "")
	switch r.rand.IntN(21) {
	case 0:
		s.Passes, s.Notes = !s.Passes, "Done."
	case 1:
		s.ReviewStatus = append([]ReviewStatus{Unreviewed}, reviewStatuses...)[r.rand.IntN(4)]
	case 2:
		s.ReviewCount += r.rand.IntN(4) - 1
	case 3:
		s.ReviewFeedback = []string{"", "mend it", AtCap, AtCap + " x"}[r.rand.IntN(4)]
	case 4:
		s.Passes, s.ReviewStatus, s.Notes = true, Approved, "Done."
	case 5:
		s.ID, other.ID = other.ID, s.ID
	case 6:
		s.ID = strings.ToLower(s.ID)
	case 7:
		p.Stories = slices.Delete(p.Stories, at, at+1)
	case 8:
		slices.Reverse(p.Stories)
	case 9, 10:
		p.Stories = append(p.Stories, fresh)
	case 11:
		fresh.Passes, fresh.ReviewStatus, fresh.Notes = true, Approved, "Done."
		p.Stories = append(p.Stories, fresh)
	case 12: // a criterion moves to a new story
		last := len(s.AcceptanceCriteria) - 1
		fresh.AcceptanceCriteria = []string{s.AcceptanceCriteria[last]}
		if last > 0 {
			s.AcceptanceCriteria = slices.Clone(s.AcceptanceCriteria[:last])
		}
		p.Stories = append(p.Stories, fresh)
	case 13:
		s.AcceptanceCriteria = []string{"it is there"}
	case 14:
		s.Title += "!"
	case 15:
		s.Notes = []string{"", "Mind the gap."}[r.rand.IntN(2)]
	case 16:
		s.Priority = float64(r.rand.IntN(9))
	case 17:
		s.DependsOn = []string{other.ID}
	case 18:
		s.DependsOn = nil
	case 19:
		p.BranchName, p.VerifyCommands = "main", nil
	case 20:
		*s, *other = *other, *s
		s.ID, other.ID = other.ID, s.ID
	}
}

// scribble changes the text of the file.
func (r *run) scribble(text string) string {
	at := r.rand.IntN(len(text))
	words := []string{`"passes": false`, `"passes": true`, `"Passes": true,`, `"reviewStatus": null`,
		`"reviewStatus": "approved"`, `"needs_review"`,
		`"changes_requested"`, `"approved"`, `null`, `"reviewCount": 0`, `"reviewCount": 1`, `"reviewCount": 1e0`, `{`, `}`,
		`[`, `]`, `,`, `"`, "\n", "\\", "\x00", "\ufeff", "é"}
	from, to := words[r.rand.IntN(len(words))], words[r.rand.IntN(len(words))]
	lines := strings.Split(text, "\n")
	i, j := r.rand.IntN(len(lines)), r.rand.IntN(len(lines))
	switch r.rand.IntN(7) {
	case 0:
		return text[:at] + text[min(len(text), at+r.rand.IntN(80)):]
	case 1:
		return text[:at] + to + text[at:]
	case 2: // one of them
		if n := strings.Count(text, from); n > 0 {
			parts := strings.SplitN(text, from, 2+r.rand.IntN(n))
			last := len(parts) - 1
			return strings.Join(parts[:last], from) + to + parts[last]
		}
	case 3:
		return strings.ReplaceAll(text, from, to)
	case 4:
		lines[i], lines[j] = lines[j], lines[i]
		return strings.Join(lines, "\n")
	case 5:
		return strings.Join(slices.Insert(lines, i, lines[j]), "\n")
	case 6:
		return strings.Join(slices.Delete(lines, i, i+1), "\n")
	}
	return text
}
