package agent

import (
	"slices"

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
		phrases: []phrase{ // codes of its servers: "Error: getUserInfo error: PERMISSION_DENIED"
			{loop.Auth, lazy(`(?i)error: (PERMISSION_DENIED|UNAUTHENTICATED)\s*$`)},
			{loop.UsageLimit, lazy(`(?i)error: RESOURCE_EXHAUSTED\s*$`)},
			{loop.Overloaded, lazy(`(?i)error: UNAVAILABLE\s*$`)},
			{loop.OutOfOrder, lazy(`(?i)error: (INTERNAL|UNKNOWN)\s*$`)},
			{loop.Rejected, lazy(`(?i)user message must be provided|require user approval`)},
		},
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
