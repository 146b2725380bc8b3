package check

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// promised is a state whose newest turn ends with a text and an accepted promise.
func promised(text string) loop.State {
	s := at(loop.Turn{Class: loop.OK, Text: text, Claim: loop.Claim{Done: true, Tag: "promise", Text: "AUTH_DONE"}},
		changed)
	s.Start.Run = "20261121-053000-7f3a"
	return s
}

// says is a model that always gives the same answer.
func says(answer string) Asker {
	return func(context.Context, string, string) (loop.Turn, error) {
		return loop.Turn{Class: loop.OK, Text: answer, Usage: loop.Usage{Input: 7}}, nil
	}
}

// verifier verifies a coder's promise in a directory of the test's own.
func verifier(t *testing.T, method task.Method, config task.Verification) *Verify {
	dir := t.TempDir()
	return &Verify{
		Criteria:   task.Criteria{Promise: "AUTH_DONE", Method: method, Config: &config},
		Acceptance: []string{"tokens expire", "bad tokens get 401"},
		Runner:     Runner{Place: Place{Dir: dir, Env: os.Environ(), LogDir: t.TempDir(), LogAs: ".ralph"}},
		Log:        t.Logf,
	}
}

// verdictOf is what a list of one check says.
func verdictOf(t *testing.T, c Check, s loop.State) loop.Verdict {
	t.Helper()
	return List{Checks: []Check{c}, Tree: &tree{}, Clock: clock, Log: t.Logf}.judge(t, s)[0]
}

// TestVerify has a row for each reason that a verification gives, word for word (S2-16…S2-43).
func TestVerify(t *testing.T) {
	by := func(m task.Method, v task.Verification) task.Stage { return task.Stage{Method: m, Config: &v} }
	external := func(line string) task.Stage { return shell(line, line) }
	staged := func(s ...task.Stage) task.Stage { return by(task.MultiStage, task.Verification{Stages: s}) }
	asked := func(q ...string) task.Stage { return by(task.Semantic, task.Verification{CheckFor: q}) }
	optional := func(s task.Stage) task.Stage { s.Required = new(false); return s }
	const said = "I wrote the middleware. <promise>auth_done</promise>"
	tests := []struct {
		name   string
		how    task.Stage
		ask    Asker
		pass   bool
		reason string
	}{
		// string_match
		{"the promise is there, in any case",
			by(task.StringMatch, task.Verification{}), nil, true, "Promise found in output"},
		// semantic
		{"a negative pattern, in any case",
			by(task.Semantic, task.Verification{NegativePatterns: []string{"TODO", "WROTE THE"}, CheckFor: task.Questions{"x"}}),
			says("VERIFIED: x"), false, "Found negative pattern: WROTE THE"},
		{"negative patterns alone need no model",
			by(task.Semantic, task.Verification{NegativePatterns: []string{"TODO"}}), nil, true, "All criteria appear met"},
		{"an empty negative pattern is none",
			by(task.Semantic, task.Verification{NegativePatterns: []string{" ", ""}, CheckFor: task.Questions{"x"}}), says("VERIFIED: it does"),
			true, "it does"},
		{"no model, and the words are there", asked("The Middleware"),
			nil, true, "All criteria appear met (no model could be asked, so ralph only searched for the words)"},
		{"no model, and the words are not there", asked("the middleware", "tests"), nil, false,
			"Criterion not evident: tests (no model could be asked, so ralph only searched for the words)"},
		{"no questions: the task's own criteria", by(task.Semantic, task.Verification{}), nil, false,
			"Criterion not evident: tokens expire (no model could be asked, so ralph only searched for the words)"},
		{"the model agrees", asked("x"),
			says("I looked.\nVERIFIED: All criteria appear to be met\n"), true, "All criteria appear to be met"},
		{"the model does not agree", asked("x"), says("NOT_VERIFIED: no test"), false, "no test"},
		// external
		{"no command", by(task.External, task.Verification{}), nil, false, "No command specified for external verification"},
		{"another exit code", external("exit 3"), nil, false, "Command exited with 3, expected 0"},
		{"the exit code that is wanted",
			by(task.External, task.Verification{Command: "exit 3", SuccessExitCode: 3}), nil, true,
			"External verification passed"},
		{"a wanted text is missing", by(task.External, task.Verification{Command: "echo 3 failed", OutputContains: "passed"}),
			nil, false, "Output doesn't contain: passed"},
		{"a wanted text on the other stream",
			by(task.External, task.Verification{Command: "echo out; echo 3 passed >&2", OutputContains: "out\n3 passed"}), nil, true,
			"External verification passed"},
		{"a forbidden text",
			by(task.External, task.Verification{Command: "echo FAILED >&2", OutputNotContains: "FAILED"}), nil,
			false, "Output contains forbidden: FAILED"},
		{"a forbidden text counts as it is written",
			by(task.External, task.Verification{Command: "echo failed", OutputNotContains: "FAILED"}), nil, true, "External verification passed"},
		{"too slow", by(task.External, task.Verification{Command: "sleep 60", Timeout: 1}), nil, false,
			"Command timed out after 0.1s"},
		{"ended by a signal", external("kill -9 $$"), nil, false, "Command failed: it was ended by SIGKILL"},
		{"a directory that is not there",
			by(task.External, task.Verification{Command: "true", WorkingDir: "src"}), nil, false,
			`Command failed: working_dir "src" is not a directory in the worktree; name one, by its path from the top`},
		{"a directory elsewhere", by(task.External, task.Verification{Command: "true", WorkingDir: "../x"}), nil, false,
			`Command failed: working_dir "../x" leads out of the worktree; name a directory in it, by its path from the top`},
		// multi_stage
		{"all stages", staged(external("true"), external("true")), nil, true, "All 2 verification stages passed"},
		{"a stage fails, and stops", staged(external("false"), external("exit 2")), nil, false,
			"Stage 'false' failed: Command exited with 1, expected 0"},
		{"all are to run",
			by(task.MultiStage, task.Verification{Stages: []task.Stage{external("false"), external("true"), external("exit 2")}, RequireAll: new(false)}),
			nil, false, "Failed stages: false: Command exited with 1, expected 0; exit 2: Command exited with 2, expected 0"},
		{"one that only warns",
			by(task.MultiStage, task.Verification{Stages: []task.Stage{optional(external("false")), external("true")}, RequireAll: new(true)}), nil, true,
			"All 2 verification stages passed (warnings: false: Command exited with 1, expected 0)"},
		{"string_match in a stage", staged(task.Stage{Name: "a"}), nil, true, "All 1 verification stages passed"},
		{"a stage without a name", staged(task.Stage{Method: task.External}), nil,
			false, "Stage 'unnamed' failed: No command specified for external verification"},
		{"stages in a stage", staged(task.Stage{Name: "a", Method: task.MultiStage}),
			nil, false, "Stage 'a' failed: Unknown verification method: multi_stage"},
		{"no stages",
			by(task.MultiStage, task.Verification{}), nil, false, "No stages specified for multi_stage verification"},
		{"an unknown method", by("magic", task.Verification{}), nil, false, "Unknown verification method: magic"},
		// no method
		{"no method and a command", by("", task.Verification{Command: "exit 4"}), nil, false,
			"Command exited with 4, expected 0"},
		{"no method and no command", by("", task.Verification{}), nil, true, "Promise found in output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := verifier(t, tt.how.Method, *tt.how.Config)
			c.Ask = tt.ask
			if tt.name == "too slow" {
				c.Runner.Scaled = tenth
			}
			v := verdictOf(t, c, promised(said))
			if v.Pass != tt.pass || v.Reason != tt.reason {
				t.Errorf("pass %v, reason %q\nwant %v, %q", v.Pass, v.Reason, tt.pass, tt.reason)
			}
			if v.Check != "verify coder" || v.Severity != loop.Hard || v.Role != task.Coder || !v.Verification {
				t.Errorf("verdict = %+v", v)
			}
			if tells := strings.Contains(v.PromptText, "Verification failed: "+tt.reason); tells == tt.pass {
				t.Errorf("it tells %q", v.PromptText)
			}
		})
	}
}

