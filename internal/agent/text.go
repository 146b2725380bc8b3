package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// lastLines are the last lines that say anything, each of at most 1000 bytes.
func lastLines(s string, most int) string {
	var kept []string
	for end := len(s); end > 0 && len(kept) < most; {
		begin := strings.LastIndexByte(s[:end], '\n') + 1
		if line := strings.TrimSpace(s[begin:end]); line != "" {
			kept = append(kept, line[:min(len(line), 1000)])
		}
		end = begin - 1
	}
	slices.Reverse(kept)
	return strings.ToValidUTF8(strings.Join(kept, "\n"), "")
}

var errorLine = lazy(`(?i)^(api error|error|fatal|panic)\b`)

// tellingLine is the line of a text that says why something failed: the last one that begins with "error", else the
// last.
func tellingLine(s string) (line string) {
	for l := range strings.SplitSeq(s, "\n") {
		if l = oneLine(l); l != "" && (errorLine.MatchString(l) || !errorLine.MatchString(line)) {
			line = l
		}
	}
	return line
}

// complaints begin the line in which a program says that it was called wrongly.
var complaints = lazy(`(?i)^(error|fatal|unknown|unexpected|invalid|unrecogni[sz]ed)\b`)

// complaint is the line of a refusal that says what is wrong. It is before a text on the program's use, which says
// nothing.
func complaint(stderr, said string) string {
	for l := range strings.SplitSeq(stderr, "\n") {
		if complaints.MatchString(strings.TrimSpace(l)) {
			return l
		}
	}
	if strings.Contains(stderr, "\nOptions:") {
		return ""
	}
	return tellingLine(said)
}

// oneLine makes any text fit for a reason: one harmless line of at most 300 characters.
func oneLine(s string) string {
	return safetext.Shorten(safetext.OneLine(safetext.Inert(s)), 300)
}

// because adds what an agent said itself to a sentence of ours.
func because(sentence, said string) string {
	if said = strings.TrimRight(oneLine(said), ". "); said == "" {
		return sentence
	}
	return sentence + " (it said: " + said + ")"
}

func orHere(dir string) string {
	if dir == "" {
		dir, _ = filepath.Abs(".")
	}
	return dir
}

func geteuid() int { return os.Geteuid() }

// windows are the kinds of limits that providers have: "rate limit", "5-hour limit". A "time limit" is none of them.
const windows = `\b(usage|rate|session|weekly|daily|monthly|hourly|\d+-hour|opus|sonnet|requests?|tokens?|messages?|plan|spend|spending|quota)[ -]`

// phrases are how providers and agents word a failure; the first that matches counts. They are searched for only in what
// a failed turn says about itself, but that may be the last lines of a program that speaks of its work, so a bare
// number or a bare "login" is none. Those of fatal classes must be the most certain: one that is wrong ends the run.
var phrases = []struct {
	class   loop.Class
	pattern *pattern
}{
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

// statuses are how an HTTP status is told in words: "API Error: 529", "HTTP 503", "status code: 500".
var statuses = lazy(
	`(?i)\b(api error|http(?:/[\d.]+)?|unexpected status|status[ _]code|error code)[":= (]{1,4}([45]\d\d)\b`)

// plainer are characters that mean the same as simpler ones: providers write "5:26 AM" with a narrow space, and
// "You’ve".
var plainer = strings.NewReplacer("\u00A0", " ", "\u202F", " ", "\u2009", " ", "’", "'", "‘", "'", "\x00", "")

type pattern = regex.Pattern

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }
