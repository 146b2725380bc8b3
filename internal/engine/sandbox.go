package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// openSandbox chooses the sandbox, says what it holds, and keeps it for the run. A sandbox that the settings require
// and that is not available is a mistake in the settings or the environment; nothing runs then.
func (run *Run) openSandbox(ctx context.Context) (*sandbox.Sandbox, error) {
	run.boxes.once.Do(func() {
		o, err := run.sandboxOptions()
		if err == nil {
			run.boxes.sandbox, err = sandbox.Open(ctx, o)
		}
		if _, missing := errors.AsType[*sandbox.UnavailableError](err); missing {
			err = invalid.Mark(err)
		}
		run.boxes.err = err
	})
	return run.boxes.sandbox, run.boxes.err
}

// Boxed reports whether the run's processes are kept in a sandbox.
func (run *Run) Boxed() bool {
	return run.boxes.sandbox != nil && run.boxes.sandbox.Mode != sandbox.Off
}

// CloseSandbox throws away what the run's boxes have used.
func (run *Run) closeSandbox() {
	if run != nil {
		run.boxes.once.Do(func() { run.boxes.err = errors.New("the run is over") })
		run.boxes.sandbox.Close()
	}
}

func (spec *Spec) sandboxOptions() (sandbox.Options, error) {
	set := spec.Settings
	o := sandbox.Options{
		Mode: set.Sandbox, As: spec.User, Parent: spec.Parent, Log: spec.Log, Scratch: spec.Scratch,
		Home:    cmp.Or(spec.Home, proc.Value(spec.Parent, "HOME")),
		Image:   proc.Value(spec.Parent, config.SandboxImage),
		Trees:   sandbox.Trees{Dir: spec.Workspace.Dir(), Hooks: !spec.InJob},
		Paths:   sandbox.Paths{Readable: []string{spec.Logs}},
		Reach:   sandbox.Reach{Network: set.SandboxNetwork, Sockets: set.SandboxSockets, Userns: set.SandboxUserns},
		Consent: sandbox.Consent{None: spec.AgreeToNone, Credentials: spec.AcceptCredentials},
	}
	if spec.Clone != "" {
		o.Hide = []string{spec.Clone}
	}
	if spec.InJob {
		o.Job = &sandbox.Job{Install: spec.InstallSandbox}
	}
	if program, err := os.Executable(); err == nil { // the agent's hooks call it
		o.Readable = append(o.Readable, program)
	}
	by := "the setting sandbox"
	switch said := proc.Value(spec.Parent, config.SandboxSwitch); said {
	case "":
	case sandbox.Off:
		by, o.Mode = config.SandboxSwitch, sandbox.Off
	default:
		return o, invalid.Errorf("environment variable %s is %q; must be off; name another sandbox in the setting sandbox",
			config.SandboxSwitch, said)
	}
	if spec.switchedOff() {
		spec.Log("sandbox: off, as %s says: agents and checks can read and write what their user can, and speak to every host",
			by)
	}
	for _, path := range append(slices.Clone(set.SandboxWritable), spec.marker()...) {
		if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
			path = o.Home + rest
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Dir, path)
		}
		o.Writable = append(o.Writable, path)
	}
	for i, c := range []config.Command{set.Agent, set.Reviewer} {
		if at := spec.agentCommand(c.Command); filepath.IsAbs(at) {
			o.Readable = append(o.Readable, at)
		}
		if c.Command != "" &&
			(i == 0 || c.Command != set.Agent.Command || !slices.Equal(c.Args(), set.Agent.Args())) {
			o.Agents = append(o.Agents, agent.Needs(spec.lookedAt(c, set.AgentSettings && i == 0)))
		}
	}
	if spec.JudgeName != "" {
		o.Judge, o.Objects = spec.judgeDir(), spec.Tree.ObjectDirs()
	}
	return o, nil
}

// lookedAt are the options by which it is found out what an agent needs: not its login, where it is carried.
func (spec *Spec) lookedAt(c config.Command, agentSettings bool) agent.Options {
	o := agent.Options{
		Command: c.Command, Flags: c.Args(), Model: c.Model,
		Host:   spec.host(nil),
		Rights: agent.Rights{AgentSettings: agentSettings},
	}
	carried, _, _ := spec.withGateway(o, nil)
	o.Home, o.As, o.Gateway = "", nil, carried.Gateway
	return o
}