// TestStringMatch: what counts is the agent's own words, of which the tag of its claim is a part wherever it stood.
func TestStringMatch(t *testing.T) {
	claim := func(done bool, tag, text string) loop.Claim { return loop.Claim{Done: done, Tag: tag, Text: text} }
	tests := []struct {
		name, promise string
		turn          loop.Turn
		want          string
	}{
		{"in the last message", "AUTH", loop.Turn{Text: "auth"}, "Promise found in output"},
		{"in a message before the last", "AUTH", loop.Turn{Text: "bye", Claim: claim(true, "promise", "auth")},
			"Promise found in output"},
		{"in no message", "AUTH", loop.Turn{Text: "bye", Claim: claim(true, "file", "AUTH")},
			"Promise 'AUTH' not found in output"},
		{"quoted from the prompt, which is what the rule allows", "AUTH",
			loop.Turn{Text: "I was told to print <promise>AUTH</promise> and will not."}, "Promise found in output"},
		{"white space is no promise: the role's own is wanted", " ", loop.Turn{Text: " "},
			"Promise 'IMPLEMENTATION_COMPLETE' not found in output"},
		{"the role's own promise, for which any claim stands", "",
			loop.Turn{Text: "x", Claim: claim(true, "response", "DONE")}, "Promise found in output"},
		{"a claim that was not accepted does not", "", loop.Turn{Text: "x", Claim: claim(false, "response", "NO")},
			"Promise 'IMPLEMENTATION_COMPLETE' not found in output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &Verify{Criteria: task.Criteria{Promise: tt.promise}}
			v, err := c.Run(t.Context(), Input{Iteration: loop.Iteration{N: 1, Turn: tt.turn}})
			if err != nil || v.Reason != tt.want || v.Pass != (tt.want == "Promise found in output") {
				t.Errorf("verdict = %+v, %v, want %s", v, err, tt.want)
			}
		})
	}
}

