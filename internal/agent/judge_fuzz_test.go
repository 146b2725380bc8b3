package agent

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// FuzzClass: whatever the words of an agent are, they make no failure of a turn that went well and no success of one
// that did not. Amp's codes are among the words.
func FuzzClass(f *testing.F) {
	for _, words := range []string{"Error: getUserInfo error: PERMISSION_DENIED", "error: RESOURCE_EXHAUSTED",
		"usage limit reached|1763712000", "user message must be provided", "401 Unauthorized", "", "\x00\xff"} {
		for _, exit := range []int{0, 1, 42} {
			f.Add(words, words, "", exit, false, true)
			f.Add("", words, "success", exit, exit == 1, true)
		}
	}
	f.Fuzz(func(t *testing.T, text, stderr, stop string, exit int, failed, said bool) {
		said = said && text != ""
		for name, d := range dialects {
			for _, result := range []*stream.Result{nil, {Text: text, Stop: stop, Failed: failed}} {
				facts := facts{end: proc.Result{Class: proc.Exited, Exit: exit}, any: text != "" || result != nil,
					result: result, said: said, text: text, noise: stderr, stderr: stderr}
				class := d.classify(facts)
				if class == "" {
					t.Errorf("%s: no class", name)
				}
				if !facts.failed() && (class == loop.Auth || class == loop.UsageLimit || class == loop.Overloaded) {
					t.Errorf("%s: %q of %+v, which went well", name, class, facts)
				}
				if facts.failed() && !facts.waits() && (class == loop.OK || class == loop.Empty) {
					t.Errorf("%s: %q of %+v, which failed", name, class, facts)
				}
			}
		}
	})
}
