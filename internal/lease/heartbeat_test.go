package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// saying answers a pulse: with the next of what it was told to say.
type saying struct {
	asked   []string // "look", "extend", "release"
	tokens  []string
	clock   *watch
	lasts   time.Duration
	answers []answered
}

type answered struct {
	stop *Stop
	err  error
}

func (s *saying) next(what string, held Lease) (Lease, error) {
	s.asked = append(s.asked, strings.TrimSpace(what+" "+held.Run))
	if len(s.answers) == 0 {
		return held, nil
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	if a.stop != nil {
		held.Stop = a.stop
	}
	return held, a.err
}

func (s *saying) Look(_ context.Context, held Lease) (Lease, error) {
	return s.next("look", held)
}

func (s *saying) Extend(_ context.Context, held Lease) (Lease, error) {
	now, err := s.next("extend", held)
	if err == nil {
		now.Until = s.clock.now().Add(s.lasts)
	}
	return now, err
}

func (s *saying) Release(_ context.Context, held Lease) error {
	_, err := s.next("release", held)
	return err
}

func (s *saying) Hints(context.Context, string) ([]Hint, error) { return nil, nil }

func (s *saying) ForgetHints(context.Context, string, []string) error { return nil }

func (s *saying) Renew(token string) { s.tokens = append(s.tokens, token) }

func (s *saying) Close() {}

// TestHeartbeat: what is asked of the remote when, and what the run hears of the answers.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	away := answered{err: errors.New("the network is away")}
	alice, bob := answered{stop: &Stop{By: "alice"}}, answered{stop: &Stop{By: "bob"}}
	lost := answered{err: fmt.Errorf("looking: %w",
		&LostError{Task: "issue-1", Now: Lease{Task: "issue-1", Owner: "workflow run 78, attempt 1"}})}
	for _, tt := range []struct {
		name    string
		beats   int // every 15 s
		answers []answered
		asked   string
		cause   string // why the run ended; "": it goes on
		logged  int
		slow    time.Duration // that an answer takes
		lasts   time.Duration // 0: Time
	}{
		{"it looks, and renews when a third of the time is over", 15, nil,
			"look look look look look look extend look look look look look look extend look", "", 0, 0, 0},
		{"an error is tried again, logged once, and so is its end", 6, []answered{{}, away, away, away},
			"look look look look look look", "", 2, 0, 0},
		{"two times away are two", 6, []answered{away, {}, away}, "look look look look look look", "", 4, 0, 0},
		{"a renewal that fails is tried at every beat", 20,
			slices.Concat(make([]answered, 6), slices.Repeat([]answered{away}, 14)),
			"look look look look look look" + strings.Repeat(" extend", 14), "", 1, 0, 0},
		{"a stop is heard, and the run is kept until it has ended", 8, []answered{{}, alice, bob},
			"look look look look look look extend look", "asked to stop by alice", 1, 0, 0},
		{"a stop is heard at a renewal", 7, append(make([]answered, 6), alice), "look look look look look look extend",
			"asked to stop by alice", 1, 0, 0},
		{"a lost run asks no more", 8, []answered{{}, lost}, "look look", "this process no longer holds issue-1: workflow run 78, attempt 1 has taken it over; see its status there", 1, 0, 0},
		{"a remote too slow to answer is asked to renew several times before the lease ends", int(Time / (LookEvery + Patience)),
			slices.Repeat([]answered{{err: context.DeadlineExceeded}}, 100), "look look extend extend extend", "", 1, Patience, 0},
		{"a server's is renewed every nine minutes, and not looked at in between", 60 * 4, nil,
			strings.Repeat(" extend", 6)[1:], "", 0, 0, longTime},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			clock, logged, lasts := newWatch(), 0, cmp.Or(tt.lasts, Time)
			door := &saying{clock: clock, answers: tt.answers, lasts: lasts}
			token := func(context.Context) (string, error) { return "t" + clock.now().Format("150405"), nil }
			log := func(string, ...any) { logged++ }
			running, p := NewHeartbeat(context.Background(), door, Lease{Task: "issue-1", Until: clock.now().Add(lasts)}, clock.now,
				token, log)
			for range tt.beats {
				clock.pass(LookEvery)
				if !p.Beat(context.Background()) {
					break
				}
				clock.pass(tt.slow)
			}
			if got := strings.Join(door.asked, " "); got != tt.asked {
				t.Errorf("it asked %s\nwant %s", got, tt.asked)
			}
			if cause := context.Cause(running); tt.cause == "" && cause != nil || tt.cause != "" &&
				(cause == nil || cause.Error() != tt.cause) {
				t.Errorf("the run ended because %v, want %q", cause, tt.cause)
			}
			if isLost := strings.HasPrefix(tt.cause, "this process"); isLost != (p.Lost() != nil) {
				t.Errorf("lost: %v", p.Lost())
			}
			if logged != tt.logged {
				t.Errorf("%d lines were logged, want %d", logged, tt.logged)
			}
			if len(door.tokens) != len(door.asked) || tt.lasts == 0 && door.tokens[0] != "t093015" {
				t.Errorf("tokens: %q", door.tokens)
			}
		})
	}
}

// TestHeartbeatTellsItsRun: which run it is becomes known when the record has been read, and a lease that was given
// back is left alone.
func TestHeartbeatTellsItsRun(t *testing.T) {
	t.Parallel()
	clock := newWatch()
	door := &saying{clock: clock}
	token := func(context.Context) (string, error) { return "", nil }
	running, p := NewHeartbeat(context.Background(), door, Lease{Task: "issue-1", Until: clock.now()}, clock.now, token, t.Logf)
	p.Of("run-1")
	beats := make(chan time.Time)
	p.Listen(context.Background(), beats)
	beats <- clock.now()
	p.Close(context.Background())
	p.Close(context.Background())
	if got := strings.Join(door.asked, ", "); got != "extend run-1, release run-1" {
		t.Error(got)
	}
	if !errors.Is(context.Cause(running), context.Canceled) {
		t.Error(context.Cause(running))
	}
}

// TestNoHeartbeat: a dry run has none.
func TestNoHeartbeat(t *testing.T) {
	t.Parallel()
	var p *Heartbeat
	p.Of("run")
	p.StopRenewing()
	p.Close(context.Background())
	if p.Lost() != nil || p.Release(context.Background()) != nil {
		t.Error("nothing can be lost")
	}
}
