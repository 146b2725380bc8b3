package report

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

func end(s *sample.Script, o loop.Outcome, reason, branch string) View {
	return view(s.Finish(o, reason, branch))
}

func view(s *sample.Script) View {
	return View{State: s.State, Now: s.At.Add(40 * time.Second), Words: Words{Phrase: "/ralph"},
		Controls: Controls{Label: "ralph", Running: "ralph:running"},
		Site: Site{ServerURL: "https://github.com", Repo: "alice/demo",
			TokenNote: "Pushes made with GITHUB_TOKEN start no workflows; use an app's token for CI to run here."}}
}

func timedOut() View {
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "", sample.Fail("claim", "the agent did not claim completion", ""))
	return end(s, loop.Timeout, "the run's time limit of 1h is over", "wip/ralph-fail-issue-42-20261121-063000")
}

func mistaken() View {
	s := sample.Begin(func(start *loop.Start) { start.Checks = nil; start.Review = false; start.Detected = "" })
	s.Turning(1, loop.Implement)
	s.Turned(1, loop.Turn{Class: loop.Auth,
		Reason: "the key in ANTHROPIC_API_KEY is refused; put a valid one into the secret", Exit: 1})
	s.Committed(1)
	return end(s, loop.Invalid, "the key in ANTHROPIC_API_KEY is refused; put a valid one into the secret", "")
}

func interrupted() View {
	s := sample.Begin(nil)
	s.Turning(1, loop.Implement)
	s.Turned(1, loop.Turn{Class: loop.Stopped, Reason: "the run was canceled"})
	s.Committed(1, loop.FileChange{Path: "hello.go", Added: 4})
	return end(s, loop.Interrupted, "the run was canceled", "")
}

func failed() View {
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "x", sample.Pass("claim"))
	return end(s, loop.Failed, "pushing ralph/issue-42: the branch moved", "")
}

// long is a run of n failed iterations.
func long(n int) View {
	s := sample.Begin(func(start *loop.Start) { start.MaxIterations = n })
	for i := 1; i <= n; i++ {
		s.Iterate(i, loop.Implement, strings.Repeat(sample.Nasty, 5),
			sample.Fail(strings.Repeat("`|@x ", 100), strings.Repeat(sample.Nasty, 3), strings.Repeat(sample.Nasty, 10)))
	}
	return end(s, loop.Capped, "all used up", "wip/ralph-fail-issue-42-20261121-054000")
}
