package agent

import (
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
)

// amp is Sourcegraph's Amp: the prompt as its last argument (S1-62, S1-67), events as JSON lines in the shape of claude's. Its model runs
// on its own servers and it tells no cost. It has no flag for reading only, so a review by it is void if it touches anything; and it goes
// on with a thread only by another command, so Options.Resume means nothing to it.
var amp = dialect{
	name:        "amp",
	keys:        []string{"AMP_API_KEY"},
	pass:        []string{"AMP_URL", "AMP_SETTINGS_FILE"},
	arguments:   ampArguments,
	environment: func(Options) []string { return []string{"AMP_SKIP_UPDATE_CHECK=1"} },
	silent:      true,
	asks:        regexp.MustCompile(`^No API key found\. Starting login flow`), // and would wait for ever
	decode:      stream.NewClaude,
	ends:        true,
	class:       ampClass,
}

func ampArguments(t *talk) []string {
	args := []string{"--stream-json", "--dangerously-allow-all"}
	if t.Text {
		args = args[1:]
	}
	if t.Model != "" { // which it calls a mode
		args = append(args, "-m", t.Model)
	}
	return append(args, "-x", t.argument())
}

// ampCode is how its servers' errors are told: "Error: getUserInfo error: PERMISSION_DENIED".
var ampCode = regexp.MustCompile(`error: ([A-Za-z_]+)\s*$`)

// ampClass judges what only amp says.
func ampClass(f facts) loop.Class {
	if !f.failed() {
		return ""
	}
	said := f.words()
	if m := ampCode.FindStringSubmatch(said); m != nil {
		switch strings.ToUpper(m[1]) {
		case "PERMISSION_DENIED", "UNAUTHENTICATED":
			return loop.Auth
		case "RESOURCE_EXHAUSTED":
			return loop.UsageLimit
		case "UNAVAILABLE":
			return loop.Overloaded
		case "INTERNAL", "UNKNOWN":
			return loop.OutOfOrder
		}
	}
	if ampRefusal.MatchString(said) {
		return loop.Rejected
	}
	return ""
}

// ampRefusal is what it says of its own arguments and settings.
var ampRefusal = regexp.MustCompile(`(?i)user message must be provided|require user approval`)
