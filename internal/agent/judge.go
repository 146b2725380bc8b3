package agent

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// judgement is what facts come to.
type judgement struct {
	class  loop.Class
	reason string    // one sentence: what happened and what to do; "" for OK
	resets time.Time // of loop.UsageLimit: when it may go on; zero: not known
}

// judge tells how a turn ended by what was said and how the process ended. The agent's own words on success are never looked into: an
// agent may speak of rate limits all day.
func (d dialect) judge(f facts, now time.Time) judgement {
	if d.class != nil {
		if class := d.class(f); class != "" {
			return d.explain(class, f, now)
		}
	}
	failed := f.result != nil && f.result.Failed
	switch {
	case failed, f.result == nil && f.end.Exit != 0:
		if class := f.failure(); class != "" {
			return d.explain(class, f, now)
		}
	}
	switch {
	case failed:
		return d.explain(loop.Broke, f, now)
	case signalled(f.end) && f.result == nil:
		return d.explain(loop.Killed, f, now)
	case f.end.Exit != 0 && !lingered(f):
		return d.explain(loop.Broke, f, now)
	case f.result == nil && f.any && !f.plain && d.ends:
		return d.explain(loop.CutShort, f, now)
	case !f.said:
		return d.explain(loop.Empty, f, now)
	}
	return judgement{class: loop.OK}
}

// lingered reports whether a bad end is ours: we ended a process that had already said its word.
func lingered(f facts) bool {
	return f.result != nil && !f.result.Failed && (f.end.Class == proc.TimedOut || f.end.Class == proc.Idle)
}

// signalled reports whether a signal that was not ours ended the process, or its shell says that one did.
func signalled(end proc.Result) bool {
	return end.Class == proc.Signalled || end.Exit == 128+2 || end.Exit == 128+9 || end.Exit == 128+15
}

// failure is the class of a failed turn: by the HTTP status of the model's last answer, else by words.
func (f facts) failure() loop.Class {
	said := f.words()
	if class := byWords(said); class != "" {
		return class
	}
	if f.result != nil {
		return byStatus(f.result.Status)
	}
	return ""
}

// words are what a failed turn says about itself.
func (f facts) words() string {
	if f.result != nil {
		return strings.TrimSpace(f.result.Text + " " + strings.Join(f.result.Errors, "; "))
	}
	said := f.noise
	if f.plain {
		said = lastBytes(f.text, 4<<10)
	}
	return strings.TrimSpace(said + "\n" + f.stderr)
}

func byStatus(status int) loop.Class {
	switch {
	case status == 401, status == 403:
		return loop.Auth
	case status == 402:
		return loop.Billing
	case status == 429:
		return loop.UsageLimit
	case status == 413:
		return loop.TooLong
	case status == 529, status == 503:
		return loop.Overloaded
	case status >= 500:
		return loop.OutOfOrder
	case status >= 400:
		return loop.Rejected
	}
	return ""
}

