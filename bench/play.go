package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A bed is what all runs share.
type bed struct {
	dir     string    // temporary
	self    string    // this program, which is the agent as well
	streams [2]string // what the agent prints: when it works, and when it cannot
	known   sync.Map  // task and tree → whether it is right
}

// A result is what happened to one run.
type result struct {
	Harness, Task, Lang, Behavior string
	Done                          bool // the harness says so
	Asks                          bool // it waits for a person's word
	Right                         bool // and what would be merged is right
	Turns                         int  // of the agent
	Seconds                       float64
	Said                          string // the end of what the harness printed
}

// A script is what the agent needs to know, as JSON in a file; it is called with the file's name.
type script struct {
	Turns   []turn // the last one is repeated
	Streams [2]string
	Count   string // a file with one byte for each turn taken
	Move    []string
}

// issue is what the harness is asked for. Where the repository has the tests that fail, it names them.
func issue(t task, v behavior) string {
	shows := ""
	if v.shown && !v.unnamed {
		shows = "Shown by: " + t.shows + ".\n\n"
	}
	return "# " + t.title + "\n" + t.text + "\n\n" + shows + "When everything is done, print <response>DONE</response> on its own line.\n"
}

// play lets a harness work on one task with one scripted agent. A harness is a loop around agents, or rather its adapter:
// a program that runs in a clone, with BENCH_ISSUE, a file, BENCH_CHECK, a command, and BENCH_TURNS in its environment. It
// exits with 0 when it says that the work is done, and with 3 when it waits for a person's word. A last line "branch NAME"
// names what would be merged; without it, that is what is checked out.
func (b *bed) play(adapter string, t task, v behavior) (result, error) {
	r := result{Harness: filepath.Base(adapter), Task: t.name, Lang: t.lang, Behavior: v.name}
	dir, err := os.MkdirTemp(b.dir, "run")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	clone := filepath.Join(dir, "clone")
	s := script{Streams: b.streams, Count: filepath.Join(dir, "turns")}
	for n := range max(3, v.right) {
		s.Turns = append(s.Turns, *v.turn(t, n+1))
	}
	if s.Move, err = repository(dir, t, v); err != nil {
		return r, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return r, err
	}
	files := tree{"script.json": string(text), "issue.md": issue(t, v), ".gitconfig": "[user]\n\tname = Alice\n\temail = alice@example.com\n",
		"bin/claude": fmt.Sprintf("#!/bin/sh\nexec %q -agent %q -- \"$@\"\n", b.self, filepath.Join(dir, "script.json"))}
	if err := errors.Join(write(dir, files), os.Chmod(filepath.Join(dir, "bin", "claude"), 0o755)); err != nil {
		return r, err
	}

	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	adapter, err = filepath.Abs(adapter)
	if err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, adapter)
	cmd.Dir, cmd.WaitDelay, cmd.SysProcAttr = clone, time.Second, &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.Env = append(environment(dir), "BENCH_ISSUE="+filepath.Join(dir, "issue.md"), "BENCH_CHECK="+check[t.lang],
		fmt.Sprintf("BENCH_TURNS=%d", *turns))
	started := time.Now()
	said, err := cmd.Output()
	r.Seconds = time.Since(started).Seconds()
	var exit *exec.ExitError
	if isExit := errors.As(err, &exit); err != nil && ctx.Err() == nil && (!isExit || exit.ExitCode() > 125) {
		return r, fmt.Errorf("%s, or a program that it needs, could not be started: %w", adapter, err)
	}
	if exit != nil {
		said = append(said, exit.Stderr...)
	}
	r.Said = string(said[max(0, len(said)-1500):])
	r.Done, r.Asks = err == nil, exit != nil && exit.ExitCode() == 3
	taken, _ := os.ReadFile(s.Count)
	r.Turns = len(taken)
	r.Right, err = b.right(t, clone, branch(string(said)))
	return r, err
}

// branch is the last line of "branch NAME" in what a harness printed; without one, what is checked out.
func branch(said string) string {
	name := "HEAD"
	for line := range strings.Lines(said) {
		if after, ok := strings.CutPrefix(strings.TrimSpace(line), "branch "); ok {
			name = after
		}
	}
	return name
}

