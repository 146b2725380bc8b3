package agent

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// judgment is what facts come to.
type judgment struct {
	class  loop.Class
	reason string    // one sentence: what happened and what to do; "" for OK
	resets time.Time // when it says that it works again; zero: not known
	// byWords: the process ended well, and only what it said reports a failure
	byWords bool
}

// waitsExit is the exit code by which any agent says that it waits for a human, whatever it printed, unless
// dialect.ownExits.
const waitsExit = 42

func (d dialect) classify(f facts) loop.Class {
	switch {
	case f.asked:
		return loop.Auth
	case f.waits() && !d.ownExits:
		return loop.Waits
	case f.failed():
		return d.failure(f)
	case f.result == nil && f.any && !f.plain && d.ends:
		return loop.CutShort
	case f.result != nil && f.result.Stop == "refusal":
		return loop.Declined
	case !f.said:
		return loop.Empty
	}
	return loop.OK
}

// waits reports whether its exit code says that it waits for a human.
func (f facts) waits() bool { return f.end.Class == proc.Exited && f.end.Exit == waitsExit }

// failed reports whether the agent says that it failed, or its process ended badly without or in spite of its word.
func (f facts) failed() bool {
	if f.result != nil && f.result.Failed {
		return true
	}
	return f.end.Exit != 0 && !f.lingered()
}

// lingered reports whether a process that had said its word did not end by itself, so its end means nothing. What it
// says because it was interrupted is only what it has spent.
func (f facts) lingered() bool {
	switch f.end.Class {
	case proc.Canceled:
		return f.hung
	case proc.TimedOut, proc.Idle, proc.Signalled, proc.Limited:
		return f.result != nil && !strings.HasPrefix(f.result.Why, "aborted") && f.result.Subtype != "error_during_execution"
	}
	return false
}

// refusal is how programs begin when their own arguments are wrong; they print nothing else then.
var refusal = lazy(
	`(?i)^(error: )?(unknown|unrecogni[sz]ed|unexpected|invalid) (command[ -]line )?(option|argument|flag|value|choice)s?\b`)

// failure is the class of a failed turn: by the agent's own phrases, otherwise by the HTTP status of the model's last
// answer, otherwise by words, otherwise by how the process ended.
func (d dialect) failure(f facts) loop.Class {
	if class := classOf(d.phrases, f.told()); class != "" {
		return class
	}
	class, status := byWords(f.words()), 0
	if f.result != nil {
		status = f.result.Status
	}
	if d.ownExits && f.result != nil && status == 0 && f.end.Exit >= 400-256 {
		status = f.end.Exit + 256
	}
	if status > 0 {
		class = byStatus(status, class)
	}
	known, stderr := d.name != command.name, strings.TrimSpace(f.stderr)
	switch {
	case class == loop.Rejected && !known: // any program's words: not enough to end a run
		return loop.Broke
	case class != "":
		return class
	case known && !f.any && (refusal.MatchString(stderr) || d.refusal != nil && d.refusal.MatchString(stderr)):
		return loop.Rejected
	case f.result == nil && signalled(f.end):
		return loop.Killed
	case f.result == nil && f.any && !f.plain && d.ends && f.words() == "": // it was interrupted, and says nothing of it
		return loop.CutShort
	}
	return loop.Broke
}

// signalled reports whether a signal that was not ours ended the process, or its shell says that one did.
func signalled(end proc.Result) bool {
	return end.Class == proc.Signalled || end.Exit == 128+2 || end.Exit == 128+9 || end.Exit == 128+15
}

// How many of a failed process's last lines are read. What is before them is what it did, not why it failed.
const (
	saidLines = 5 // of plain text
	errLines  = 20
)

// words are what a failed turn says about itself: its result, otherwise the end of what is not its format, and of
// standard error.
func (f facts) words() string {
	if f.result != nil {
		if said := strings.TrimSpace(f.result.Text + " " + strings.Join(f.result.Errors, "; ")); said != "" {
			return said
		}
	}
	said := f.noise
	if f.plain {
		said = f.text
	}
	return strings.TrimSpace(lastLines(said, saidLines) + "\n" + lastLines(f.stderr, errLines))
}

