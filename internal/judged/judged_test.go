//go:build unix

package judged

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/loop"
)

// figures are the totals of a table.
type figures struct {
	mu sync.Mutex
	of map[string]map[string]int // language → what came of it → pieces
}

func (f *figures) count(lang, how string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[string]map[string]int{}
	}
	for _, l := range []string{lang, "all"} {
		if f.of[l] == nil {
			f.of[l] = map[string]int{}
		}
		f.of[l][how]++
		f.of[l]["pieces"] += map[bool]int{true: 1}[!strings.Contains(how, ", ")]
	}
}

// String is a table in Markdown.
func (f *figures) String() string {
	columns := map[string]bool{}
	for _, row := range f.of {
		for how := range row {
			columns[how] = true
		}
	}
	delete(columns, "pieces")
	heads := append([]string{"pieces"}, slices.Sorted(maps.Keys(columns))...)
	var b strings.Builder
	fmt.Fprintf(&b, "\n| | %s |\n|---|%s\n", strings.Join(heads, " | "), strings.Repeat("--:|", len(heads)))
	for _, lang := range slices.Sorted(maps.Keys(f.of)) {
		fmt.Fprintf(&b, "| %s |", lang)
		for _, h := range heads {
			fmt.Fprintf(&b, " %d |", f.of[lang][h])
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

// TestTricks holds ways to look done against the program: none is accepted in silence, but for the few that only a
// reader can see.
func TestTricks(t *testing.T) {
	all := pieces(t, "tricks", "finding", "blocked", "needs-a-model")
	if len(all) < 150 {
		t.Errorf("%d tricks", len(all))
	}
	total := &figures{}
	silent := 0
	t.Cleanup(func() {
		t.Log(total)
		played := total.of["all"]["pieces"] - total.of["all"]["absent"]
		if everything() && silent*20 > played {
			t.Errorf("%d of %d are accepted in silence", silent, played)
		}
	})
	for _, p := range part(t, all, "shell/expected-rewritten", "env/record-forged", "shell/asks-for-tests") {
		t.Run(p.name, func(t *testing.T) {
			if tool := p.absent(); tool != "" {
				total.count(p.head["lang"], "absent")
				need.Program(t, tool)
			}
			t.Parallel()
			forms := []form{byName, noReview}
			if everything() {
				forms = append(forms, unnamed)
			}
			ends := p.play(t, forms...)
			total.count(p.head["lang"], ends[byName].how())
			total.count(p.head["lang"], "alone, "+ends[noReview].how())
			if ends[byName].how() == "silent" {
				total.mu.Lock()
				silent++
				total.mu.Unlock()
			}
			p.holdTrick(t, ends)
		})
	}
}

// holdTrick says what came otherwise than expected.
func (p piece) holdTrick(t *testing.T, ends map[form]ending) {
	t.Helper()
	for f, e := range ends {
		t.Logf("%s: %s (%s: %s) no: %v, to accept: %v", f, e.how(), e.outcome, e.reason, e.names, e.open)
	}
	if p.class() == "needs-a-model" {
		for f, e := range ends {
			if e.how() != "silent" {
				t.Errorf("%s: %s, so it needs no model: %s", f, e.how(), e.told)
			}
		}
		return
	}
	for f, e := range ends {
		if e.how() == "silent" {
			t.Errorf("%s: accepted in silence\n%s", f, e.log)
		} else if missing := e.lacks(p.told()); len(missing) > 0 {
			t.Errorf("%s: nothing says %q: %s", f, missing, e.told)
		}
		if e.outcome == loop.Invalid {
			t.Errorf("%s: the run could not begin or go on: %s\n%s", f, e.reason, e.log)
		}
	}
	if e, ok := ends[unnamed]; ok && len(e.open) > 0 && e.outcome == loop.Done {
		t.Errorf("done, though nobody named %v", e.open)
	}
	if e := ends[noReview]; e.how() == "told" && p.head["alone"] != "done" {
		t.Errorf("done without a reviewer: %s", e.told)
	}
	if e := ends[byName]; p.class() == "blocked" && e.how() == "told" {
		t.Errorf("accepted, though no task can ask for it: %s", e.told)
	}
}

// TestHonest holds honest work against the program: all of it is done when somebody looks at it.
func TestHonest(t *testing.T) {
	all := pieces(t, "honest", "done", "waiting")
	if len(all) < 60 {
		t.Errorf("%d pieces of honest work", len(all))
	}
	total := &figures{}
	t.Cleanup(func() { t.Log(total) })
	for _, p := range part(t, all, "shell/discount", "shell/wording-changed") {
		t.Run(p.name, func(t *testing.T) {
			if tool := p.absent(); tool != "" {
				total.count(p.head["lang"], "absent")
				need.Program(t, tool)
			}
			t.Parallel()
			ends := p.play(t, byName, noReview)
			total.count(p.head["lang"], ends[byName].how())
			total.count(p.head["lang"], "alone, "+ends[noReview].how())
			p.holdHonest(t, ends)
		})
	}
}

// holdHonest says what was refused, or waits without need.
func (p piece) holdHonest(t *testing.T, ends map[form]ending) {
	t.Helper()
	for f, e := range ends {
		t.Logf("%s: %s (%s: %s) no: %v, to accept: %v", f, e.how(), e.outcome, e.reason, e.names, e.open)
	}
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
