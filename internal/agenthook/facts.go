package agenthook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/proc"
)

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

// gitTop is the directory above that has a .git; "" when there is none. Asking git would cost a process.
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
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, hook.MostInput+1))
	if err == nil && len(text) > hook.MostInput {
		return nil, fmt.Errorf("%s holds more than %d MiB", name, hook.MostInput>>20)
	}
	return text, err
}

// plannedFacts reads the plan that a run works on.
func plannedFacts(dir string, a hook.Active) hook.Facts {
	facts := hook.Facts{Active: a}
	names := []string{a.PlanFile}
	if a.PlanFile == "" {
		names = []string{"tasks.json", "prd.json"}
	}
	for i, name := range names {
		shown := path.Join(filepath.ToSlash(a.RalphDir), name)
		file := filepath.FromSlash(shown)
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		text, err := plainFile(file)
		if i > 0 && err != nil {
			break // the first name is the one to tell of
		}
		facts.PlanName, facts.Plan, facts.PlanErr, facts.Foreign = shown, text, nil, name == "prd.json"
		switch {
		case err == nil:
			return facts
		case errors.Is(err, fs.ErrNotExist):
			facts.PlanErr = fmt.Errorf("%s does not exist; restore it (git show HEAD:%s)", shown, shown)
		default:
			facts.PlanErr = fmt.Errorf("%s cannot be read: %w", shown, err)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return facts
		}
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
		Argv: []string{
			"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "status", "--porcelain", "-z",
		},
		Dir: dir, Env: append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0"), Stdout: &out,
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
