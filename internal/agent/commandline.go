package agent

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

var needsNoQuotes = lazy(`^[A-Za-z0-9_@%+=:,./-]+$`)

// CommandLine is what a turn runs, quoted as for a shell. A prompt that goes by arguments stands as PROMPT.
func (a *Agent) CommandLine() string {
	t := &turnInput{Options: a.options, dialect: a.dialect, prompt: "PROMPT", dir: "DIR",
		console: newConsole(Options{}, time.Now), pulse: new(proc.Heartbeat), now: time.Now}
	var words []string
	for _, word := range append([]string{a.options.Command}, a.arguments(t)...) {
		if !needsNoQuotes.MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
