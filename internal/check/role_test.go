package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// qa is a role that reads, with a promise of its own, which gives an answer.
func qa(answer loop.Turn) *Review {
	answer.Class, answer.Usage = loop.OK, loop.Usage{Input: 5}
	r := reader(&checkout{}, func(string) loop.Turn { return answer })
	r.Role, r.Promise = task.QA, "QA_PASSED"
	return r
}

// TestPromiseOfAReviewer has a row for each way an approval and a promise go together, or do not.
func TestPromiseOfAReviewer(t *testing.T) {
	answer := func(verdict, promise string) string {
		return fmt.Sprintf(`{"verdict":%q,"tree":"t","summary":"seen","issues":[],"promise":%s}`, verdict, promise)
	}
	const unclear = "checked, not reviewed: the QA engineer's answer does not count, asked 3 times: it "
	const without = unclear + `approves without its promise "QA_PASSED"`
	const contradiction = `the QA engineer gives its promise "QA_PASSED" but asks for changes, which is a rejection`
	for _, tt := range []struct {
		name   string
		turn   loop.Turn
		pass   bool
		reason string
	}{
		{"in its field, in any case", loop.Turn{Structured: answer("approve", `" qa_passed\n"`)}, true, "seen"},
		{"in a tag of its text", loop.Turn{Text: "<promise>QA_PASSED</promise>\n" + answer("approve", "null")}, true, "seen"},
		{"in a tag of an earlier message",
			loop.Turn{Text: answer("approve", "null"), Claim: loop.Claim{Tag: "promise", Text: "QA_PASSED"}}, true, "seen"},
		{"nowhere", loop.Turn{Structured: answer("approve", "null")}, false, without},
		{"one that only holds it", loop.Turn{Structured: answer("approve", `"QA_PASSED not yet"`)}, false, without},
		{"the word without a tag", loop.Turn{Text: "QA_PASSED\n" + answer("approve", "null")}, false, without},
		{"a field that says no counts before a tag",
			loop.Turn{Text: "<promise>QA_PASSED</promise>\n" + answer("approve", `"no"`)}, false, without},
		{"the first tag counts", loop.Turn{Text: "<promise>no</promise> <promise>QA_PASSED</promise>\n" +
			answer("approve", "null")}, false, without},
		{"a rejection with it", loop.Turn{Structured: answer("request_changes", `"QA_PASSED"`)}, false, contradiction},
		{"a rejection", loop.Turn{Structured: answer("request_changes", "null")}, false,
			"the QA engineer asks for changes: seen"},
		{"the promise alone", loop.Turn{Text: "<promise>QA_PASSED</promise>"}, false,
			unclear + "holds no verdict that can be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := verdictOf(t, qa(tt.turn), at(claimed, changed))
			if v.Pass != tt.pass || v.Reason != tt.reason {
				t.Errorf("%v %q, want %v %q", v.Pass, v.Reason, tt.pass, tt.reason)
			}
			if v.Check != "qa" || v.Role != task.QA || v.Severity != loop.Hard {
				t.Errorf("verdict = %+v", v)
			}
			if strings.Contains(tt.name, "rejection") != strings.Contains(v.PromptText,
				"A QA engineer who read only the task and your change asks for this:\n\nseen") {
				t.Errorf("it tells %q", v.PromptText)
			}
		})
	}
}

// TestReviewerOfARunWithoutRoles is asked for no promise and judges as ever.
func TestReviewerOfARunWithoutRoles(t *testing.T) {
	r := qa(approves("t"))
	r.Role, r.Promise = "", ""
	if v := verdictOf(t, r, at(claimed, changed)); !v.Pass || v.Check != loop.ReviewCheck || v.Role != "" ||
		v.Verification || r.Schema() != ReviewSchema {
		t.Errorf("verdict = %+v", v)
	}
	r = qa(approves("t"))
	r.Role = task.Reviewer
	if v := verdictOf(t, r, at(claimed, changed)); v.Pass || v.Check != loop.ReviewCheck || v.Role != task.Reviewer ||
		r.Schema() != PromisedSchema {
		t.Errorf("verdict = %+v", v)
	}
}

