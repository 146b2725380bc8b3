package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/agenthook"
)

type hookCommand struct {
	ContextMonitor hookMonitor      `cmd:"" help:"After a tool: tell the agent how full its context is, once at 50, 60, 70, 80 and 90 percent."`
	Stop           hookStop         `cmd:"" help:"Before the agent stops, while a plan is run: block until the task list is sound and everything is committed."`
	Guard          hookGuard        `cmd:"" help:"Before a tool: refuse commands that are plainly dangerous. Advisory: it reads what a command says, and stops no program that the agent writes itself. The sandbox and the harness are the guard."`
	SessionStart   hookSessionStart `cmd:"" help:"When a session starts: reset its messages."`
	Install        hookInstall      `cmd:"" help:"Put these hooks into an agent's settings of this project. Everything else in them stays."`
}

type (
	hookMonitor struct{}
	hookStop    struct{}
	hookGuard   struct {
		InRun bool `name:"run" help:"A run is running here: reject what ralph does itself, such as git push."`
	}
	hookSessionStart struct{}
	hookInstall      struct {
		Agent      string `default:"claude" placeholder:"NAME" help:"claude, gemini or codex. Default: ${default}."`
		ProjectDir string `name:"dir" aliases:"project-dir" placeholder:"DIR" help:"The project. Default: the top of the clone that the current directory is in."`
		Local      bool   `help:"Write claude's settings that are not shared, .claude/settings.local.json, and call this very program."`
		DryRun     bool   `help:"Print what the file would be, and change nothing."`
	}
)

// hooked is what every hook gets. It is asked often: nothing is read here that one of them does not need.
func hooked(p process, stderr io.Writer) agenthook.Hook {
	h := agenthook.Hook{Dir: p.dir, Env: environment(p.environ), Environ: p.environ, Out: p.out, Err: stderr, In: strings.NewReader("")}
	if p.in != nil {
		h.In = p.in
	}
	return h
}

// Run implements ralph hook context-monitor.
func (hookMonitor) Run(p process, stderr io.Writer) error {
	hooked(p, stderr).ContextMonitor()
	return nil
}

// Run implements ralph hook stop.
func (hookStop) Run(ctx context.Context, p process, stderr io.Writer) error {
	h := hooked(p, stderr)
	h.In = until{ctx, h.In}
	h.Stop(ctx)
	return nil
}

// Run implements ralph hook guard.
func (c *hookGuard) Run(p process, stderr io.Writer) error {
	hooked(p, stderr).Guard(c.InRun)
	return nil
}

// Run implements ralph hook session-start.
func (hookSessionStart) Run(p process, stderr io.Writer) error {
	hooked(p, stderr).SessionStart()
	return nil
}

// Run implements ralph hook install.
func (c *hookInstall) Run(ctx context.Context, p process) error {
	i := agenthook.HookInstall{Dir: p.dir, Project: c.ProjectDir, Agent: c.Agent, Local: c.Local, DryRun: c.DryRun,
		Environ: p.environ, Out: p.out}
	if c.Local {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		i.Program = program
	}
	return i.Run(ctx)
}
