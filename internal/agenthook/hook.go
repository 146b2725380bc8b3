// Package agenthook answers the hooks of an agent that is running: it reads what package hook judges.
package agenthook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/proc"
)

// Hook answers the hooks of an agent. Whatever goes wrong, the agent continues: what ralph could not do is said on Err,
// and nothing on Out.
type Hook struct {
	Dir     string // the current directory
	Env     map[string]string
	Environ []string // the same, for processes
	Temp    string   // where sessions are remembered; "" is the system's directory for temporary files
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
}

// ContextMonitor tells the agent how full its context is, once at each threshold.
func (h Hook) ContextMonitor() {
	in, ok := h.read()
	if !ok || in.TranscriptPath == "" {
		return
	}
	info, err := os.Stat(h.path(in, in.TranscriptPath))
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	gauge, problems := hook.ReadGauge(h.Env)
	h.say(problems...)
	percent := gauge.Percent(info.Size())
	if first, _ := hook.Monitor(in.Event, percent, nil); first == (hook.Answer{}) {
		return
	}
	var answer hook.Answer
	err = h.remember(hook.AlertsFile(in.SessionID), func(said []byte) []byte {
		var now []int
		answer, now = hook.Monitor(in.Event, percent, hook.ReadSaid(said))
		return hook.Said(now)
	})
	if err != nil { // it would be told of after every tool
		h.say(
			fmt.Sprintf(
				"the context is %.0f%% full, and the agent is not notified, because that cannot be stored: %s", percent,
				err,
			),
		)
		return
	}
	h.answer(answer)
}

// SessionStart forgets what a session was told. After a compaction it is the same session.
func (h Hook) SessionStart() {
	in, ok := h.read()
	if !ok || in.Source == "compact" {
		return
	}
	for _, name := range []string{hook.AlertsFile(in.SessionID), hook.BlocksFile(in.SessionID)} {
		if err := h.forget(name); err != nil {
			h.say(err.Error())
		}
	}
}

// Guard refuses what is dangerous, as far as a command says so. run says that ralph is running, whatever is in the
// directory.
func (h Hook) Guard(run bool) {
	in, err := hook.Read(h.In)
	switch {
	case errors.As(err, &hook.TooLong{}):
		h.answer(hook.Deny(in, "Refused (unreadable): "+err.Error()+". Write it plainer, in smaller steps."))
		return
	case err != nil:
		h.say(err.Error())
		return
	}
	cwd := h.cwd(in)
	world := hook.Environment{Root: gitTop(cwd), Cwd: cwd, Home: h.Env["HOME"], Run: run}
	if dir, active, ok := h.active(cwd); ok {
		world.Root, world.Run, world.RalphDir = dir, true, filepath.ToSlash(active.RalphDir)
	}
	if world.Root == "" {
		world.Root = cwd
	}
	if reason := hook.Guard(in, world); reason != "" {
		h.answer(hook.Deny(in, reason))
	}
}

// Stop says what has to be done before the agent may stop, while a plan is run here.
func (h Hook) Stop(ctx context.Context) {
	in, ok := h.read()
	if !ok {
		return
	}
	dir, active, ok := h.active(h.cwd(in))
	if !ok {
		return
	}
	facts := plannedFacts(dir, active)
	facts.Status = func() ([]byte, error) { return gitStatus(ctx, dir, h.Environ) }
	block, warnings := hook.Stop(facts)
	h.say(warnings...)
	name := hook.BlocksFile(in.SessionID)
	if block == "" {
		_ = h.forget(name) // the next stop is judged again
		return
	}
	blocks := 0
	err := h.remember(name, func(before []byte) []byte {
		blocks = hook.ReadBlocks(before) + 1
		return hook.Blocks(blocks)
	})
	if blocks > hook.MostBlocks || err != nil && in.StopHookActive { // what cannot be counted is blocked once
		message := fmt.Sprintf(
			"the agent may stop although it should not: it was kept from stopping %d times, and the harness judges what it "+
				"leaves. What is wrong: %s",
			min(blocks, hook.MostBlocks), block,
		)
		h.say(message)
		h.answer(hook.Answer{SystemMessage: "ralph: " + message})
		return
	}
	h.answer(hook.Answer{Decision: "block", Reason: block})
}

// read reads standard input; ok is false when it cannot be used, which is said.
func (h Hook) read() (hook.Input, bool) {
	in, err := hook.Read(h.In)
	if err != nil {
		h.say(err.Error())
	}
	return in, err == nil
}

func (h Hook) answer(a hook.Answer) {
	_, _ = h.Out.Write(a.JSON()) // who asked is gone
}

// temps are where sessions are remembered: the first that may be written to. A sandbox may leave a directory of one's
// own alone.
func (h Hook) temps() []string {
	if h.Temp != "" {
		return []string{h.Temp}
	}
	dirs := []string{sessionsDir()}
	if own := proc.Value(h.Environ, "TMPDIR"); filepath.IsAbs(own) && filepath.Clean(own) != dirs[0] {
		dirs = append(dirs, own)
	}
	return dirs
}

// forget removes what is remembered of a session.
func (h Hook) forget(name string) (err error) {
	for _, dir := range h.temps() {
		if e := os.Remove(filepath.Join(dir, name)); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// cwd is where the agent is: as it says, else where we are.
func (h Hook) cwd(in hook.Input) string {
	if in.Cwd == "" {
		return h.Dir
	}
	if filepath.IsAbs(in.Cwd) {
		return filepath.Clean(in.Cwd)
	}
	return filepath.Join(h.Dir, in.Cwd)
}

func (h Hook) path(in hook.Input, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(h.cwd(in), name)
}

// remember changes what is kept of a session.
func (h Hook) remember(name string, change func([]byte) []byte) error {
	var file *os.File
	var err error
	for _, dir := range h.temps() {
		file, err = openSession(filepath.Join(dir, name))
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
			break
		}
	}
	if err != nil {
		return err
	}
	defer file.Close()
	before, err := io.ReadAll(io.LimitReader(file, 4<<10))
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt(change(before), 0)
	return err
}
