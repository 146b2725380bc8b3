//go:build unix

package agent_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestCommandTurns(t *testing.T) {
	t.Parallel()
	const prompt = "Do it well.\nWhen done, say <response>DONE</response>.\n"
	for name, c := range map[string]struct {
		script string
		class  loop.Class
		done   bool
		text   string
		reason string
	}{
		"says and claims": {"echo Fine.; echo '<response>done</response>'", loop.OK, true,
			"Fine.\n<response>done</response>", ""},
		"says and does not claim": {"echo Fine.", loop.OK, false, "Fine.", ""},
		"what it says aside":      {"echo Fine.; echo '<response>DONE</response>' >&2", loop.OK, false, "Fine.", ""},
		"an echo is no claim":     {`cat "$HERE/stdin"; echo Fine.`, loop.OK, false, "Fine.", ""},
		"an echo with CRLF":       {`sed 's/$/\r/' "$HERE/stdin"; echo Fine.`, loop.OK, false, "Fine.", ""},
		"an echo twice, then it": {`cat "$HERE/stdin" "$HERE/stdin"; echo '<response>DONE</response>'`, loop.OK, true,
			"<response>DONE</response>", ""},
		"an echo after much else": {`head -c 2000000 /dev/zero | tr '\0' x; cat "$HERE/stdin"; echo Fine.`, loop.OK, false,
			"", ""},
		"nothing but the echo": {`cat "$HERE/stdin"`, loop.Empty, false, "", "said nothing"},
		"nothing":              {`printf ' \n\t\n'`, loop.Empty, false, "", "said nothing"},
		"fails": {"echo '<response>DONE</response>'; echo 'no luck' >&2; exit 4", loop.Broke, true,
			"<response>DONE</response>", "exit code 4: see its log (it said: no luck)"},
		"fails in its output": {"echo 'no luck.'; exit 3", loop.Broke, false, "no luck.",
			"exit code 3: see its log (it said: no luck)"},
		"waits for a human": {"echo 'Which one?'; exit 42", loop.Waits, false, "Which one?",
			"waits for a person: read its output, answer it, then resume the run (it said: Which one?)"},
		"its own program is missing": {"no-such-program", loop.Missing, false, "",
			"could not run a program (exit code 127): install it"},
		"an interpreter is missing": {"echo './a: line 2: ./b: /no/such: bad interpreter: No such file' >&2; exit 126",
			loop.Missing, false, "", "could not run a program (exit code 126)"},
		"a library is missing": {"echo 'x: error while loading shared libraries: libx.so.1: cannot open shared object " +
			"file: No such file or directory' >&2; exit 127", loop.Missing, false, "", "could not run a program (exit code 127)"},
		"not executable": {`cd "$HERE"; : > y; ./y`, loop.Missing, false, "", "could not run a program (exit code 126): install it"},
		"a program is missing after a claim": {"echo '<response>DONE</response>'; no-such-program", loop.Broke, true,
			"<response>DONE</response>", "could not run a program (exit code 127)"},
		"a usage limit": {"echo 'Claude AI usage limit reached|4102444800'; exit 1", loop.UsageLimit, false,
			"Claude AI usage limit reached|4102444800", "rate limit is reached: try again later"},
		"no key": {"echo Working.; echo 'Error: Invalid API key' >&2; exit 1", loop.Auth, false,
			"Working.", "check the one that it takes (it said: Error: Invalid API key)"},
		"talks of limits and is OK": {"echo 'I wrote the code for: usage limit reached, invalid API key, 429 too many " +
			"requests.'", loop.OK, false, "I wrote the code for: usage limit reached, invalid API key, 429 too many requests.",
			""},
		"talked of limits, long ago": {"echo 'I wrote the code for: usage limit reached.'; seq 9; exit 1", loop.Broke, false,
			"I wrote the code for: usage limit reached.\n1\n2\n3\n4\n5\n6\n7\n8\n9", "exit code 1"},
		"a number is no status": {"echo '500 tests passed, 429 failed, 503 skipped; time limit exceeded'; echo " +
			"'invalid argument: see src/login.ts' >&2; exit 1", loop.Broke, false,
			"500 tests passed, 429 failed, 503 skipped; time limit exceeded", "exit code 1"},
		"an untagged word": {"echo DONE", loop.OK, false, "DONE", ""},
		"an empty promise": {"echo '<promise></promise>'", loop.OK, false, "<promise></promise>", ""},
		"not done": {"echo '<response>not DONE</response>'", loop.OK, false,
			"<response>not DONE</response>", ""},
		"a promise not kept":         {"echo '<promise>COMPLETE'", loop.OK, false, "<promise>COMPLETE", ""},
		"killed by its shell's word": {"exit 137", loop.Killed, false, "", "ended by a signal"},
		"the first tag, of any text": {"echo '<promise>complete</promise><response>no</response>'", loop.OK, true,
			"<promise>complete</promise><response>no</response>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := newFake(t, "my-agent", c.script).turn(t, agent.Options{}, prompt)
			if turn.Class != c.class || turn.Claim.Done != c.done || !strings.Contains(turn.Reason, c.reason) {
				t.Errorf("turn = %+v", turn)
			}
			if name != "an echo after much else" && turn.Text != c.text {
				t.Errorf("text = %q, want %q", turn.Text, c.text)
			}
			if len(turn.Text) > loop.TextBytes {
				t.Errorf("%d bytes of text are kept", len(turn.Text))
			}
		})
	}
}

// A prompt longer than what is kept of the output is still known when the output begins within it.
func TestCommandEchoesALongPrompt(t *testing.T) {
	t.Parallel()
	var prompt strings.Builder
	for i := range 120_000 {
		prompt.WriteString(strings.Repeat("x", i%7) + " line\n")
	}
	prompt.WriteString("Say <response>DONE</response>.\n")
	turn := newFake(t, "my-agent", `cat "$HERE/stdin"; echo Fine.`).turn(t, agent.Options{}, prompt.String())
	if turn.Class != loop.OK || turn.Claim.Done || turn.Text != "Fine." {
		t.Errorf("class %s, claim %+v, %d bytes of text", turn.Class, turn.Claim, len(turn.Text))
	}
}

func TestCommandConsole(t *testing.T) {
	t.Parallel()
	var console bytes.Buffer
	f := newFake(t, "my-agent",
		`printf 'one\n\n::set-env name=x::y\n\033[31mred\033[0m\n'; head -c 100000 /dev/zero | tr '\0' z; printf '\nlast'`)
	f.turn(t, agent.Options{Display: agent.Display{Console: &console}}, "Do it.")
	lines := strings.Split(console.String(), "\n")
	if len(lines) != 9 || !slices.Equal(lines[:4], []string{"one", "", ": :set-env name=x::y", "red"}) ||
		lines[5] != "last" || !strings.HasPrefix(lines[7], "[OK] Complete (time: ") {
		t.Errorf("console = %.300q", lines)
	}
	if n := len(lines[4]); n < 1000 || n > 4000 || !strings.HasSuffix(lines[4], "[...]") {
		t.Errorf("a long line has %d bytes: %.40q", n, lines[4])
	}
}

// TestHiddenProgram: the reason of a turn in a sandbox names that.
func TestHiddenProgram(t *testing.T) {
	t.Parallel()
	f := newFake(t, "my-agent", `echo "my-agent: 9: $0: not found" >&2; exit 127`)
	turn := f.turn(t, agent.Options{Host: agent.Host{Box: noBox{}}}, "Do it.")
	if turn.Class != loop.Missing || !strings.Contains(turn.Reason, "if the sandbox hides it") {
		t.Errorf("turn = %+v", turn)
	}
}
