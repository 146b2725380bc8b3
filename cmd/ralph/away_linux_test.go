package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestAwayFromAnyCallOn: git or the API, whichever call meets it first, answers nothing for a minute. The job ends as if
// that had not been: one pull request, one turn, each comment once. make test has 5 seconds of it.
func TestAwayFromAnyCallOn(t *testing.T) {
	t.Parallel()
	play := func(t *testing.T, faults ...fake.Fault) *door {
		d := newDoor(t, "bot", "off")
		d.env = append(d.env, "INPUT_REVIEW=true")
		d.write("agent", strings.ReplaceAll(`#!/bin/sh
[ "$1" != --version ] || exit 0
p=$(cat)
case "$p" in
*"# Review"*)
  tree=${p##*to the tree }; tree=${tree%%:*}
  echo "{\"verdict\":\"approve\",\"tree\":\"$tree\",\"summary\":\"looked\",\"issues\":[]}";;
*) echo turn >>DIR/turns; echo work >>a.txt; echo "<response>DONE</response>";;
esac
`, "DIR", d.dir))
		for _, f := range faults {
			d.hub.Fail(f)
		}
		d.hub.ResetCalls()
		said := d.run(0)
		if turns := d.sh("cat turns"); turns != "turn\n" {
			t.Errorf("the agent had the turns %q", turns)
		}
		if pulls := d.hub.Pulls("alice", "demo"); len(pulls) != 1 || pulls[0].Draft {
			t.Errorf("the pull requests are %+v", pulls)
		} else if n, m := len(d.hub.Comments("alice", "demo", 1)), len(d.hub.Comments("alice", "demo", pulls[0].Number)); n != 1 || m != 1 {
			t.Errorf("%d comments on the issue, %d on the pull request", n, m)
		}
		if labels := strings.Join(d.hub.Issue("alice", "demo", 1).Labels, " "); labels != "ralph:review" {
			t.Errorf("the labels are %s", labels)
		}
		if t.Failed() {
			t.Log(said)
		}
		return d
	}
	d := play(t)
	for match, n := range map[string]int{"/alice/...": len(d.hub.GitCalls()), "/repos/...": len(d.hub.Calls())} {
		away, apart := 5*time.Second, n // git's first push is that of the lease
		if every {
			away, apart = time.Minute, 8
		}
		for nth := 4; nth <= n; nth += apart {
			f := fake.Fault{Match: match, Nth: nth, For: away, Status: 503}
			if nth%16 == 4 {
				f.Status, f.Drop = 0, true
			}
			t.Run(fmt.Sprintf("%s from call %d", strings.Split(match, "/")[1], nth), func(t *testing.T) {
				t.Parallel()
				play(t, f)
			})
		}
	}
}
