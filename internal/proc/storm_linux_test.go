package proc_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/proc"
)

// storm makes short-lived orphans as fast as it can: 3,000 of them, in sessions of their own, by four processes at
// once. With those that stay between, 6,000 processes are started; few live at the same time.
const storm = `exec perl -e 'use POSIX; open F, ">", "begun"; print F 1; close F;
	$SIG{TERM} = "IGNORE"; for (1 .. 3) { last unless fork }
	for (1 .. 750) { my $pid = fork; unless ($pid) { exit if fork; POSIX::setsid(); exit } waitpid $pid, 0 }
	1 while wait > 0'`

// manyZombies is far more than lie about when somebody reaps, and far less than there are when nobody does.
const manyZombies = 600

// Dead orphans do not pile up while they are made, and nothing is left when they were, nor when the run is ended in the
// middle.
func TestRunWeathersAStorm(t *testing.T) {
	need.Program(t, "perl")
	for name, cancelled := range map[string]bool{"to its end": false, "ended in the middle": true} {
		if !cancelled && os.Getenv("RALPH_TEST_EVERY_FAULT") == "" { // it takes seconds
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := script(t, storm)
			s.Grace = 50 * time.Millisecond
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			looked := make(chan int)
			go func() {
				defer close(looked)
				waitFor(t, filepath.Join(s.Dir, "begun"))
				most := 0
				for looks := 0; ctx.Err() == nil; looks++ {
					most = max(most, zombies(t))
					if cancelled && looks == 4 {
						cancel()
					}
					time.Sleep(5 * time.Millisecond)
				}
				looked <- most
			}()
			r, err := proc.Run(ctx, s)
			cancel()
			most := <-looked
			t.Logf("%s: at most %d dead orphans at a time", r.Duration, most)
			if err != nil || r.Class == proc.Exited && r.Exit != 0 || (r.Class == proc.Canceled) != cancelled ||
				most > manyZombies {
				t.Errorf("result = %+v, %v; %d dead orphans at a time", r, err, most)
			}
			if left := standing(t, s.Dir); len(left) > 0 || zombies(t) > 0 {
				t.Errorf("left: %v, and %d dead", left, zombies(t))
			}
		})
	}
}
