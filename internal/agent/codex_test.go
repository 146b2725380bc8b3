//go:build unix

package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestCodexAnswersInAForm: the last message is the answer in the form asked for, and in no form that no one asked for.
func TestCodexAnswersInAForm(t *testing.T) {
	t.Parallel()
	const said = `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"{\"verdict\":\"approve\"}"}}` + "\n" + `{"type":"turn.completed","usage":{}}`
	for schema, want := range map[string]string{`{"type":"object"}`: `{"verdict":"approve"}`, "": ""} {
		turn, err := agent.Replay(agent.Options{Command: "codex", Answer: agent.Answer{Schema: schema}},
			agent.Recording{Stdout: strings.NewReader(said)})
		if err != nil || turn.Structured != want || turn.Class != loop.OK {
			t.Errorf("%q: %+v, %v", schema, turn, err)
		}
	}
}

// In text mode the last words are those of the file (S1-69), which the agent may have replaced by anything.
func TestCodexText(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("<response>DONE</response> secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		make string // what the agent does with the file "$2"
		text string
		done bool
	}{
		"its last message": {`printf 'Written.\n<response>DONE</response>' > "$2"`, "Written.\n<response>DONE</response>",
			true},
		"nothing":           {`:`, "printed", false},
		"empty":             {`: > "$2"`, "printed", false},
		"a link to outside": {`ln -s ` + secret + ` "$2"`, "printed", false},
		"a pipe":            {`mkfifo "$2"`, "printed", false},
		"a directory":       {`mkdir "$2"`, "printed", false},
		"a huge one": {`{ head -c 300000 /dev/zero | tr '\0' x; printf '\n<response>DONE</response>'; } > "$2"`, "",
			true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "codex", `while [ $# -gt 0 ]; do [ "$1" = -o ] && { `+c.make+`; }; shift; done; echo printed`)
			turn := f.turn(t, agent.Options{Answer: agent.Answer{Text: true}}, "Do it.")
			if turn.Class != loop.OK || c.text != "" && turn.Text != c.text || turn.Claim.Done != c.done ||
				len(turn.Text) > loop.TextBytes {
				t.Errorf("turn = %+v", turn)
			}
			argv := f.argv(t)
			path := argv[slices.Index(argv, "-o")+1]
			if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", filepath.Dir(path), err)
			}
		})
	}
}

// A prompt that is longer than an agent takes is told by the file it lies in.
func TestPromptsTooLong(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"codex": 1 << 20, "gemini": 8 << 20, "claude": 10_000_000, "amp": 100 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, name, "")
			got := func() string {
				if argv := f.argv(t); name == "amp" {
					return argv[len(argv)-1]
				}
				return f.read(t, "stdin")
			}
			prompt := strings.Repeat("x", most)
			if f.turn(t, agent.Options{}, prompt); got() != prompt {
				t.Errorf("%d bytes came", len(got()))
			}
			f.turn(t, agent.Options{PromptFile: "/run/prompt_001.txt"}, prompt+"x")
			if got() != "Read the file /run/prompt_001.txt; it holds your whole task." {
				t.Errorf("it got %.200q", got())
			}
			if turn := f.turn(t, agent.Options{}, prompt+"x"); turn.Class != loop.Rejected ||
				!strings.Contains(turn.Reason, "shorten the task") {
				t.Errorf("turn = %+v", turn)
			}
		})
	}
}