// repository makes the base commit, on a remote and in a clone of it, and the arguments with which git moves the base.
func repository(dir string, t task, v behavior) (move []string, err error) {
	seed, remote := filepath.Join(dir, "seed"), filepath.Join(dir, "remote.git")
	base := merged(t.base, tree{".gitignore": t.base[".gitignore"] + "\nlocal_*\n__pycache__/\n"})
	if v.shown {
		maps.Copy(base, t.red)
	}
	if v.next != nil {
		maps.Copy(base, beside(t, "label"))
	}
	err = errors.Join(write(seed, base), gits(seed, "init -q -b main", "add -A -f", "commit -qm Begin", "clone -q --bare . ../remote.git",
		"clone -q ../remote.git ../clone"))
	if err != nil || v.next == nil {
		return nil, err
	}
	return []string{"--git-dir=" + remote, "update-ref", "refs/heads/main", "refs/bench/next"},
		errors.Join(write(seed, v.next(t)), gits(seed, "commit -qam Rename", "push -q ../remote.git HEAD:refs/bench/next"))
}

// right reports whether the branch, merged with the newest base, passes all visible and hidden tests, as they were written.
func (b *bed) right(t task, clone, branch string) (bool, error) {
	if _, err := git(clone, "fetch", "-q", "../remote.git", "main"); err != nil {
		return false, err
	}
	treeID, err := git(clone, "merge-tree", "--write-tree", "FETCH_HEAD", branch)
	if err != nil {
		return false, nil // a conflict, or nothing that could be merged
	}
	key := t.name + " " + treeID
	if known, ok := b.known.Load(key); ok {
		return known.(bool), nil
	}
	dir, err := os.MkdirTemp(b.dir, "truth")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	index := "GIT_INDEX_FILE=" + filepath.Join(dir, "index")
	for _, args := range [][]string{{"read-tree", treeID}, {"checkout-index", "-a", "--prefix=" + dir + "/tree/"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = clone, append(os.Environ(), index)
		if out, err := cmd.CombinedOutput(); err != nil {
			return false, fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	right, err := passes(filepath.Join(dir, "tree"), t, t.tests())
	b.known.Store(key, right)
	return right, err
}

// passes runs the tests of a directory after files have been laid over it.
func passes(dir string, t task, over tree) (bool, error) {
	if err := write(dir, over); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", check[t.lang])
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, environment(dir), time.Second
	return cmd.Run() == nil, nil
}

// places are where Go keeps what it has built and downloaded, and python3 itself in place of a version manager's shim.
var places = sync.OnceValue(func() []string {
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	lines := strings.Split(string(out), "\n")
	if err != nil || len(lines) < 3 {
		panic(fmt.Sprintf("go env: %v: %s", err, out))
	}
	python, _ := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return append(lines[:3], filepath.Dir(strings.TrimSpace(string(python))))
})

// environment is that of a run in dir: its own home, its own programs first, and no network for Go.
func environment(dir string) []string {
	p := places()
	programs := strings.Join([]string{filepath.Join(dir, "bin"), p[3], os.Getenv("PATH")}, string(os.PathListSeparator))
	return []string{
		"HOME=" + dir, "PATH=" + programs, "TMPDIR=" + os.TempDir(), "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "GOCACHE=" + p[0], "GOMODCACHE=" + p[1],
		"GOPATH=" + p[2], "GOFLAGS=-mod=mod -trimpath -ldflags=-s", "GOPROXY=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "PYTHONDONTWRITEBYTECODE=1", "ANTHROPIC_API_KEY=none",
	}
}

func gits(dir string, steps ...string) error {
	for _, step := range steps {
		if _, err := git(dir, strings.Fields(step)...); err != nil {
			return err
		}
	}
	return nil
}

func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=Alice", "-c", "user.email=alice@example.com"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TEMPLATE_DIR=")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w", strings.Join(args, " "), dir, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// act is the agent: it takes its turn in the current directory, and prints what the real one would print.
func act(file string, args []string) error {
	switch {
	case slices.Contains(args, "--version"):
		_, err := fmt.Println("2.1.329 (Claude Code)")
		return err
	case slices.Contains(args, "auth"):
		return nil
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // the prompt
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var s script
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	count, err := os.OpenFile(s.Count, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := count.Stat()
	if err != nil {
		return err
	}
	if _, err := count.WriteString("."); err != nil {
		return err
	}
	does := s.Turns[min(int(info.Size()), len(s.Turns)-1)]
	for _, name := range does.Remove {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	if err := write(".", does.Write); err != nil {
		return err
	}
	if does.Moves {
		if _, err := git(".", s.Move...); err != nil {
			return err
		}
	}
	if does.Fails {
		fmt.Print(s.Streams[1])
		os.Exit(1)
	}
	said := s.Streams[0]
	if !does.Claims {
		said = strings.ReplaceAll(said, `\n<response>DONE</response>`, "")
	}
	fmt.Print(said)
	return nil
}
