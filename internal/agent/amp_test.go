//go:build unix

package agent_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// The prompt is amp's last argument (S1-67), and a pointer to it when it is too long for one (C19).
func TestAmpCommandLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Do it well. ", 10_000)
	own := []string{"--stream-json", "--dangerously-allow-all"}
	for name, c := range map[string]struct {
		options agent.Options
		prompt  string
		argv    []string
	}{
		"plain": {agent.Options{}, "Do it.", append(slices.Clone(own), "-x", "Do it.")},
		"settings": {agent.Options{Flags: []string{"--mcp-config", "{}"}, Model: "rush"}, "Do it.",
			[]string{"--mcp-config", "{}", "--stream-json", "--dangerously-allow-all", "-m", "rush", "-x", "Do it."}},
		"text":     {agent.Options{Answer: agent.Answer{Text: true}}, "Do it.", []string{"--dangerously-allow-all", "-x", "Do it."}},
		"no flag":  {agent.Options{}, "--help me,\x00 please", append(slices.Clone(own), "-x", "\n--help me, please")},
		"no shell": {agent.Options{}, "a $(b) 'c'\n\"d\"", append(slices.Clone(own), "-x", "a $(b) 'c'\n\"d\"")},
		"too long": {agent.Options{PromptFile: "/run/prompt_001.txt"}, long,
			append(slices.Clone(own), "-x", "Read the file /run/prompt_001.txt; it holds your whole task.")},
		"just not long": {agent.Options{PromptFile: "/run/prompt_001.txt"}, long[:100<<10],
			append(slices.Clone(own), "-x", long[:100<<10])},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "amp", "cat "+recordedFile(t, "amp/documented-success"))
			turn := f.turn(t, c.options, c.prompt)
			if got := f.argv(t); !slices.Equal(got, c.argv) {
				t.Errorf("argv = %.300q, want %.300q", got, c.argv)
			}
			if got := f.read(t, "stdin"); got != "" {
				t.Errorf("stdin = %.100q", got)
			}
			if turn.Class != loop.OK || !turn.Claim.Done && !c.options.Text {
				t.Errorf("turn = %+v", turn)
			}
		})
	}
}

// A reviewer gets settings that reject every tool that does more than read.
func TestAmpReadingOnly(t *testing.T) {
	t.Parallel()
	f := newFake(t, "amp", `cp "$3" "$HERE/settings"; cat `+recordedFile(t, "amp/documented-success"))
	f.turn(t, agent.Options{Rights: agent.Rights{ReadOnly: true}}, "Review it.")
	argv := f.argv(t)
	if len(argv) != 5 || argv[0] != "--stream-json" || argv[1] != "--settings-file" ||
		!slices.Equal(argv[3:], []string{"-x", "Review it."}) {
		t.Errorf("argv = %q", argv)
	}
	var settings struct {
		Rules []struct{ Tool, Action string } `json:"amp.permissions"`
	}
	if err := json.Unmarshal([]byte(f.read(t, "settings")), &settings); err != nil {
		t.Fatal(err)
	}
	if last := settings.Rules[len(settings.Rules)-1]; last.Tool != "*" || last.Action != "reject" {
		t.Errorf("rules = %+v", settings.Rules)
	}
}

// An agent that is only asked something gets settings that reject every tool.
func TestAmpWithoutTools(t *testing.T) {
	t.Parallel()
	f := newFake(t, "amp", `cp "$3" "$HERE/settings"; cat `+recordedFile(t, "amp/documented-success"))
	f.turn(t, agent.Options{Rights: agent.Rights{NoTools: true}}, "Is it done?")
	if argv := f.argv(t); slices.Contains(argv, "--dangerously-allow-all") {
		t.Errorf("argv = %q", argv)
	}
	if got := f.read(t, "settings"); !strings.Contains(got, `[{"tool": "*", "action": "reject"}]`) {
		t.Errorf("settings = %s", got)
	}
}

func TestAmpWithoutAFileForALongPrompt(t *testing.T) {
	t.Parallel()
	f := newFake(t, "amp", "touch \"$HERE/started\"")
	turn := f.turn(t, agent.Options{}, strings.Repeat("Do it well. ", 10_000))
	if turn.Class != loop.Rejected || !strings.Contains(turn.Reason, "120000 bytes") ||
		!strings.Contains(turn.Reason, "shorten the task") {
		t.Errorf("turn = %+v", turn)
	}
	if started, _ := filepath.Glob(filepath.Join(f.dir, "started")); started != nil {
		t.Error("it was started all the same")
	}
}

func TestAmpEnvironment(t *testing.T) {
	t.Parallel()
	f := newFake(t, "amp", "cat "+recordedFile(t, "amp/documented-success"))
	f.turn(t, agent.Options{
		Host: agent.Host{Parent: []string{"AMP_URL=http://u", "AMP_API_KEY=from-parent", "GITHUB_TOKEN=t", "ANTHROPIC_API_KEY=k"}, Keys: map[string]string{"AMP_API_KEY": "key", "ANTHROPIC_API_KEY": "k"}},
	}, "Do it.")
	if got := f.env(t); !slices.Equal(got, []string{"AMP_API_KEY=key", "AMP_URL=http://u"}) {
		t.Errorf("environment = %q", got)
	}
}

// Without a key, amp asks a human to log in, and waits for ever. Its secrets may lie in a file, so it is tried.
func TestAmpAsksToLogIn(t *testing.T) {
	t.Parallel()
	for _, text := range []bool{false, true} {
		f := newFake(t, "amp", "cat "+recordedFile(t, "amp/no-key")+"; sleep 600")
		began := time.Now()
		turn := f.turn(t, agent.Options{Answer: agent.Answer{Text: text}, Bounds: agent.Bounds{Grace: 100 * time.Millisecond}}, "Do it.")
		if turn.Class != loop.Auth || !strings.Contains(turn.Reason, "check AMP_API_KEY") || turn.Text != "" {
			t.Errorf("turn = %+v", turn)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
	}
	// it only speaks of it
	f := newFake(t, "amp", "echo 'The first line:'; echo 'No API key found. Starting login flow...'")
	if turn := f.turn(t, agent.Options{Answer: agent.Answer{Text: true}}, "Do it."); turn.Class != loop.OK {
		t.Errorf("turn = %+v", turn)
	}
}
