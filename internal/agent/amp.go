package agent

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
)

// amp is Sourcegraph's Amp: the prompt as its last argument, events as JSON lines in the shape of claude's. Its model
// runs on its own servers, and it reports no cost. The repository's permissions and servers count for less than ours or need an
// approval, but no flag keeps out its plugins (.amp/plugins). It knows no hooks but those, so Options.Hooks say nothing
// to it.
var amp = dialect{
	name:        "amp",
	keys:        []string{"AMP_API_KEY"},
	pass:        []string{"AMP_URL", "AMP_SETTINGS_FILE"},
	arguments:   ampArguments,
	environment: func(Options) []string { return nil },
	prepare:     ampFiles,
	silent:      true,
	login:       ampAccount,
	needs: sandboxNeeds{
		hosts: []string{"ampcode.com", "*.ampcode.com"},
		files: slices.Concat(shared(".local/share/amp/secrets.json"), copied(".config/amp")),
	},
	output: output{
		loginPrompt: lazy(`^No API key found\. Starting login flow`), // and would wait forever
		decode:      stream.NewClaude,
		counts:      true,
		ends:        true,
		class:       ampClass,
	},
}

var ampAccount = login{install: "npm install -g @sourcegraph/amp", how: "set AMP_API_KEY, or run: amp login",
	file: "amp/secrets.json", dir: ".local/share", dirFrom: "XDG_DATA_HOME"}

const ampSettings = "settings.json"

// ampReading are the settings of a reviewer: the first rule that fits a tool counts.
const ampReading = `{"amp.permissions": [{"tool": "Read", "action": "allow"}, {"tool": "Grep", "action": "allow"}, {"tool": "glob", "action": "allow"},
	{"tool": "*", "action": "reject"}], "amp.updates.mode": "disabled"}
`

// ampNothing are the settings of an agent that is only asked something.
const ampNothing = `{"amp.permissions": [{"tool": "*", "action": "reject"}], "amp.updates.mode": "disabled"}
`

func ampFiles(t *turnInput) error {
	switch {
	case t.NoTools:
		return t.file(ampSettings, ampNothing)
	case t.ReadOnly:
		return t.file(ampSettings, ampReading)
	}
	return nil
}

func ampArguments(t *turnInput) []string {
	args := slices.Clone(t.Flags)
	if !t.Text {
		args = append(args, "--stream-json")
	}
	if t.reads() {
		args = append(args, "--settings-file", t.path(ampSettings))
	} else {
		args = append(args, "--dangerously-allow-all")
	}
	if t.Model != "" { // which it calls a mode
		args = append(args, "-m", t.Model)
	}
	return append(args, "-x", t.argument())
}

// ampCode finds the code in its servers' errors: "Error: getUserInfo error: PERMISSION_DENIED".
var ampCode = lazy(`error: ([A-Za-z_]+)\s*$`)

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
var ampRefusal = lazy(`(?i)user message must be provided|require user approval`)
