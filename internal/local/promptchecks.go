package local

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/loop"
)

// tellChecks says what will judge the work, where that is to be said. now says that the checks that were found run
// before the first turn.
func (p *PromptRun) tellChecks(rules engine.Rules, now bool) {
	lines := engine.CommandLines(rules.Settings.Guardrails)
	if len(lines) == 0 {
		return
	}
	if rules.Detected == "" {
		p.Log(
			"the guardrails run in this directory as the agent leaves it; a run of an issue (--issue) has them judge its " +
				"commits, in a checkout of their own",
		)
		return
	}
	when := "they run in this directory"
	if now {
		when += " now, and then"
	}
	p.Log(
		"checks found: %s (%s); %s whenever the agent says that it is done; --no-checks uses none",
		strings.Join(lines, ", "), rules.Detected, when,
	)
}

// asBegun are the rules of a run that goes on. Where no setting names checks, they are those that it began with.
func asBegun(rules engine.Rules, before loop.State) engine.Rules {
	if rules.Settings.GuardrailsFrom != "" || !before.Baselined && len(before.Iterations) == 0 {
		return rules
	}
	return engine.DetectedBefore(before, rules)
}