// told is what a failed turn says about itself, its codes first: "exit=1 subtype=success why=api_error stop=refusal:
// words".
func (f facts) told() string {
	r := stream.Result{}
	if f.result != nil {
		r = *f.result
	}
	return plainer.Replace(fmt.Sprintf("exit=%d subtype=%s why=%s stop=%s: %s", f.end.Exit, r.Subtype, r.Why, r.Stop, f.words()))
}

// byStatus is the class of an HTTP status. Some say little by themselves, and the words that came with them more.
func byStatus(status int, words loop.Class) loop.Class {
	telling := words == loop.Billing || words == loop.TooLong
	switch {
	case status == 401:
		return loop.Auth
	case status == 402:
		return loop.Billing
	case status == 413:
		return loop.TooLong
	case status == 429 && words == loop.Billing:
		return loop.Billing
	case status == 429:
		return loop.UsageLimit
	case status == 403 && !telling:
		return loop.Auth
	case status == 408:
		return loop.Network
	case status == 529, status == 503:
		return loop.Overloaded
	case status >= 500 && words == loop.Overloaded:
		return loop.Overloaded
	case status >= 500:
		return loop.OutOfOrder
	case status >= 400 && (telling || words == loop.UsageLimit):
		return words
	case status >= 400:
		return loop.Rejected
	}
	return words
}

// byWords is the class that a failure's own words tell; "" when they tell none.
func byWords(said string) loop.Class {
	said = plainer.Replace(said)
	words := classOf(phrases, said)
	m := statuses.FindStringSubmatch(said)
	if m == nil {
		return words
	}
	class := byStatus(number(m[2]), words)
	// a test may well speak of a status 404
	if words == "" && !class.Transient() && !strings.EqualFold(m[1], "api error") {
		return ""
	}
	return class
}

