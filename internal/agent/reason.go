package agent

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// judge tells how a turn ended by what was said and how the process ended. The agent's own words on success are never
// looked into: an agent may speak of rate limits all day.
// An agent that did nothing speaks of nothing else.
func (d dialect) judge(f facts, now time.Time) judgement {
	class := d.classify(f)
	byWords := class == loop.OK && f.idle
	if byWords {
		class = d.complaint(f)
	}
	j := d.explain(class, f, now)
	j.byWords = byWords && class != loop.OK
	if again := f.words(); f.idle && (class == loop.OK || class == loop.Broke) && namesReset.MatchString(again) {
		j.resets = resetTime(again, now)
	}
	return j
}

var namesReset = lazy(`(?i)\b(?:resets?|try again|available|retry|until)\b`)

// complaint is the class of what an agent says that did nothing. Where it does not report what it does, its words must
// begin like an error: it may have written code about one.
func (d dialect) complaint(f facts) loop.Class {
	said := strings.TrimSpace(f.words())
	class := byWords(said)
	if class == "" || class == loop.Rejected || !f.reports && !errorLine.MatchString(said) {
		return loop.OK
	}
	return class
}

// explain words a judgement: what happened, what to do about it, and what the agent said itself; in one line.
func (d dialect) explain(class loop.Class, f facts, now time.Time) judgement {
	j := judgement{class: class}
	if class == loop.OK {
		return j
	}
	said := f.words()
	if class == loop.UsageLimit {
		j.resets = f.resets(said, now)
	}
	j.reason = d.sentence(class, f, j.resets, now)
	switch {
	case class == loop.Empty, class == loop.Killed, class == loop.CutShort, class == loop.Declined && !f.failed():
		// what it said is not why
	case class == loop.Rejected && f.result == nil:
		j.reason = because(j.reason, complaint(f.stderr, said))
	case f.result == nil || len(f.result.Errors) == 0 && f.result.Text == "":
		j.reason = because(j.reason, tellingLine(said))
	default:
		j.reason = because(j.reason, said)
	}
	return j
}

// resets is when a usage limit ends: as the provider told it, else by the agent's words.
func (f facts) resets(said string, now time.Time) time.Time {
	if f.limit.Rejected && !f.limit.Resets.IsZero() {
		return f.limit.Resets // also one that has come: what was told is told, and whoever waits looks at the clock
	}
	return resetTime(said, now)
}

func (d dialect) sentence(class loop.Class, f facts, resets, now time.Time) string {
	name, status := d.name, ""
	if f.result != nil && f.result.Status > 0 {
		status = fmt.Sprintf(" (HTTP %d)", f.result.Status)
	}
	switch class {
	case loop.Empty:
		return name + " said nothing: nothing to do but ask again"
	case loop.Waits:
		return name + " waits for a person: read its output, answer it, then resume the run"
	case loop.Declined:
		return name + "'s model refused to do it: word the task differently, or name another model in agent.model"
	case loop.UsageLimit:
		switch left := resets.Sub(now); {
		case resets.IsZero():
			return name + "'s rate limit is reached" + status + ": try again later"
		case left > 0 && left <= time.Minute:
			return name + "'s rate limit is reached" + status + fmt.Sprintf(": try again in %.0fs", math.Ceil(left.Seconds()))
		}
		return name + "'s usage limit is reached until " + resets.Format(time.RFC3339) + ": try again after that"
	case loop.Overloaded:
		return name + "'s model is overloaded" + status + ": try again later"
	case loop.OutOfOrder:
		return name + "'s model is out of order" + status + ": try again later"
	case loop.Network:
		return name + " did not reach its model: check the network, the proxy settings and the model's address, then try " +
			"again"
	case loop.Auth:
		return name + "'s credential is missing or was refused" + status + ": " + d.credential()
	case loop.Billing:
		return name + "'s account has no credit" + status + ": add credit, or use another key; " + d.credential()
	case loop.Rejected:
		return name + " or its model refused how it was called" + status +
			": check the settings agent.flags and agent.model, and " + name + "'s version"
	case loop.TooLong:
		return "the prompt is too long for " + name + " or its model: shorten the task, or split it"
	case loop.MaxTurns:
		return name + " used up its own limit of turns or of words: raise it in agent.flags, or ask for less at once"
	case loop.Spent:
		return name + " used up its own budget: raise it in agent.flags, or ask for less at once"
	case loop.Killed:
		return name + " was ended by a signal that ralph did not send: " + sender(f.end)
	case loop.CutShort:
		return name + " ended without saying how: see its log"
	}
	if f.result == nil || !f.result.Failed {
		return fmt.Sprintf("%s ended with exit code %d: see its log", name, f.end.Exit)
	}
	return name + " failed: see its log, and try again"
}

// sender says where to look for who has sent a signal: the system itself sends none but SIGKILL, when it runs out of
// memory.
func sender(end proc.Result) string {
	if end.Signal == "SIGKILL" || end.Exit == 128+9 {
		return "see whether the machine ran out of memory"
	}
	return "see who did"
}

// credential says which credentials an agent takes.
func (d dialect) credential() string {
	switch n := len(d.keys); {
	case n == 0 || d.keys[0] == "*":
		return "check the one that it takes"
	case n == 1:
		return "check " + d.keys[0]
	default:
		return "check " + strings.Join(d.keys[:n-1], ", ") + " or " + d.keys[n-1]
	}
}