// TestReviewersPromiseIsVerified: by its method, on the reviewer's own words, or by commands in the run's worktree;
// only after an approval.
func TestReviewersPromiseIsVerified(t *testing.T) {
	const approved = `{"verdict":"approve","tree":"t","summary":"seen, one security concern","issues":[],"promise":"QA_PASSED"}`
	const rejected = `{"verdict":"request_changes","tree":"t","summary":"no","issues":[],"promise":null}`
	for _, tt := range []struct {
		name, answer string
		method       task.Method
		config       task.Verification
		pass         bool
		reason       string
	}{
		{"the promise in its form", approved, task.StringMatch, task.Verification{}, true,
			"Promise found in output: seen, one security concern"},
		{"a negative pattern in its words", approved, task.Semantic,
			task.Verification{NegativePatterns: []string{"Security concern"}}, false,
			"Found negative pattern: Security concern"},
		{"a command in the worktree", approved, task.External, task.Verification{Command: "test -e given"}, true,
			"External verification passed: seen, one security concern"},
		{"a command that fails", approved, task.MultiStage,
			task.Verification{Stages: []task.Stage{shell("given", "test -e given"), shell("more", "echo why; false")}}, false,
			"Stage 'more' failed: Command exited with 1, expected 0"},
		{"a rejection is not verified", rejected, task.External, task.Verification{Command: "touch ran"}, false,
			"the QA engineer asks for changes: no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := qa(loop.Turn{Structured: tt.answer})
			r.Verify = verifier(t, tt.method, tt.config)
			r.Verify.Role, r.Verify.Criteria.Promise = task.QA, "QA_PASSED"
			noError(t, os.WriteFile(filepath.Join(r.Verify.Runner.Dir, "given"), nil, 0o644))
			v := verdictOf(t, r, at(claimed, changed))
			if v.Pass != tt.pass || v.Reason != tt.reason || v.Usage.Input != 5 || v.Role != task.QA ||
				v.Verification != (tt.answer == approved) {
				t.Errorf("verdict = %+v, want %v %q", v, tt.pass, tt.reason)
			}
			if _, err := os.Stat(filepath.Join(r.Verify.Runner.Dir, "ran")); err == nil {
				t.Error("a rejection was verified")
			}
			if tt.name == "a command that fails" &&
				(v.LogFile != "verify_1_qa_2_more.log" || v.Output != "more:\nwhy\n" ||
					!strings.HasPrefix(v.PromptText, "The qa's promise was verified and does not hold. Verification failed: Stage 'more' "+
						"failed")) {
				t.Errorf("verdict = %+v", v)
			}
		})
	}
}

// TestReviewersCap: a role judges so often and no more; verdicts that were skipped, or are of the cap itself, are no
// turns of it.
func TestReviewersCap(t *testing.T) {
	const approved = `{"verdict":"approve","tree":"t","summary":"","issues":[],"promise":"QA_PASSED"}`
	state := func(verdicts ...loop.Verdict) loop.State {
		s := at(claimed, changed)
		for _, v := range verdicts {
			it := &loop.Iteration{N: 0, Verdicts: []loop.Verdict{v}}
			s.Iterations = append([]*loop.Iteration{it}, s.Iterations...)
		}
		return s
	}
	spent := &loop.Usage{}
	turn := loop.Verdict{Check: "qa", Usage: spent}
	for _, tt := range []struct {
		name string
		s    loop.State
		most int
		want string
	}{
		{"below it", state(turn), 2, ""},
		{"at it", state(turn, turn), 2, "the QA engineer has judged 2 times, which is its cap"},
		{"skipped ones do not count", state(loop.Verdict{Check: "qa", Skipped: "x", Usage: spent}), 1, ""},
		{"nor what the cap itself said", state(turn, loop.Verdict{Check: "qa"}), 2, ""},
		{"nor others'", state(loop.Verdict{Check: "review", Usage: spent}), 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := qa(loop.Turn{Structured: approved})
			r.Most = tt.most
			v := verdictOf(t, r, tt.s)
			if v.Pass != (tt.want == "") || v.Reason != tt.want || v.Role != task.QA || (v.Usage == nil) != (tt.want != "") {
				t.Errorf("verdict = %+v, want %q", v, tt.want)
			}
		})
	}
	r := qa(loop.Turn{Structured: approved})
	r.Most = 1
	again := state(turn)
	again.Reopened = 1
	if v := verdictOf(t, r, again); !v.Pass {
		t.Errorf("a run that was asked for again counts its old turns: %+v", v)
	}
}