// marker is the directory of a marker file that is where agents may not write.
func (spec *Spec) marker() []string {
	dir := filepath.ToSlash(filepath.Dir(filepath.Clean(spec.Settings.DoneFile)))
	if strings.HasPrefix(dir, ".ralph/") {
		return []string{spec.fromTop(dir)}
	}
	return nil
}

// CacheDir is where a system's programs keep what they can make again, by the environment; empty if it is not known.
func CacheDir(system string, env []string) string {
	if dir := proc.Value(env, "XDG_CACHE_HOME"); filepath.IsAbs(dir) && system != "windows" {
		return dir
	}
	dirs, ok := map[string][2]string{"darwin": {"HOME", "Library/Caches"}, "windows": {"LOCALAPPDATA", ""}}[system]
	if !ok {
		dirs = [2]string{"HOME", ".cache"}
	}
	if home := proc.Value(env, dirs[0]); filepath.IsAbs(home) && home != "/" {
		return filepath.Join(home, filepath.FromSlash(dirs[1]))
	}
	return ""
}

// box is what something is kept in; nil when nothing is. The sandbox is opened by the first that enters, if no one has
// opened it before.
func (run *Run) box(u sandbox.Use) proc.Box {
	if run.switchedOff() {
		return nil
	}
	return entry{run, u}
}

// switchedOff reports whether someone has decided that there is no sandbox.
func (spec *Spec) switchedOff() bool {
	return spec.Settings.Sandbox == sandbox.Off || proc.Value(spec.Parent, config.SandboxSwitch) == sandbox.Off
}

type entry struct {
	run *Run
	use sandbox.Use
}

// Enter implements proc.Box.
func (e entry) Enter(s proc.Spec) (proc.SandboxedCommand, error) {
	opened, err := e.run.openSandbox(context.Background())
	if err != nil {
		return proc.SandboxedCommand{}, fmt.Errorf("opening the sandbox: %w", err)
	}
	if b := opened.Box(e.use); b != nil {
		return b.Enter(s)
	}
	return proc.SandboxedCommand{Spec: s}, nil
}

// boxed puts a turn into the box that is right for it: one that only reads finds nothing that it could write. An
// agent's arguments depend on whether it has one.
func boxed(ctx context.Context, o agent.Options) (agent.Options, error) {
	e, ok := o.Box.(entry)
	if !ok {
		return o, nil
	}
	if o.ReadOnly || o.NoTools {
		e.use = sandbox.Reads
	}
	opened, err := e.run.openSandbox(ctx)
	o.Box = opened.Box(e.use)
	if opened != nil && opened.Mode == sandbox.DockerSandbox { // its network is another, and no key gets in there
		o.Gateway = nil
	}
	return o, err
}

// AgentStarts finds out that an agent could not begin in its sandbox, before anything is spent.
func (run *Run) AgentStarts(ctx context.Context, of agent.Options, reviewer *agent.Options) error {
	s, err := run.openSandbox(ctx)
	if err != nil {
		return err
	}
	all := []agent.Options{of}
	defer func() { run.logGateway(all...) }()
	if reviewer != nil && reviewer.Command != of.Command {
		all = append(all, *reviewer)
	}
	for _, o := range all {
		a, err := agent.New(o)
		if err != nil {
			return err
		}
		if err := a.Starts(ctx, s); err != nil {
			return invalid.Mark(err)
		}
	}
	return nil
}

// TrySandbox opens the sandbox that a run would have, and closes it: which one it is, and what holds in it.
func (run *Run) TrySandbox(ctx context.Context) (mode, says string, err error) {
	var said []string
	spec := *run.Spec
	run = &Run{Spec: &spec}
	run.Log = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	defer run.closeSandbox()
	s, err := run.openSandbox(ctx)
	if err != nil {
		return "", "", err
	}
	return s.Mode, strings.Join(said, "; "), nil
}

func turn(ctx context.Context, o agent.Options, asked string) (loop.Turn, error) {
	if e, ok := o.Box.(entry); ok {
		e.run.judging.admit(false)
	}
	o, err := boxed(ctx, o)
	if err != nil {
		return loop.Turn{}, err
	}
	a, err := agent.New(o)
	if err != nil {
		return loop.Turn{}, err
	}
	t, err := a.Turn(ctx, asked)
	if o.LogFile != "" {
		t.LogFile = filepath.Base(o.LogFile)
	}
	return t, err
}