// judge decides how a turn ended, by what was said and how the process ended. The agent's own words on success do not
// count, because an agent can work on rate limits. They do count if the agent did nothing.
func (d dialect) judge(f facts, now time.Time) judgment {
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

// explain words a judgment: what happened, what to do about it, and what the agent said itself; in one line.
func (d dialect) explain(class loop.Class, f facts, now time.Time) judgment {
	j := judgment{class: class}
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

// resets is when a usage limit ends: as the provider reported it, otherwise by the agent's words.
func (f facts) resets(said string, now time.Time) time.Time {
	if f.limit.Rejected && !f.limit.Resets.IsZero() {
		return f.limit.Resets // also one in the past: the caller compares it with the clock
	}
	return resetTime(said, now)
}

// sentences explain a class: NAME is the agent, and STATUS the HTTP status of its model's last answer, if it had one.
var sentences = map[loop.Class]string{
	loop.Empty:      "NAME said nothing: see its log, then try again",
	loop.Waits:      "NAME waits for a person: read its output, answer it, then resume the run",
	loop.Declined:   "NAME's model refused to do it: word the task differently, or name another model in agent.model",
	loop.UsageLimit: "NAME's rate limit is reachedSTATUS: try again ",
	loop.Overloaded: "NAME's model is overloadedSTATUS: try again later",
	loop.OutOfOrder: "NAME's model is out of orderSTATUS: try again later",
	loop.Network: "NAME did not reach its model: check the network, the proxy settings and the model's address, then try " +
		"again",
	loop.Auth:    "NAME's credential is missing or was refusedSTATUS: ",
	loop.Billing: "NAME's account has no creditSTATUS: add credit, or use another key; ",
	loop.Rejected: "NAME or its model refused how it was calledSTATUS: check the settings agent.flags and agent.model, and " +
		"NAME's version",
	loop.TooLong:  "the prompt is too long for NAME or its model: shorten the task, or split it",
	loop.MaxTurns: "NAME used up its own limit of turns or of words: raise it in agent.flags, or ask for less at once",
	loop.Spent:    "NAME used up its own budget: raise it in agent.flags, or ask for less at once",
	loop.Killed:   "NAME was ended by a signal that ralph did not send: ",
	loop.CutShort: "NAME ended without saying how: see its log",
}

func (d dialect) sentence(class loop.Class, f facts, resets, now time.Time) string {
	sentence, status := sentences[class], ""
	if f.result != nil && f.result.Status > 0 {
		status = fmt.Sprintf(" (HTTP %d)", f.result.Status)
	}
	switch left := resets.Sub(now); {
	case class == loop.UsageLimit && resets.IsZero():
		sentence += "later"
	case class == loop.UsageLimit && left > 0 && left <= time.Minute:
		sentence += fmt.Sprintf("in %.0fs", math.Ceil(left.Seconds()))
	case class == loop.UsageLimit:
		sentence = "NAME's usage limit is reached until " + resets.Format(time.RFC3339) + ": try again after that"
	case class == loop.Auth, class == loop.Billing:
		sentence += d.credential()
	case class == loop.Killed:
		sentence += sender(f.end)
	case sentence == "" && (f.result == nil || !f.result.Failed):
		sentence = fmt.Sprintf("NAME ended with exit code %d: see its log", f.end.Exit)
	case sentence == "":
		sentence = "NAME failed: see its log, and try again"
	}
	return strings.NewReplacer("NAME", d.name, "STATUS", status).Replace(sentence)
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

// windows are the kinds of limits that providers have: "rate limit", "5-hour limit". A "time limit" is not among them.
const windows = `\b(usage|rate|session|weekly|daily|monthly|hourly|\d+-hour|opus|sonnet|requests?|tokens?|messages?|plan|spend|spending|quota)[ -]`

// phrases are how providers and agents word a failure; the first that matches counts. They are searched for only in
// what a failed turn says about itself, but that may be the last lines of a program that speaks of its work, so a bare
// number or a bare "login" does not match. Those of fatal classes must be the most certain: one that is wrong ends the
// run.
var phrases = []phrase{
	// A provider's free quota is refilled by the minute or day, though it speaks of billing too.
	{loop.UsageLimit,
		lazy(`(?is)resource_exhausted|quota.{0,300}(retry in|retrydelay|per[ _-]?(minute|day)|free[ _-]?tier)`)},
	{loop.Billing,
		lazy(
			`(?i)credit balance|insufficient[_ ](quota|credits?|funds|balance)|out of credits|no credits? (left|remaining)|payment required|requires billing|` +
				`billing (hard[_ ])?limit|billing_error|exceeded your current quota|check your (plan and )?billing`)},
	{loop.UsageLimit, lazy(`(?i)out of (extra |included )?usage\b|exhausted your (daily |monthly )?(capacity|quota|allowance)|` +
		`rollout budget\b.{0,60}(exhausted|exceeded|spent|reached|used)|(extra|included) usage\b.{0,40}(exhausted|used up|spent)`)},
	{loop.Billing, lazy(`(?i)\b(plan|subscription|seat|license|tier)\b.{0,60}\b(does(n't| not)|do(n't| not)|no longer) (include|support|cover|allow)|` +
		`not (included|available|supported|enabled) (in|on|with|for|under) your (current )?(\w+ )?(plan|subscription|tier|seat|license)|` +
		`upgrade (your plan|to (a|the) \w+ plan) to|subscription (is |has )?(been )?(inactive|expired|cancell?ed|required|past due)|requires an? (active |paid )*(plan|subscription)`)},
	{loop.Auth, lazy(`(?i)(disabled|blocked|restricted|revoked|suspended|not (allowed|permitted|enabled|authorized)) (by|for|in) (your|this|the) (admin|organi[sz]ation|workspace|account|team|enterprise|company)|` +
		`(organi[sz]ation|account|workspace|team) (has been |is |was )(disabled|suspended|deactivated|blocked|banned|restricted)|` +
		`(not (available|supported)|unavailable|unsupported|restricted) (in|for|from) (your|this) (country|region|location|territory)|unsupported_country|` +
		`(your|this) (organi[sz]ation|account|workspace|admin\w*) (does(n't| not) (have access|allow|permit)|has not enabled)|` +
		`(policy|policies) (of|set by) your (admin\w*|organi[sz]ation)|contact your (admin|organi[sz]ation)|401 status code|unauthorized error`)},
	{loop.TooLong,
		lazy(
			`(?i)prompt is too long|prompt_too_long|context[_ ]length[_ ]exceeded|(exceed|over|larger|longer|too)\w*\b.{0,60}context (window|length|limit)|` +
				`context (window|length|limit)\b.{0,40}(exceed|full|reached|ran out)|ran out of room|maximum context|input (is|was) too (long|large)|` +
				`too many (input )?tokens|request[_ ]too[_ ]large|stdin input exceeds|input exceeds the maximum|token (count|limit).{0,40}exceed|exceeds the maximum number of tokens`)},
	{loop.UsageLimit,
		lazy(
			`(?i)(rate|usage)[_ -]?limit[_ -]?(error|exceeded|reached|hit)|ratelimit(error|exceeded|ed\b)|rate[- ]limited|too many requests|` +
				windows + `limits?\b.{0,40}\b(reached|exceeded|exhausted|hit|resets?)\b|\b(hit|reached|exceed\w*)\b.{0,60}` +
				windows + `limits?\b|` +
				`\b(hit|reached|exceed\w*|over) your\b.{0,60}\blimits?\b|quota (was |is |has been )?(exceeded|exhausted|reached)|(exceeded|exhausted)\b.{0,30}\bquota`)},
	{loop.Overloaded,
		lazy(
			`(?i)overloaded(_error)?\b|service unavailable|(at|over|no) capacity|(experiencing|due to) high (demand|load)|server[s]? (is|are) (too )?busy`)},
	{loop.Auth, lazy(`(?i)not (logged|signed) in|please (log|sign) in\b|\brun \S*\s?/?login\b|` +
		`\b(invalid|incorrect|missing|no|expired|revoked|wrong)[_ ](x-)?(api[ _-]?key|auth\w* token|oauth token|access token|refresh token|credentials?)\b|` +
		`\b(api[ _-]?key|(o?auth\w*|access|refresh) token|credentials?)\b.{0,20}\b(not (found|set|valid|configured)|missing|required|expired|invalid|revoked|unset)\b|` +
		`authentication[_ ](failed|error|required)|failed to authenticate|unauthenticated|401 unauthori[sz]ed`)},
	{loop.OutOfOrder, lazy(`(?i)internal server error|bad gateway|gateway time-?out|server_error|server had an error`)},
	{loop.Network,
		lazy(`(?i)\be(connrefused|connreset|connaborted|hostunreach|netunreach|timedout|ai_again|notfound)\b|getaddrinfo|` +
			`(connection|connect)\b.{0,60}\b(refused|reset|closed|dropped|lost|aborted|timed out)|connection error|error sending request|` +
			`(could ?n[o']t|could not|cannot|can ?n[o']t|can't|unable to|failed to) (connect|reach|resolve)|network (error|is unreachable|is down)|waiting for network|` +
			`dns (error|lookup)|no such host|name or service not known|temporary failure in name resolution|socket hang ?up|fetch failed|` +
			`stream (disconnected|closed|error|ended unexpectedly)|(request|connection|api) (has )?timed out|timed out waiting for|tls handshake|certificate (verify|has expired|is not)`)},
	{loop.Rejected,
		lazy(
			`(?i)(issue|problem) with the selected model|\bmodel\b.{0,60}\b(not (found|supported|available)|does not exist|may not exist)|` +
				`\b(unknown|invalid|unsupported|no such) model\b|invalid_request_error`)},
}

// statuses find an HTTP status in words: "API Error: 529", "HTTP 503", "status code: 500".
var statuses = lazy(
	`(?i)\b(api error|http(?:/[\d.]+)?|unexpected status|status[ _]code|error code)[":= (]{1,4}([45]\d\d)\b`)
