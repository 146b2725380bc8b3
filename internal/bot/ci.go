package bot

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
)

// buildsBegin is how long the first of the other workflows may take to show up on a commit.
const buildsBegin = 3 * time.Minute

// ciCheck is the check that waits for other workflows.
func (a *Action) ciCheck() *check.CI {
	pause := a.pause
	if pause == nil {
		pause = pauseFor
	}
	return &check.CI{
		Builds: func(ctx context.Context, sha string) (check.Builds, error) {
			ci, err := a.github.Builds(ctx, sha, checkName, a.Env.RunID)
			out := check.Builds{Passed: ci.State == github.CIPassed, Pending: ci.Pending}
			for _, b := range ci.Failed {
				out.Failed = append(out.Failed, check.Build{Name: b.Name, Conclusion: b.Conclusion,
					Told: func(ctx context.Context) (string, []loop.Finding) {
						log, found, err := a.github.BuildLog(ctx, b)
						a.warn("reading the log of "+b.Name, err)
						var findings []loop.Finding
						for _, f := range found {
							findings = append(findings, loop.Finding{File: f.Path, Line: f.Line, Level: f.Level, Message: f.Message})
						}
						return log, findings
					}})
			}
			return out, err
		},
		Begin: buildsBegin, Clock: a.Clock, Log: a.log, Sleep: pause,
	}
}

func pauseFor(ctx context.Context, d time.Duration) error {
	engine.Wait(ctx, d)
	return ctx.Err()
}
