package check

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/archive"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// How many iterations may be wasted before a run that spins has ended.
const (
	mostWasted      = 4  // on one failure, or on nothing at all
	mostWastedInAll = 10 // on failures in turn
	longestLoop     = 40 // iterations, after which nothing stops it
)

// played is one loop of testdata/loops.
type played struct {
	name     string
	kind     string   // "progress": goes on to its end; "spin" and "cycle": is stopped
	last     int      // of a loop that spins: the last iteration that was no waste
	checks   []string // their commands
	edit     string   // what every iteration changes: "src/a.js +4 -1"
	order    []string // a section an iteration; with "=" nothing changes, with "!" the agent claims
	sections map[string]section
}

// section is what the checks say in one iteration: those before the failed one pass, those behind it too.
type section struct {
	fails  int // 1-based; 0: all pass
	output string
}

// TestLoops plays real outputs of real tools to the checks, one an iteration, and their verdicts to the loop: what gets
// nearer to its end is never called stuck, and what does not is stopped soon.
func TestLoops(t *testing.T) {
	loops := map[bool]int{}
	for _, c := range archive.Cases(t, "../../testdata/loops/*.txtar") {
		t.Run(c.Name, func(t *testing.T) {
			p := readLoop(t, c)
			s, step := p.play(t)
			spent, most := len(s.Iterations)-p.last, mostWasted
			if p.kind == "cycle" {
				most = mostWastedInAll
			}
			progress := p.kind == "progress"
			loops[progress]++
			switch {
			case progress && step.Outcome != loop.Done:
				t.Errorf("%s after iteration %d: %s", step.Outcome, len(s.Iterations), step.Reason)
			case !progress && step.Outcome != loop.Stuck:
				t.Errorf("%s after iteration %d, want stuck: %s", step.Outcome, len(s.Iterations), step.Reason)
			case !progress && spent > most:
				t.Errorf("stuck after %d wasted iterations, at most %d may be: %s", spent, most, step.Reason)
			}
			t.Logf("%s after %d iterations: %s", step.Outcome, len(s.Iterations), step.Reason)
		})
	}
	if loops[true] < 20 || loops[false] < 20 {
		t.Errorf("only %v loops", loops)
	}
}

func readLoop(t *testing.T, c archive.Case) played {
	t.Helper()
	p := played{name: c.Name, sections: map[string]section{"pass": {}}}
	var err error
	for line := range strings.Lines(c.Text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "kind":
			p.kind = value
		case "last":
			p.last, err = strconv.Atoi(value)
		case "check":
			p.checks = append(p.checks, value)
		case "edit":
			p.edit = value
		case "order":
			p.order = strings.Fields(value)
		case "source":
		default:
			t.Fatalf("%s: what does %q mean?", p.name, line)
		}
		noError(t, err)
	}
	for file, output := range c.Files {
		name, which, _ := strings.Cut(file, " ")
		s := section{fails: 1, output: output}
		if which != "" {
			if s.fails, err = strconv.Atoi(which); err != nil {
				t.Fatal(err)
			}
		}
		p.sections[name] = s
	}
	for _, word := range p.order {
		if _, ok := p.sections[strings.TrimRight(word, "=!")]; !ok {
			t.Fatalf("%s: there is no section %s", p.name, word)
		}
	}
	return p
}

// play runs the loop to its end; one that spins begins again when its order is over.
func (p played) play(t *testing.T) (loop.State, loop.Step) {
	t.Helper()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s := loop.Fold([]loop.Record{{Type: loop.Started, At: now, Start: &loop.Start{
		Run: "r", Task: "t", Base: "base", Checks: p.checks, MaxIterations: longestLoop,
	}}})
	for {
		step := loop.Next(s, loop.Limits{}, now)
		if step.Do != loop.TakeTurn || p.kind == "progress" && step.Iteration > len(p.order) {
			return s, step
		}
		word := p.order[(step.Iteration-1)%len(p.order)]
		now = now.Add(time.Minute)
		turn := loop.Turn{Class: loop.OK, Text: "I tried.", Usage: loop.Usage{Output: 9}, Claim: loop.Claim{Done: strings.Contains(word, "!")}}
		commit := p.commit(t, s, step.Iteration, strings.Contains(word, "="))
		for _, r := range []loop.Record{
			{Type: loop.TurnBegun, Mode: step.Mode, Tier: step.Tier}, {Type: loop.Turned, Turn: &turn},
			{Type: loop.Committed, Commit: &commit},
		} {
			r.At, r.Iteration = now, step.Iteration
			s = s.With(r)
		}
		verdicts, err := p.list(t, p.sections[strings.TrimRight(word, "=!")]).Judge(t.Context(), s)
		noError(t, err)
		s = s.With(loop.Record{Type: loop.Judged, At: now, Iteration: step.Iteration, Verdicts: verdicts})
	}
}

// commit is what an iteration changes.
func (p played) commit(t *testing.T, s loop.State, n int, empty bool) loop.Commit {
	t.Helper()
	if empty {
		return loop.Commit{SHA: s.Head(), Tree: "tree", Empty: true}
	}
	c := loop.Commit{SHA: fmt.Sprintf("c%d", n), Tree: fmt.Sprintf("tree%d", n)}
	f := loop.FileChange{Path: "notes.md", Added: 1}
	if fields := strings.Fields(p.edit); len(fields) > 0 {
		f = loop.FileChange{Path: fields[0]}
		for _, count := range fields[1:] {
			n, err := strconv.Atoi(count[1:])
			noError(t, err)
			if count[0] == '+' {
				f.Added = n
			} else {
				f.Deleted = n
			}
		}
	}
	c.Files = []loop.FileChange{f}
	return c
}

// list are the loop's checks, which say what the section has.
func (p played) list(t *testing.T, said section) List {
	t.Helper()
	dir := t.TempDir()
	l := List{Tree: &tree{}, Clock: time.Now, Log: func(string, ...any) {}, Checks: []Check{Turn{}, Claim{}}}
	for i, line := range p.checks {
		c := &Command{
			Title: line, Line: line, Hard: true, OnFailure: OnFailure{TruncateChars: 5000}, LogNth: i, Place: placeIn(dir),
		}
		c.start = func(_ context.Context, spec proc.Spec) (proc.Result, error) {
			if said.fails != i+1 {
				return proc.Result{Class: proc.Exited}, nil
			}
			_, err := fmt.Fprint(spec.Stdout, said.output)
			return proc.Result{Class: proc.Exited, Exit: 1}, err
		}
		l.Checks = append(l.Checks, c)
	}
	l.Checks = append(l.Checks, Diff{})
	return l
}
