package report

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// cost says what the run has spent, of how much where that is limited, and what its issue has cost in all; ""
// when nothing is known and nothing limited.
func (v View) cost() string {
	s := v.State
	text := wording.UsageText(s.Spent())
	if v.Limits.CostUSD > 0 || v.Limits.Tokens > 0 {
		text = wording.JoinedBy(" · ", v.money(s.Spent()), v.amount(s.Spent()))
	}
	if text == "" && s.OnIssue() == (loop.Usage{}) {
		return ""
	}
	name := "Cost"
	if s.End == nil {
		name = "Cost so far"
	}
	if issue := v.onIssue(); issue != "" {
		text = wording.JoinedBy("; ", text, issue)
	}
	if own := v.byAgents(); own != "" {
		text = wording.JoinedBy("; ", text, "by the agent's own count "+own)
	}
	return "**" + name + ":** " + text
}

// byAgents is what the agents themselves counted, where the answers of their models say something else; "" otherwise.
func (v View) byAgents() string {
	spent, differ := v.State.Spent(), false
	for _, it := range v.State.Iterations {
		if told := it.Turn.AgentUsage; told != nil && it.N > v.State.Reopened {
			spent, differ = spent.Minus(it.Turn.Usage).Plus(*told), true
		}
	}
	if !differ {
		return ""
	}
	return wording.UsageText(spent)
}

func (v View) money(u loop.Usage) string {
	switch {
	case v.Limits.CostUSD > 0:
		return fmt.Sprintf("%s of at most %s", wording.Dollars(u.CostUSD), wording.Dollars(v.Limits.CostUSD))
	case u.CostUSD > 0:
		return wording.Dollars(u.CostUSD)
	}
	return ""
}

func (v View) amount(u loop.Usage) string {
	switch {
	case v.Limits.Tokens > 0:
		return fmt.Sprintf("%s of at most %s tokens", wording.Tokens(u.Tokens()), wording.Tokens(v.Limits.Tokens))
	case u.Tokens() > 0:
		return wording.Tokens(u.Tokens()) + " tokens"
	}
	return ""
}

// onIssue is what all that was ever done on the issue has cost, when that is more than what was spent now, or limited.
func (v View) onIssue() string {
	s := v.State
	all, where := s.OnIssue(), " on this issue in all"
	if s.Start.Issue == 0 {
		where = " in all"
	}
	switch {
	case v.Limits.IssueCostUSD > 0:
		return fmt.Sprintf("%s of at most %s%s", wording.Dollars(all.CostUSD), wording.Dollars(v.Limits.IssueCostUSD), where)
	case all == s.Spent():
		return ""
	case all.CostUSD > 0:
		return wording.Dollars(all.CostUSD) + where
	}
	return wording.Tokens(all.Tokens()) + " tokens" + where
}

// usedUp are the names of those limits that are used up, as the settings of the action name them.
func (v View) usedUp() (names []string, issue bool) {
	s := v.State
	if l := v.Limits.CostUSD; l > 0 && s.Spent().CostUSD >= l {
		names = append(names, "max_cost_usd")
	}
	if l := v.Limits.Tokens; l > 0 && s.Spent().Tokens() >= l {
		names = append(names, "max_tokens")
	}
	if l := v.Limits.IssueCostUSD; l > 0 && s.OnIssue().CostUSD >= l {
		return append(names, "max_cost_usd_per_issue"), true
	}
	return names, false
}
