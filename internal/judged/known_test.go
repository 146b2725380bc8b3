//go:build unix

package judged

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestFailuresOfTheBase: a failure of the base commit that is no part of the task keeps no work from being done, and a
// task that is about it is not done by leaving it, whatever a reviewer accepts.
func TestFailuresOfTheBase(t *testing.T) {
	const note, comment = "echo A shop. >>README.md", "echo '# Sums.' >>lib/total.sh"
	const refund = "echo 'refund() { total \"$@\"; }' >lib/refund.sh; printf '. lib/total.sh\\n. lib/refund.sh\\n[ $(refund 1 2) = 3 ]\\n' >tests/refund_test.sh; "
	person := []loop.Outcome{loop.Waiting, loop.Waiting}
	honest := []loop.Outcome{loop.Done, loop.Waiting}
	rows := []struct {
		name, title, text, change, check, turns string
		want                                    []loop.Outcome // with a reviewer that accepts what it is asked, and with none
	}{
		{"docs", "Write a README", "Say what this is.", note, "", "4", honest},
		{"docs, in one turn", "Write a README", "Say what this is.", note, "", "1", honest},
		{"a feature", "Give refunds", "refund PRICE... is what returned goods cost.", refund, "", "4", honest},
		{"something renamed", "Call it sum.sh", "lib/total.sh is lib/sum.sh from now on.",
			"[ ! -f lib/total.sh ] || git mv lib/total.sh lib/sum.sh; sed -i s,lib/total,lib/sum, tests/total_test.sh", "", "4", honest},
		{"a linter's finding", "Write a README", "Say what this is.", note, "sh lint.sh", "4", honest},
		{"a failure without a name", "Write a README", "Say what this is.", "[ -f README.md ] || " + note, "sh smoke.sh", "4", honest},
		{"the failing file is part of the task", "Name an owner", "The head of tests/network_test.sh has to name one.",
			"grep -q Ann tests/network_test.sh || sed -i '1i # Owner: Ann' tests/network_test.sh", "", "4", person},

		{"to be made to pass", "Make all tests pass", "They have to pass before the release.", comment, "", "4", person},
		{"a red CI", "CI is red", "CI is red since Monday. Get it green again.", comment, "", "4", person},
		{"a bug", "Fix the mails", "They never arrive.", "echo '# Mails.' >>lib/mail.sh", "", "4", person},
		{"the failing test is touched", "Let mails out", "Nothing arrives.", "echo '# Mails.' >>tests/network_test.sh", "", "4", person},
		{"a test by name", "Let mails out", "test_network says what is wanted.", comment, "", "4", []loop.Outcome{loop.Stuck, loop.Stuck}},
		{"only a reader sees it", "Let mails out", "Nothing arrives.", comment, "", "4", honest},
		{"a new failure", "Give refunds", "refund PRICE... is what returned goods cost.", refund + "echo 'total() { echo 0; }' >>lib/total.sh", "", "4",
			[]loop.Outcome{loop.Stuck, loop.Stuck}},
	}
	for _, row := range rows {
		if !everything() && !slices.Contains([]string{"docs, in one turn", "a red CI"}, row.name) {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := bases(t)["known-shop"]
			p.title, p.text, p.script, p.head["turns"] = row.title, row.text, row.change, row.turns
			if row.check != "" {
				p.checks = []string{row.check}
			}
			ends := p.play(t, byName, noReview)
			for i, f := range []form{byName, noReview} {
				if e := ends[f]; e.outcome != row.want[i] {
					t.Errorf("%s: %s, want %s: %s\n%s", f, e.outcome, row.want[i], e.reason, e.log)
				}
			}
		})
	}
}
