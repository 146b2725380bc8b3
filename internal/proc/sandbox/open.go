package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// Open chooses a mode, and finds out whether it works by running something in it. Its Log gets one line about the
// choice. The error is an *UnavailableError if what the options require cannot be had.
func Open(ctx context.Context, o Options) (*Sandbox, error) {
	if o.Mode == Off {
		return &Sandbox{Mode: Off, Line: "sandbox: off: agents and checks can read and write what their user can, and " +
			"speak to every host", o: o}, nil
	}
	if err := o.ready(); err != nil {
		return nil, err
	}
	var not []string // why the better ones are not taken
	advice := ""
	for _, k := range kinds {
		if o.Mode != k.mode && (o.Mode != Auto || !k.auto) && (o.Mode != Require || !k.holds) {
			continue
		}
		s, err := openInstalled(ctx, o, k)
		var missing *UnavailableError
		switch {
		case err == nil:
			s.say(not)
			if err := s.refuseCredentials(); err != nil {
				s.Close()
				return nil, err
			}
			return s, nil
		case !errors.As(err, &missing):
			return nil, fmt.Errorf("making the sandbox %s: %w", k.mode, err)
		}
		not, advice = append(not, fmt.Sprintf("%s: %s", k.mode, missing.Why)), k.remedy
	}
	switch {
	case o.Mode == Auto && o.Job != nil:
		return nil, &UnavailableError{"no sandbox works in this job that keeps the agent from ralph itself (" +
			strings.Join(not, "; ") + "); " + remedy + ". If nothing on this machine has to be kept from the agent, set " +
			"sandbox to off"}
	case o.Mode == Auto:
		return o.without(not)
	case o.Mode == Require:
		return nil,
			&UnavailableError{"the setting sandbox is require, and no sandbox in which everything holds works here (" +
				strings.Join(not, "; ") + "); " + remedy}
	}
	return nil, &UnavailableError{fmt.Sprintf("the setting sandbox is %s, which does not work here (%s); %s, or take "+
		"another sandbox", o.Mode, strings.Join(not, "; "), advice)}
}

// without is what is taken where nothing works, at a person's own machine: nothing, if the person agrees.
func (o Options) without(not []string) (*Sandbox, error) {
	if o.None != nil {
		if err := o.None(strings.Join(not, "; ")); err != nil {
			return nil, &UnavailableError{err.Error()}
		}
	}
	s := &Sandbox{Mode: Off, o: o, Line: "sandbox: off, because none works here: agents and checks can read and write " +
		"what their user can, and speak to every host"}
	s.say(not)
	return s, nil
}

const remedy = "install bubblewrap, on runners of GitHub: sudo apt-get install bubblewrap && sudo sysctl -w " +
	"kernel.apparmor_restrict_unprivileged_userns=0"

// kind is one of the modes that there are.
type kind struct {
	mode   string
	open   func(*Sandbox, context.Context) error
	auto   bool // Auto takes it
	holds  bool // Require takes it: everything holds there
	remedy string
}

// kinds are those modes, the best first.
var kinds = []kind{
	{Bwrap, (*Sandbox).openBwrap, true, true, remedy},
	{Landlock, (*Sandbox).openLandlock, true, false, "take a kernel from 6.2 on that has it switched on (CONFIG_LSM, lsm=)"},
	{Container, (*Sandbox).openContainer, false, true,
		"see that docker info or podman info works, and name an image with RALPH_SANDBOX_IMAGE"},
	{DockerSandbox, (*Sandbox).openDockerSandbox, true, true,
		"install Docker Desktop from 4.58 on and see that docker sandbox ls works"},
}

// openInstalled makes a sandbox of one mode, and installs what it lacks where that is allowed.
func openInstalled(ctx context.Context, o Options, k kind) (*Sandbox, error) {
	if o.Job != nil && o.Mode == Auto && k.mode == Landlock && o.As == nil {
		return nil, &UnavailableError{"agents would be ralph's own user, who can reach what ralph has; in the container " +
			"action they are another one"}
	}
	s, err := openMode(ctx, o, k)
	var missing *UnavailableError
	if k.mode != Bwrap || o.Job == nil || !o.Job.Install || !errors.As(err, &missing) {
		return s, err
	}
	o.Log("sandbox: %s; installing it, unless the input install_sandbox is false", missing.Why)
	if failed := o.install(ctx); failed != nil {
		return nil, &UnavailableError{missing.Why + ", and it could not be installed: " + failed.Error()}
	}
	return openMode(ctx, o, k)
}

// openMode makes a sandbox of one mode, and runs something in it.
func openMode(ctx context.Context, o Options, k kind) (*Sandbox, error) {
	s := &Sandbox{Mode: k.mode, o: o, gates: map[Use]*egress{}}
	if err := k.open(s, ctx); err != nil {
		s.Close()
		return s, err
	}
	return s, nil
}

// Starts finds out whether a program can begin in a box: with these arguments it has to end well there. The error is a
// sentence for the user.
func (s *Sandbox) Starts(ctx context.Context, u Use, program string, env []string, args ...string) error {
	if s == nil || s.maker == nil || s.Mode == DockerSandbox { // whose machine was made with its agent
		return nil
	}
	why, err := s.whyNot(ctx, proc.Spec{Argv: append([]string{program}, args...), Env: env, Box: s.Box(u),
		Timeout: time.Minute}, 0)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case why == "":
		return nil
	}
	return &UnavailableError{fmt.Sprintf("%s cannot begin in the sandbox %s: %s; see that all it needs is on PATH or "+
		"outside of your home, or name what it writes in the setting sandboxWritable", program, s.Mode, why)}
}

// say tells what was chosen, what holds and what does not, and why it is not a better one.
func (s *Sandbox) say(not []string) {
	if s.ownHomes() && !s.layered && len(s.ownCaches()) > 0 {
		s.Line += "; your caches cannot be mounted, so the first run from a base commit builds and downloads everything again"
	}
	if len(not) > 0 {
		s.Line += " (not taken: " + strings.Join(not, "; ") + ")"
	}
	if s.o.Log != nil {
		s.o.Log("%s", s.Line)
		s.sayCredentials()
	}
}

// Covers is the directory of other people that a text names a path in, and that no box shows; "" when it names none.
func (s *Sandbox) Covers(text string) string {
	if s == nil || s.maker == nil {
		return ""
	}
	for _, dir := range s.view.others {
		before, _, found := strings.Cut(text, dir+"/")
		if found && !over(dir, s.o.Dir) && (before == "" || strings.Contains(" \t\n\"'=:([<", before[len(before)-1:])) {
			return dir
		}
	}
	return ""
}

// ObjectsSeen are the directories of Options.Objects as checks see them; nil: where they are. Empty and not nil: none
// of them is there.
func (s *Sandbox) ObjectsSeen() []string {
	if s != nil && s.Mode == DockerSandbox {
		return []string{}
	}
	if !s.Mapped() {
		return nil
	}
	seen := []string{}
	for i := range s.o.Objects {
		seen = append(seen, objectsAt(i))
	}
	return seen
}
