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

// valued is what follows a flag in an argv, and the argv with that as VALUE.
func valued(argv []string, flag string) (value string, rest []string) {
	rest = slices.Clone(argv)
	if i := slices.Index(argv, flag); i >= 0 && i+1 < len(argv) {
		value, rest[i+1] = argv[i+1], "VALUE"
	}
	return value, rest
}

func TestCodexCommandLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options agent.Options
		first   string // before what every command line has
		last    string // after it
	}{
		"plain": {agent.Options{}, "exec", "--json --sandbox workspace-write -"},
		"flags": {agent.Options{Flags: []string{"--ephemeral"}}, "exec --ephemeral",
			"--json --sandbox workspace-write -"},
		"own sandbox": {agent.Options{Flags: []string{"--dangerously-bypass-approvals-and-sandbox"}},
			"exec --dangerously-bypass-approvals-and-sandbox", "--json -"},
		"own sandbox, short": {agent.Options{Flags: []string{"-s", "danger-full-access"}}, "exec -s danger-full-access",
			"--json -"},
		"reading only": {agent.Options{Rights: agent.Rights{ReadOnly: true}}, "exec", "--json --sandbox read-only -"},
		"no tools": {agent.Options{Rights: agent.Rights{NoTools: true}, Flags: []string{"--yolo"}}, "exec",
			"--json --sandbox read-only -"},
		"reading only, whatever the user says": {agent.Options{Rights: agent.Rights{ReadOnly: true},
			Flags: []string{"--yolo", "-c", "a=b", "--sandbox", "danger-full-access",
				"--sandbox=workspace-write", "-sworkspace-write", "--add-dir", "/", "--approve-for-me",
				"--dangerously-bypass-hook-trust", "--ephemeral"}},
			"exec -c a=b --ephemeral", "--json --sandbox read-only -"},
		"model": {agent.Options{Model: "m"}, "exec", "--json --sandbox workspace-write -m m -"},
		"a session": {agent.Options{Resume: "01a1-b"}, "exec",
			"--json --sandbox workspace-write resume 01a1-b -"},
		"a session that is none": {agent.Options{Resume: "--yolo"}, "exec", "--json --sandbox workspace-write -"},
		"text":                   {agent.Options{Answer: agent.Answer{Text: true}}, "exec", "--color never -o VALUE --sandbox workspace-write -"},
		"a form": {agent.Options{Answer: agent.Answer{Schema: `{"a":1}`}}, "exec",
			"--json --sandbox workspace-write --output-schema VALUE -"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "codex", "")
			f.turn(t, c.options, "Do it.")
			_, argv := valued(f.argv(t), "-o")
			_, argv = valued(argv, "--output-schema")
			trust := `projects={"` + f.dir + `"={trust_level="untrusted"}}`
			want := c.first + " --skip-git-repo-check -c analytics.enabled=false -c " + trust + " " + c.last
			if got := strings.Join(argv, " "); got != want {
				t.Errorf("argv = %s\nwant   %s", got, want)
			}
			if got := f.read(t, "stdin"); got != "Do it." {
				t.Errorf("stdin = %q", got)
			}
		})
	}
}

func TestCodexTrustsTheRepositoryOnlyWhenTold(t *testing.T) {
	t.Parallel()
	f := newFake(t, "codex", "")
	f.turn(t, agent.Options{Rights: agent.Rights{AgentSettings: true}}, "Do it.")
	if argv := f.argv(t); !slices.Contains(argv, `projects={"`+f.dir+`"={trust_level="trusted"}}`) {
		t.Errorf("argv = %q", argv)
	}
}

// `codex exec` takes a key only by its own name.
func TestCodexKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys map[string]string
		want []string
	}{
		"OpenAI's": {map[string]string{"OPENAI_API_KEY": "o", "GH_TOKEN": "g"},
			[]string{"CODEX_API_KEY=o", "OPENAI_API_KEY=o"}},
		"its own": {map[string]string{"OPENAI_API_KEY": "o", "CODEX_API_KEY": "c"},
			[]string{"CODEX_API_KEY=c", "OPENAI_API_KEY=o"}},
		"none": {nil, nil},
	} {
		f := newFake(t, "codex", "")
		f.turn(t, agent.Options{Host: agent.Host{Keys: c.keys, Parent: []string{"CODEX_API_KEY=ours"}}}, "Do it.")
		got := slices.DeleteFunc(f.env(t),
			func(e string) bool { return !strings.Contains(e, "KEY") && !strings.Contains(e, "TOKEN") })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

const message = `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"{\"verdict\":\"approve\"}"}}` + "\n" + `{"type":"turn.completed","usage":{}}`

// The form lies in a file while the turn runs, and the last message is the answer.
func TestCodexAnswersInAForm(t *testing.T) {
	t.Parallel()
	f := newFake(t, "codex", `while [ $# -gt 0 ]; do [ "$1" = --output-schema ] && cp "$2" "$HERE/schema"; shift; done
cat <<'END'
`+message+`
END`)
	turn := f.turn(t, agent.Options{Answer: agent.Answer{Schema: `{"type":"object"}`}}, "Do it.")
	if turn.Structured != `{"verdict":"approve"}` || turn.Class != loop.OK || f.read(t, "schema") != `{"type":"object"}` {
		t.Errorf("turn = %+v", turn)
	}
	path, _ := valued(f.argv(t), "--output-schema")
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", filepath.Dir(path), err)
	}
	if turn := f.turn(t, agent.Options{}, "Do it."); turn.Structured != "" {
		t.Errorf("an answer in a form that nobody asked for: %+v", turn)
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
			path, _ := valued(f.argv(t), "-o")
			if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", filepath.Dir(path), err)
			}
		})
	}
}

// A prompt that is longer than an agent takes on standard input is told by the file it lies in.
func TestPromptsTooLongForStdin(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"codex": 1 << 20, "gemini": 8 << 20, "claude": 10_000_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, name, "")
			prompt := strings.Repeat("x", most)
			f.turn(t, agent.Options{}, prompt)
			if got := f.read(t, "stdin"); got != prompt {
				t.Errorf("%d bytes came", len(got))
			}
			f.turn(t, agent.Options{PromptFile: "/run/prompt_001.txt"}, prompt+"x")
			if got := f.read(t, "stdin"); got != "Read the file /run/prompt_001.txt; it holds your whole task." {
				t.Errorf("stdin = %.200q", got)
			}
			if turn := f.turn(t, agent.Options{}, prompt+"x"); turn.Class != loop.Rejected ||
				!strings.Contains(turn.Reason, "shorten the task") {
				t.Errorf("turn = %+v", turn)
			}
		})
	}
}
