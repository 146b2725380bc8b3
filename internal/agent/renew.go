package agent

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

const (
	// renewBefore is how long before its end a login is renewed: claude does it from then on.
	renewBefore = 5 * time.Minute
	// renewLimit is how long that may take. The CLI was seen to take a second, and gives its provider four tries.
	renewLimit = time.Minute
)

// over reports whether a login ends within a time from now.
func (r Route) over(now time.Time, within time.Duration) bool {
	return !r.Ends.IsZero() && !now.Add(within).Before(r.Ends)
}

// login makes sure that the routes' logins count: one that is about to end is renewed. why says that one has ended; "":
// none has. Each route can be renewed later, too.
func (t *turnInput) login(ctx context.Context, routes []Route) (ready []Route, why string) {
	for _, r := range routes {
		if r.Login != "" && t.dialect.gateway.renew != nil {
			if r.over(t.now(), renewBefore) {
				if fresh, ok := t.renewed(ctx, r); ok {
					r = fresh
				}
			}
			if r.over(t.now(), 0) {
				return nil, t.dialect.loginHint(r.Login)
			}
			r.Renew = func(ctx context.Context, refused string) (string, bool) {
				used := r
				used.Value = refused
				fresh, ok := t.renewed(ctx, used)
				return fresh.Value, ok
			}
		}
		ready = append(ready, r)
	}
	return ready, ""
}

// renewed is a route with a login that has not been refused: the one that someone else has renewed by now, or else the
// one that the owner's CLI gets.
func (t *turnInput) renewed(ctx context.Context, refused Route) (Route, bool) {
	if r, ok := t.fresh(refused); ok {
		return r, true
	}
	t.renew(ctx)
	return t.fresh(refused)
}

// fresh is the login as it is in its file now, if it is another one.
func (t *turnInput) fresh(refused Route) (Route, bool) {
	routes, _ := t.dialect.gateway.routes(t.Options)
	for _, r := range routes {
		if r.Name == refused.Name && r.Login == refused.Login && r.Value != refused.Value && !r.over(t.now(), 0) {
			return r, true
		}
	}
	return refused, false
}

// renew has the owner's CLI renew its login, in no box, and so in an empty directory and without a task. A program that
// an agent could have put there is not asked. A renewal that has begun is let end whatever becomes of the turn: the old
// login counts no more by then.
func (t *turnInput) renew(ctx context.Context) {
	if !t.owners() {
		return
	}
	dir, remove, err := proc.TempDir("")
	if err != nil {
		return
	}
	defer remove()
	o := t.Options
	o.Gateway, o.Keys, o.Extra, o.Allow = nil, nil, nil, nil
	d := t.dialect
	d.pass = []string{logins[d.name].dirFrom} // and no address of another provider
	said := proc.NewTail(0, 1<<10)
	_, _ = proc.Run(context.WithoutCancel(ctx), proc.Spec{ // what resulted from it is in the file
		Argv: append([]string{t.program}, t.dialect.gateway.renew...), Dir: dir,
		Env: environment(o, d), Stdout: said, Stderr: said, As: t.As, Timeout: renewLimit, Grace: time.Second,
	})
}

// owners reports whether the agent's program was found by its bare name, outside of where the agent works.
func (t *turnInput) owners() bool {
	if filepath.Base(t.Command) != t.Command || !filepath.IsAbs(t.program) {
		return false
	}
	program, err := filepath.EvalSymlinks(t.program)
	if err != nil {
		return false
	}
	dir, err := filepath.EvalSymlinks(orHere(t.Dir))
	if err != nil {
		return false
	}
	for _, path := range []string{t.program, program} {
		if path == dir || strings.HasPrefix(path, dir+string(filepath.Separator)) {
			return false
		}
	}
	return true
}
