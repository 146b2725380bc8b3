package internal_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
)

// TestDocumentedTimes: docs/checks.md has the limits that hold when nobody sets any.
func TestDocumentedTimes(t *testing.T) {
	set, err := config.Load(config.Layer{Name: "the test",
		JSON: []byte(`{"guardrails": [{"command": "true"}, {"command": "true", "severity": "soft"}]}`)})
	noError(t, err)
	short := func(d time.Duration) string { return fmt.Sprintf("%gm", d.Minutes()) }
	hard, soft := set.Guardrails[0], set.Guardrails[1]
	want := map[string][2]string{
		"the run": {short(set.Timeout() * 3 / 4), short(set.Timeout())},
		"a turn": {short(set.TurnTimeout() * 3 / 5),
			short(set.TurnTimeout()) + ", or " + short(set.IdleTimeout()) + " without output"},
		"a hard check": {short(set.CheckWarning(hard)), short(set.CheckTimeout(hard))},
		"a review":     {short(set.ReviewTimeout() * 3 / 5), short(set.ReviewTimeout())},
		"a soft check": {short(set.CheckWarning(soft)), short(set.CheckTimeout(soft))},
	}
	for _, row := range table(t, document(t, "../docs/checks.md"), "what", "warns after", "is stopped after", "setting") {
		for what, times := range want {
			if row[0] != what && !strings.HasPrefix(row[0], what+",") {
				continue
			}
			delete(want, what)
			if row[1] != times[0] || row[2] != times[1] {
				t.Errorf("docs/checks.md: %s has %q, want %q", row[0], row[1:3], times)
			}
		}
	}
	for what := range want {
		t.Errorf("docs/checks.md has no row for %s", what)
	}
}

// TestDocumentedRunners: docs/checks.md names every test runner whose words are recorded.
func TestDocumentedRunners(t *testing.T) {
	var named []string
	for _, row := range table(t, document(t, "../docs/checks.md"), "runner", "says that nothing ran") {
		named = append(named, strings.ToLower(row[0]))
	}
	recorded, err := os.ReadDir("failure/testdata/ran")
	noError(t, err)
	all := strings.Join(named, "\n")
	for _, runner := range recorded {
		if name, ok := strings.CutSuffix(runner.Name(), ".txtar"); ok && name != "several" && name != "unknown" && !strings.Contains(all, name) {
			t.Errorf("docs/checks.md does not tell when %s ran nothing", name)
		}
	}
}