// phrases are how providers and agents word a failure, the most telling first.
var phrases = []struct {
	class   loop.Class
	pattern *regexp.Regexp
}{
	{loop.Billing, regexp.MustCompile(`(?i)credit balance|insufficient[_ ](quota|credit|funds|balance)|out of credits|payment required|billing (hard )?limit|exceeded your current quota`)},
	{loop.TooLong, regexp.MustCompile(`(?i)prompt is too long|context[_ ]length|context window|maximum context|input is too long|too many tokens|request[_ ]too[_ ]large`)},
	{loop.UsageLimit, regexp.MustCompile(`(?i)(usage|rate|session|weekly|5-hour|request|token)s?[- _]limit|hit your .{0,20}limit|too many requests|resource[_ ]exhausted|\b429\b|quota exceeded`)},
	{loop.Overloaded, regexp.MustCompile(`(?i)overloaded|\b529\b|\b503\b|service unavailable|at capacity`)},
	{loop.Auth, regexp.MustCompile(`(?i)not logged in|/login|please (log|sign) in|(invalid|incorrect|missing|no|expired) (x-)?(api[ -_]?key|auth\w* token|oauth token|credentials?)|unauthori[sz]ed|authentication[_ ](failed|error)|permission[_ ]denied_error|\b401\b`)},
	{loop.OutOfOrder, regexp.MustCompile(`(?i)internal server error|bad gateway|gateway time-?out|\b50[024]\b|api_error`)},
	{loop.Network, regexp.MustCompile(`(?i)econn(refused|reset|aborted)|enotfound|etimedout|eai_again|connection (refused|reset|closed|error)|connection to .{0,60} (failed|lost)|network (error|is unreachable)|unable to connect|could not resolve|dns error|no such host|socket hang up|fetch failed|stream (disconnected|closed|error)|request timed out`)},
	{loop.Rejected, regexp.MustCompile(`(?i)unknown (option|argument|flag)|unexpected argument|unrecognized (option|argument)|invalid (option|argument|value)|model.{0,60}(not found|does not exist|not supported)|(not found|does not exist).{0,40}model|invalid_request`)},
}

// byWords is the class that a failure's own words tell; "" when they tell none.
func byWords(said string) loop.Class {
	for _, p := range phrases {
		if p.pattern.MatchString(said) {
			return p.class
		}
	}
	return ""
}

// explain words a judgement: what happened, and what to do about it.
func (d dialect) explain(class loop.Class, f facts, now time.Time) judgement {
	j := judgement{class: class}
	said := f.words()
	if f.result == nil {
		said = lastLine(said)
	}
	status := ""
	if f.result != nil && f.result.Status > 0 {
		status = fmt.Sprintf(" (HTTP %d)", f.result.Status)
	}
	keys := strings.Join(d.keys, " or ")
	if keys == "*" {
		keys = "its credential"
	}
	switch class {
	case loop.Empty:
		j.reason = d.name + " said nothing: nothing to do but ask again"
		return j
	case loop.Declined:
		j.reason = d.name + "'s model refused to do it: word the task differently, or name another model"
	case loop.UsageLimit:
		if j.resets = f.limit.Resets; !f.limit.Rejected {
			j.resets = resetTime(said, now)
		}
		if j.resets.IsZero() {
			j.reason = d.name + "'s rate limit is reached: try again later"
		} else {
			j.reason = d.name + "'s usage limit is reached until " + j.resets.Format(time.RFC3339) + ": try again after that"
		}
	case loop.Overloaded, loop.OutOfOrder:
		j.reason = d.name + "'s model is out of order" + status + ": try again later"
	case loop.Network:
		j.reason = d.name + " did not reach its model: check the network, the proxy settings and the model's address, then try again"
	case loop.Auth:
		j.reason = d.name + "'s credential is missing or was refused" + status + ": check " + keys
	case loop.Billing:
		j.reason = d.name + "'s account has no credit: add some, or give another key"
	case loop.Rejected:
		j.reason = d.name + " or its model refused how it was called" + status + ": check the agent's flags, its model and its version"
	case loop.TooLong:
		j.reason = "the prompt is too long for " + d.name + "'s model: shorten the task, or split it"
	case loop.MaxTurns:
		j.reason = d.name + " used up its own limit of turns: raise it in the agent's flags, or ask for less at once"
	case loop.Spent:
		j.reason = d.name + " used up its own budget: raise it in the agent's flags, or ask for less at once"
	case loop.Killed:
		j.reason = d.name + " was ended by a signal that was not ralph's: see whether the machine ran out of memory"
	case loop.CutShort:
		j.reason = d.name + " ended without saying how: see its log"
	default:
		j.class = loop.Broke
		j.reason = d.name + " failed: see its log, and try again"
		if f.result == nil {
			j.reason = fmt.Sprintf("%s ended with exit code %d: see its log", d.name, f.end.Exit)
		}
	}
	j.reason = because(j.reason, said)
	return j
}
