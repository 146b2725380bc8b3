//go:build unix

package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/work"
)

// looker is an agent that looks for what it must not have: the job's token, the server's key, descriptors that are
// sockets, and its parents' memory and files. It writes down what it found.
func looker(into string) string {
	return works(`*) {
  ls -l /proc/self/fd 2>/dev/null | grep -o 'socket:.*' && echo "a socket in self"
  for p in /proc/[0-9]*; do grep -q work "$p/cmdline" && [ "$p" != /proc/$$ ] && cat "$p/fd/0"; done
  grep -al 'ghs_made\|of-the-server' /proc/[0-9]*/environ /proc/[0-9]*/cmdline
  grep -rl 'ghs_made\|of-the-server' "$PWD" "$PWD/../repo.git" "$PWD/../logs" 2>/dev/null
  cat "$PWD"/../../*/key 2>/dev/null
} > ` + into + ` 2>/dev/null
printf 'add() { echo $(($1 + $2)); }\n' > add.sh; echo "fixed. <response>DONE</response>";;
`)
}

// TestWhatAnAgentFinds: neither the token nor the way to the server nor the server's keys are within an agent's reach,
// and none of them is in what the server is told.
func TestWhatAnAgentFinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent = w.script("agent", looker(w.shared("found")))
	w.must(w.start(w.labeled("5f1e-2", 1)), loop.Done)
	if found := w.file("found"); found != "" {
		t.Errorf("the agent found:\n%s", found)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.Contains(w.output.String()+w.log.String(), "ghs_made") {
		t.Error("a token is in the log")
	}
}

// TestTokens: a token is replaced before it ends and when GitHub refuses it, and every one is revoked in the end.
func TestTokens(t *testing.T) {
	t.Parallel()
	for name, lasts := range map[string]time.Duration{"it ends soon": 4 * time.Minute, "GitHub takes it no more": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.lasts = lasts
			refuse := sync.OnceFunc(func() { w.gh.RevokeToken(fmt.Sprintf("ghs_made.up%029d", 1)) })
			w.onEach = func(r work.Record) {
				if r.Record.Type == loop.Turned && lasts == time.Hour {
					refuse()
				}
			}
			w.must(w.start(w.labeled("5f1e-3", 1)), loop.Done)
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.made < 2 || lasts == time.Hour && w.made > 2 || len(w.open) != 0 {
				t.Errorf("%d tokens were made, %d are left", w.made, len(w.open))
			}
		})
	}
}

// TestTooManyTokens: a process gets no tokens without end.
func TestTooManyTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i := &issuer{from: w, clock: time.Now}
	for range mostTokens {
		if _, err := i.newer(context.Background(), i.now.Number); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := i.newer(context.Background(), i.now.Number); err == nil {
		t.Error("there is one more")
	}
	if err := i.revoke(context.Background()); err != nil || len(w.open) != 0 {
		t.Errorf("%d are left: %v", len(w.open), err)
	}
}

// TestNoTokenNoProcess: without a token nothing is started.
func TestNoTokenNoProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.labeled("5f1e-4", 1)
	job.Tokens = refusing{}
	if _, err := w.by.Start(t.Context(), job); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("%v", err)
	}
}

type refusing struct{ Tokens }

// Make implements Tokens.
func (refusing) Make(context.Context) (work.Token, error) {
	return work.Token{}, errors.New("the App is not installed there")
}
