//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/count"
	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// maxProcesses is how many processes the tests of make test and the ralph that they run may start, without those of
// fixtures and of agents.
const maxProcesses = 20000

// tests runs what a TestMain is to run.
type tests func() int

func (t tests) Run() int { return t() }

func TestMain(m *testing.M) {
	hearEverything()
	all := tests(func() int {
		code := m.Run()
		if ralph, err := exec.LookPath("ralph"); err == nil {
			if info, err := os.Stat(startedBy(ralph)); err == nil {
				for range info.Size() {
					count.Add()
				}
			}
		}
		return code
	})
	testscript.Main(tests(func() int { return count.Run(all, maxProcesses) }), map[string]func(){"ralph": func() {
		if file := os.Getenv(clockFile); file != "" {
			setClock(file)
		}
		code := program()
		countStarted()
		os.Exit(code)
	}})
}

// startedBy returns the file that has one byte for each process that a ralph of these tests started.
func startedBy(ralph string) string { return filepath.Join(filepath.Dir(ralph), "started") }

// countStarted adds the processes that this process started. One in a sandbox might not be able to.
func countStarted() {
	ralph, err := os.Executable()
	if err != nil {
		return
	}
	file, err := os.OpenFile(startedBy(ralph), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.Write(make([]byte, proc.Started.Load()))
}

// hearEverything lets the commands of tests hear signals that whoever started the tests has had ignored.
func hearEverything() {
	if filepath.Base(os.Args[0]) == "ralph" { // it is one of those commands
		return
	}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// every is whether make every runs the tests: all stories, and all rows of tables that are sampled otherwise.
var every = os.Getenv("RALPH_TEST_EVERY_FAULT") != ""

// rare skips a test of something rare or long, which only make every runs.
func rare(t *testing.T) {
	t.Helper()
	if !every {
		t.Skip("make every runs it")
	}
}

// maxStories is how many stories make test may play.
const maxStories = 70

// scripts returns the files of the stories to play. Those in the directory every take long, and what they hold has tests
// of its own elsewhere: only make every plays them.
func scripts(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join("..", "..", "testdata", "scripts")
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) < 50 || len(files) > maxStories {
		t.Errorf("%d stories, %v; make test plays at most %d, the others are in the directory every", len(files), err, maxStories)
	}
	if every {
		more, err := filepath.Glob(filepath.Join(dir, "every", "*.txtar"))
		if err != nil || len(more) == 0 {
			t.Errorf("no more stories, %v", err)
		}
		files = append(files, more...)
	}
	return files
}

// alone are stories in which a ralph that is killed leaves processes that the next one must find. They are not played
// beside others: a ralph within this process would take them for its own orphans, since this process adopts them all.
var alone = []string{"killed-locks"}

// TestScripts runs the user stories of the command line: real git, real processes, agents that are scripts.
func TestScripts(t *testing.T) {
	files := scripts(t)
	for _, name := range alone {
		file := filepath.Join("..", "..", "testdata", "scripts", name+".txtar")
		i := slices.Index(files, file)
		if i < 0 {
			t.Fatalf("there is no story %s", file)
		}
		files = slices.Delete(files, i, i+1)
		t.Run("alone", func(t *testing.T) { play(t, file) }) // ends before the next one begins
	}
	play(t, files...)
}

// play runs stories beside each other.
func play(t *testing.T, files ...string) {
	host, err := filepath.Abs(filepath.Join("..", "..", "host"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(e *testscript.Env) error {
			e.Values[standInKey{}] = &standIn{}
			e.Setenv("HOME", e.WorkDir)
			// the clone is the home, and checkouts lie outside of the clone
			state := e.WorkDir + "-state"
			e.Setenv("XDG_STATE_HOME", state)
			e.Defer(func() { _ = os.RemoveAll(state) })
			e.Setenv("HOST_ACTION", host)
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("RALPH_TIMESTAMPS", "off")
			e.Setenv("RALPH_SANDBOX", "off") // the scripts of the sandbox switch it on
			e.Setenv("PATH", filepath.Join(e.WorkDir, "bin")+string(os.PathListSeparator)+e.Getenv("PATH"))
			return os.WriteFile(filepath.Join(e.WorkDir, ".gitconfig"),
				[]byte("[user]\n\tname = Alice\n\temail = alice@example.com\n[init]\n\tdefaultBranch = main\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor":  waitFor,
			"killwith": killWith,
			"exits":    exits,
			"gone":     gone,
			"opens":    opens,
			"github":   startHub,
			"onhub":    onHub,
			"payload":  payload,
			"wrote":    wrote,
		},
		Condition:          condition,
		RequireUniqueNames: true,
		UpdateScripts:      os.Getenv("UPDATE_SCRIPTS") != "", // what is printed becomes what the story expects
	})
}

// condition reports whether a condition of a story holds: "every" with make every, "need:NAME" if a program is installed.
func condition(name string) (bool, error) {
	if name == "every" {
		return every, nil
	}
	if holds, known := need.Condition(name); known {
		return holds, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// waitFor waits until a file is there: waitfor FILE.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 6000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s does not come", args[0])
}

// killWith sends a signal to the process whose number a file holds: killwith KILL FILE.
func killWith(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM}
	pid, err := strconv.Atoi(string(bytes.TrimSpace([]byte(ts.ReadFile(args[1])))))
	ts.Check(err)
	ts.Check(syscall.Kill(pid, signals[args[0]]))
}

// gone fails while the process whose number a file holds is alive: gone FILE. A moment is allowed for the system to
// bury it.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(string(bytes.TrimSpace([]byte(ts.ReadFile(args[0])))))
	ts.Check(err)
	for range 100 {
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("process %d of %s is alive", pid, args[0])
}

// exits runs ralph and holds its exit code against a number: exits 2 run --issue x.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	var environ []string
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "PATH", "GIT_CONFIG_NOSYSTEM", "GITHUB_TOKEN", "GITHUB_REPOSITORY",
		"GITHUB_API_URL", "GITHUB_GRAPHQL_URL", "GITHUB_SERVER_URL", "GITHUB_EVENT_NAME", "INPUT_MAX_ITERATIONS",
		"INPUT_PROMPT", "INPUT_PROMPT_FILE",
		"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AMP_API_KEY", "GEMINI_API_KEY", "RALPH_SANDBOX", "RALPH_SANDBOX_IMAGE",
		"RALPH_TIMESTAMPS"} {
		if v := ts.Getenv(name); v != "" {
			environ = append(environ, name+"="+v)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var said bytes.Buffer
	code := run(uninterrupted(ctx), args[1:],
		process{environ: environ, dir: ts.MkAbs("."), out: io.MultiWriter(&said, ts.Stdout())}, io.MultiWriter(&said, ts.Stderr()))
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
	if slices.Contains(args, "run") && code != 2 {
		printed(ts, said.String())
	}
	if code == 0 && slices.Contains(args, "run") {
		below := ""
		if i := slices.Index(args, "--working-directory"); i >= 0 {
			below = args[i+1]
		}
		delivered(ts, ts.MkAbs("."), below, environ)
	}
}

var printedPath = regexp.MustCompile(`(^|[\s"'(\x60:])((?:/|\.ralph/)[\w./+@%-]*[\w])`)

// printed holds that whatever a run has printed a path of exists after its end.
func printed(ts *testscript.TestScript, said string) {
	top := ts.MkAbs(".")
	for dir := top; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			top = dir
			break
		}
	}
	for _, match := range printedPath.FindAllStringSubmatch(said, -1) {
		path := match[2]
		if !filepath.IsAbs(path) {
			path = filepath.Join(top, path)
		} else if !strings.HasPrefix(path, ts.Getenv("WORK")) || !strings.Contains(path, "/.ralph") && !strings.Contains(path, "/ralph/") {
			continue
		}
		if _, err := os.Lstat(path); err != nil {
			ts.Fatalf("%s was printed and does not exist", match[2])
		}
	}
}

// delivered holds every run that has just been done against a fresh clone of its commit: clone, setup and checks pass
// there.
func delivered(ts *testscript.TestScript, dir, below string, environ []string) {
	runs, err := filepath.Glob(filepath.Join(dir, ".ralph", "runs", "*", journal.File))
	ts.Check(err)
	if len(runs) == 0 {
		return
	}
	text, err := os.ReadFile(runs[len(runs)-1])
	ts.Check(err)
	records, _, err := journal.Read(bytes.NewReader(text))
	ts.Check(err)
	if s := loop.Fold(records); s.End != nil && s.End.Outcome == loop.Done && s.Start.Branch != "" {
		ts.Check(fake.Delivered{From: dir, Dir: below, Env: environ, Given: dir, State: s}.Passes())
	}
}