// TestVerifyAcrossRoles: a promise waits for its role, and is verified again on what other roles have made since.
func TestVerifyAcrossRoles(t *testing.T) {
	coder := &loop.Iteration{N: 1, Role: task.Coder,
		Turn: loop.Turn{Text: "C", Claim: loop.Claim{Done: true, Tag: "promise", Text: "C"}}}
	tester := &loop.Iteration{N: 2, Role: task.Tester,
		Turn: loop.Turn{Text: "T", Claim: loop.Claim{Done: true, Tag: "promise", Text: "T"}}}
	gaveUp := &loop.Iteration{N: 2, Role: task.Tester, Turn: loop.Turn{Text: "T"}}
	again := &loop.Iteration{N: 3, Role: task.Coder, Turn: loop.Turn{Text: "C2", Claim: loop.Claim{Done: true}}}
	of := func(its ...*loop.Iteration) Input {
		return Input{State: loop.State{Iterations: its}, Iteration: *its[len(its)-1]}
	}
	verifyCoder := &Verify{Role: task.Coder, Criteria: task.Criteria{Promise: "C"}}
	verifyTester := &Verify{Role: task.Tester, Criteria: task.Criteria{Promise: "T"}}
	for _, tt := range []struct {
		name         string
		check        *Verify
		at           Input
		waits, found string
	}{
		{"the coder's own turn", verifyCoder, of(coder), "", "Promise found in output"},
		{"the tester has not come yet", verifyTester, of(coder), "the tester has yet to work", ""},
		{"the tester's own turn", verifyTester, of(coder, tester), "", "Promise found in output"},
		{"the coder's words in the tester's turn", verifyCoder, of(coder, tester), "", "Promise found in output"},
		{"the tester's words after it", verifyTester, of(coder, tester, again), "", "Promise found in output"},
		{"a tester that promised nothing has to come again", verifyTester, of(coder, gaveUp, again),
			"the tester has yet to work", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.check.Waits(tt.at); got != tt.waits {
				t.Fatalf("it waits: %q, want %q", got, tt.waits)
			}
			if tt.waits != "" {
				return
			}
			if v, err := tt.check.Run(t.Context(), tt.at); err != nil || v.Reason != tt.found || v.Role != tt.check.Role {
				t.Errorf("verdict = %+v, %v", v, err)
			}
		})
	}
}

// A check that waits is skipped until later, which keeps a run from being done and not the role from having done its
// part.
func TestWaitingIsSkipped(t *testing.T) {
	c := verifier(t, task.StringMatch, task.Verification{})
	c.Role = task.Tester
	s := promised("x")
	v := verdictOf(t, c, s)
	if v.Skipped != "the tester has yet to work" || !v.Later || v.Pass {
		t.Errorf("verdict = %+v", v)
	}
	it := *s.Last()
	it.Judged, it.Verdicts = true, []loop.Verdict{v}
	if !it.Passed() || it.Done() {
		t.Errorf("passed %v, done %v", it.Passed(), it.Done())
	}
}

// TestUnpaid: a check that asks a model does not begin when nothing is left to pay it with; one that does not, does.
func TestUnpaid(t *testing.T) {
	stages := task.Verification{Stages: []task.Stage{{Method: task.StringMatch}, {Method: task.Semantic}}}
	for c, asks := range map[Check]bool{
		&Review{}: true, verifier(t, task.Semantic, task.Verification{}): true,
		verifier(t, task.MultiStage, stages): true, verifier(t, task.StringMatch, task.Verification{}): false,
	} {
		const empty = "cost limit reached: $5.00 of $5.00 spent"
		l := List{Checks: []Check{c}, Tree: &tree{}, Clock: clock, Log: t.Logf, Unpaid: func() string { return empty }}
		if v := l.judge(t, promised("x"))[0]; (v.Skipped == empty && v.Later) != asks {
			t.Errorf("%s: %+v", c.Name(), v)
		}
	}
}

// TestVerifyTells: the coder what failed, and a journal everything that S2-66 asks for.
func TestVerifyTells(t *testing.T) {
	c := verifier(t, task.External, task.Verification{Command: "echo nope; false"})
	c.Criteria.Description = "The login works"
	const want = `The coder's promise was verified and does not hold. Verification failed: Command exited with 1, expected 0
It is kept when this is true: The login works
Output file: .ralph/verify_1_coder.log
Output (truncated):
nope`
	v := verdictOf(t, c, promised("x"))
	if v.PromptText != want {
		t.Errorf("tell:\n%s\nwant:\n%s", v.PromptText, want)
	}
	if v.Exit != 1 || v.Output != "nope\n" || v.LogFile != "verify_1_coder.log" || len(v.Hash) != 8 || v.Tree != "t" {
		t.Errorf("verdict = %+v", v)
	}
}
