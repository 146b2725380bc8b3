package agent

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// judgement is what facts come to.
type judgement struct {
	class  loop.Class
	reason string    // one sentence: what happened and what to do; "" for OK
	resets time.Time // when it says that it works again; zero: not known
	// byWords: the process ended well, and only what it said reports a failure
	byWords bool
}

// waitsExit is the exit code by which any agent says that it waits for a human, whatever it printed, unless
// dialect.has42.
const waitsExit = 42

func (d dialect) classify(f facts) loop.Class {
	switch {
	case f.asked:
		return loop.Auth
	case f.waits() && !d.has42:
		return loop.Waits
	}
	if d.class != nil {
		if class := d.class(f); class != "" {
			return class
		}
	}
	switch {
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

// lingered reports whether a process that had said its word did not end by itself, so that its end tells nothing. What
// it says because it was interrupted is only what it has spent.
func (f facts) lingered() bool {
	switch f.end.Class {
	case proc.Cancelled:
		return f.hung
	case proc.TimedOut, proc.Idle, proc.Signalled, proc.Limited:
		return f.result != nil && !strings.HasPrefix(f.result.Why, "aborted") && f.result.Subtype != "error_during_execution"
	}
	return false
}

// refusal is how programs begin when their own arguments are wrong; they print nothing else then.
var refusal = lazy(
	`(?i)^(error: )?(unknown|unrecogni[sz]ed|unexpected|invalid) (command[ -]line )?(option|argument|flag|value|choice)s?\b`)

// failure is the class of a failed turn: by the HTTP status of the model's last answer, else by words, else by how the
// process ended.
func (d dialect) failure(f facts) loop.Class {
	class := byWords(f.words())
	if f.result != nil && f.result.Status > 0 {
		class = byStatus(f.result.Status, class)
	}
	known := d.name != command.name
	switch {
	case class == loop.Rejected && !known: // any program's words: not enough to end a run
		return loop.Broke
	case class != "":
		return class
	case known && !f.any && refusal.MatchString(strings.TrimSpace(f.stderr)):
		return loop.Rejected
	case f.result == nil && signalled(f.end):
		return loop.Killed
	}
	return loop.Broke
}

// signalled reports whether a signal that was not ours ended the process, or its shell says that one did.
func signalled(end proc.Result) bool {
	return end.Class == proc.Signalled || end.Exit == 128+2 || end.Exit == 128+9 || end.Exit == 128+15
}

// How many lines of a failed process's last words are looked into. What is before them is what it did, not why it
// failed.
const (
	saidLines = 5 // of plain text
	errLines  = 20
)

// words are what a failed turn says about itself: its result, else the end of what is not its format, and of standard
// error.
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
	words := loop.Class("")
	for _, p := range phrases {
		if p.pattern.MatchString(said) {
			words = p.class
			break
		}
	}
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
