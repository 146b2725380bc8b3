// Package agenthook answers the hooks of an agent that is running: it reads what package hook judges.
package agenthook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/files"
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
	if first, _ := hook.Monitor(in.Event, percent, 0); first == (hook.Answer{}) {
		return
	}
	var answer hook.Answer
	err = h.remember(hook.AlertsFile(in.SessionID), func(before []byte) []byte {
		var said int
		answer, said = hook.Monitor(in.Event, percent, hook.ReadNumber(before))
		return hook.Number(said)
	})
	if err != nil { // otherwise there would be a message after every tool
		h.say(fmt.Sprintf("the context is %.0f%% full, and the agent is not notified, because that cannot be stored: %s", percent, err))
		return
	}
	h.answer(answer)
}

// SessionStart forgets the messages of a session. After a compaction it is the same session.
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
		blocks = hook.ReadNumber(before) + 1
		return hook.Number(blocks)
	})
	if blocks > hook.MostBlocks || err != nil && in.StopHookActive { // what cannot be counted is blocked once
		message := fmt.Sprintf("the agent may stop although it should not: it was kept from stopping %d times, and the harness "+
			"judges what it leaves. What is wrong: %s", min(blocks, hook.MostBlocks), block)
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
	_, _ = h.Out.Write(a.JSON()) // the agent can have ended
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

// active finds the marker of a run in a directory or one above it, up to the top of the clone.
func (h Hook) active(cwd string) (dir string, a hook.Active, ok bool) {
	top := gitTop(cwd)
	for dir := cwd; ; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, hook.ActiveFile)
		if _, err := os.Lstat(name); err == nil {
			text, err := plainFile(name)
			if err != nil {
				h.say(err.Error())
			}
			a, problems := hook.ReadActive(text)
			if err == nil {
				h.say(problems...)
			}
			return dir, a, true
		}
		if top == "" || dir == top || dir == filepath.Dir(dir) {
			return "", hook.Active{}, false
		}
	}
}

// gitTop is the closest directory, from dir up, that has a .git; "" without one. Asking git would cost a process.
func gitTop(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// plainFile reads a file that is one: no pipe that no one writes, nothing without an end.
func plainFile(name string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return files.ReadIn(root, filepath.Base(name), hook.MostInput)
}

// plannedFacts reads the plan that a run works on: the file that its marker names, otherwise tasks.json.
func plannedFacts(dir string, a hook.Active) hook.Facts {
	name := cmp.Or(a.PlanFile, "tasks.json")
	shown := path.Join(filepath.ToSlash(a.RalphDir), name)
	file := filepath.FromSlash(shown)
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	text, err := plainFile(file)
	facts := hook.Facts{Active: a, PlanName: shown, Plan: text, Foreign: name == "prd.json"}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		facts.PlanErr = fmt.Errorf("%s does not exist; restore it (git show HEAD:%s)", shown, shown)
	case err != nil:
		facts.PlanErr = fmt.Errorf("%s cannot be read: %w", shown, err)
	}
	return facts
}

// statusTime bounds git status; the agent waits for it.
const statusTime = 30 * time.Second

// gitStatus is what git status says, with nothing of the repository's started by it.
func gitStatus(ctx context.Context, dir string, environ []string) ([]byte, error) {
	var env []string
	for _, pair := range environ {
		if !strings.HasPrefix(pair, "GIT_") {
			env = append(env, pair)
		}
	}
	var out, errs bytes.Buffer
	result, err := proc.Run(ctx, proc.Spec{
		Argv: []string{"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "status", "--porcelain", "-z"},
		Dir:  dir, Env: append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0"), Stdout: &out,
		Stderr: &errs, Timeout: statusTime,
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("running git status: %w", err)
	case result.Class != proc.Exited:
		return nil, fmt.Errorf("running git status: %s", result.Class)
	case result.Exit != 0:
		line, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return nil, fmt.Errorf("running git status: %s", line)
	}
	return out.Bytes(), nil
}

func (h Hook) say(sentences ...string) {
	for _, s := range sentences {
		fmt.Fprintln(h.Err, "ralph:", strings.ToValidUTF8(s, "?"))
	}
}
