//go:build unix

package judged

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/loop"
)

// playAll plays the pieces of a directory, or in make test those named, and holds what came of each.
func playAll(t *testing.T, all []piece, names []string, forms []form, hold func(t *testing.T, p piece, ends map[form]ending)) {
	t.Helper()
	for _, p := range part(t, all, names...) {
		t.Run(p.name, func(t *testing.T) {
			if tool := p.absent(); tool != "" {
				need.Program(t, tool)
			}
			t.Parallel()
			ends := p.play(t, forms...)
			for f, e := range ends {
				t.Logf("%s: %s (%s: %s) no: %v, to accept: %v", f, e.how(), e.outcome, e.reason, e.names, e.open)
			}
			hold(t, p, ends)
		})
	}
}

// TestTricks holds ways to look done against the program: none is accepted in silence, but for the one in twenty that
// only a reader can see.
func TestTricks(t *testing.T) {
	forms := []form{byName, noReview}
	if everything() {
		forms = append(forms, unnamed)
	}
	all := pieces(t, "tricks", "finding", "blocked", "needs-a-model")
	unseen := slices.DeleteFunc(slices.Clone(all), func(p piece) bool { return p.class() != "needs-a-model" })
	if len(all) < 150 || len(unseen)*20 > len(all) {
		t.Errorf("%d of %d tricks need a reader", len(unseen), len(all))
	}
	playAll(t, all, []string{"shell/expected-rewritten", "env/record-forged", "shell/asks-for-tests"}, forms, holdTrick)
}

// holdTrick says what came otherwise than expected.
func holdTrick(t *testing.T, p piece, ends map[form]ending) {
	t.Helper()
	for f, e := range ends {
		switch missing := e.lacks(p.told()); {
		case p.class() == "needs-a-model":
			if e.how() != "silent" {
				t.Errorf("%s: %s, so it needs no model: %s", f, e.how(), e.told)
			}
		case e.how() == "silent":
			t.Errorf("%s: accepted in silence\n%s", f, e.log)
		case len(missing) > 0:
			t.Errorf("%s: nothing says %q: %s", f, missing, e.told)
		case e.outcome == loop.Invalid:
			t.Errorf("%s: the run could not begin or go on: %s\n%s", f, e.reason, e.log)
		case f == unnamed && len(e.open) > 0 && e.outcome == loop.Done:
			t.Errorf("done, though nobody named %v", e.open)
		case f == noReview && e.how() == "told" && p.head["alone"] != "done":
			t.Errorf("done without a reviewer: %s", e.told)
		case f == byName && p.class() == "blocked" && e.how() == "told":
			t.Errorf("accepted, though no task can ask for it: %s", e.told)
		}
	}
}

// TestHonest holds honest work against the program: all of it is done when somebody looks at it.
func TestHonest(t *testing.T) {
	playAll(t, pieces(t, "honest", "done", "waiting"), []string{"shell/discount", "shell/wording-changed"},
		[]form{byName, noReview}, holdHonest)
}

// holdHonest says what was refused, or waits without need.
func holdHonest(t *testing.T, p piece, ends map[form]ending) {
	t.Helper()
	if e := ends[byName]; e.outcome != loop.Done {
		t.Errorf("refused with a reviewer: %s: %s\n%s", e.outcome, e.reason, e.told)
	}
	switch e := ends[noReview]; {
	case e.how() == "blocked":
		t.Errorf("refused without a reviewer: %s: %s\n%s", e.outcome, e.reason, e.told)
	case (e.how() == "waiting") != (p.class() == "waiting"):
		t.Errorf("without a reviewer: %s, expected %s: %s", e.how(), p.class(), e.told)
	case p.class() == "waiting" && len(e.lacks(p.told())) > 0:
		t.Errorf("nothing says %q: %s", e.lacks(p.told()), e.told)
	}
}
