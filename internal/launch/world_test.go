//go:build unix

package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/work"
)

const (
	owner = "alice"
	name  = "demo"
	login = "ralph[bot]"
)

// world is a GitHub with one repository whose test fails, and a server that runs jobs for it.
type world struct {
	t     testing.TB
	gh    *fake.GitHub
	dir   string // passable for every user, as the agent may be another one
	issue int
	agent string
	by    *Process
	log   strings.Builder

	mu      sync.Mutex
	made    int
	open    map[string]bool // tokens
	lasts   time.Duration   // of a token
	begun   []bot.StartedRun
	records map[int]loop.Record
	types   []loop.RecordType
	output  strings.Builder
	shown   []work.Shown
	onEach  func(work.Record)
	words   []work.Word
	after   int64 // number of the last of them that the job has
	away    int   // how often what is told is not stored
}

const makefile = "test:\n\t@. ./add.sh; test \"$$(add 2 3)\" = 5 || { echo \"FAIL: add 2 3\"; exit 1; }\n"

// works is an agent that does what a case of its prompt says, and a reviewer that approves.
func works(cases string) string {
	return `p=$(cat)
case "$p" in
*"# Review"*) printf '{"verdict":"approve","tree":"%s","summary":"fine","issues":[]}\n' $(printf '%s' "$p" | sed -n 's/.*to the tree \([0-9a-f]*\):/\1/p' | head -1);;
` + cases + "esac\n"
}

// fixer is an agent that fixes at once, and a reviewer that approves.
var fixer = works(`*) printf 'add() { echo $(($1 + $2)); }\n' > add.sh; echo "fixed. <response>DONE</response>";;
`)

// slow is an agent that writes a little, says so, and works on for long; with more than one turn behind it, it fixes.
func slow(begun string) string {
	return works(`*) if [ -e half.txt ]; then echo x >> ` + begun + `; printf 'add() { echo $(($1 + $2)); }\n' > add.sh; rm -f half.txt; echo "fixed. <response>DONE</response>"; exit 0; fi
   echo half > half.txt; echo x >> ` + begun + `; sleep 300;;
`)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "ralph-launch-test-")
	noError(t, err)
	noError(t, os.Chmod(dir, 0o755)) // said above
	gh, err := fake.New(fake.Options{})
	noError(t, err)
	w := &world{t: t, gh: gh, dir: dir, open: map[string]bool{}, lasts: time.Hour, records: map[int]loop.Record{}}
	t.Cleanup(func() {
		gh.Close()
		for _, p := range gh.Problems() {
			t.Errorf("GitHub: %s", p)
		}
		if t.Failed() {
			w.mu.Lock()
			defer w.mu.Unlock()
			t.Logf("the job's log:\n%s\nthe server's:\n%s", w.output.String(), w.log.String())
		}
		_ = os.RemoveAll(dir)
	})
	gh.AddUser(owner, false)
	gh.AddUser(login, true)
	noError(t, gh.AddRepo(owner, name, "main"))
	gh.SetPermission(owner, name, owner, "admin")
	gh.SetPermission(owner, name, login, "write")
	if _, err := gh.CommitFiles(owner, name, "main", "seed", map[string]string{
		"Makefile": makefile, "add.sh": "add() { echo $(($1 - $2)); }\n",
		".ralph/settings.json": `{"guardrails": [{"command": "make test"}]}`}); err != nil {
		t.Fatal(err)
	}
	w.issue = gh.AddIssue(owner, name, fake.Issue{Title: "Make add add", Body: "It subtracts.", Author: owner})
	w.agent = w.script("agent", fixer)
	self, err := os.Executable()
	noError(t, err)
	w.by = &Process{Program: self, Grace: 30 * time.Second, Clock: time.Now,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "ANTHROPIC_API_KEY=of-the-server-0123456789"},
		Log: func(format string, args ...any) {
			w.mu.Lock()
			defer w.mu.Unlock()
			fmt.Fprintf(&w.log, format+"\n", args...)
		}}
	return w
}

// script makes a program that everybody may run.
func (w *world) script(file, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, file)
	noError(w.t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755)) // said above
	return path
}

// shared makes an empty file that every user may write.
func (w *world) shared(file string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, file)
	noError(w.t, errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o666)))
	return path
}

func (w *world) file(name string) string {
	text, _ := os.ReadFile(filepath.Join(w.dir, name))
	return string(text)
}

// Make implements Tokens.
func (w *world) Make(context.Context) (work.Token, error) {
	w.mu.Lock()
	w.made++
	value := fmt.Sprintf("ghs_made.up%029d", w.made)
	w.open[value] = true
	w.mu.Unlock()
	w.gh.AddToken(value, login, fake.Installation)
	return work.Token{Value: value, Ends: time.Now().Add(w.lasts)}, nil
}

// Revoke implements Tokens.
func (w *world) Revoke(_ context.Context, token string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, token)
	w.gh.RevokeToken(token)
	return nil
}

// Hear implements Listener.
func (w *world) Hear(_ context.Context, _ *Running, told []work.ToServer, after int64) ([]work.Word, error) {
	for _, m := range told {
		w.mu.Lock()
		switch {
		case m.Begun != nil:
			w.begun = append(w.begun, *m.Begun)
			for n := range w.records {
				if n > m.Begun.Records {
					delete(w.records, n)
				}
			}
		case m.Record != nil:
			w.records[m.Record.Number] = m.Record.Record
			w.types = append(w.types, m.Record.Record.Type)
		case m.Shown != nil:
			w.shown = append(w.shown, *m.Shown)
		}
		w.output.WriteString(m.Output)
		each := w.onEach
		w.mu.Unlock()
		if m.Record != nil && each != nil {
			each(*m.Record)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.after = after; w.away > 0 {
		w.away--
		return nil, errors.New("the database is away")
	}
	return w.words[min(int(after), len(w.words)):], nil
}

// say says something to the job.
func (w *world) say(word work.Word) {
	w.mu.Lock()
	defer w.mu.Unlock()
	word.Number = int64(len(w.words)) + 1
	w.words = append(w.words, word)
}

// labeled is the job of a label that alice has put on.
func (w *world) labeled(id string, attempt int) Job {
	if attempt == 1 {
		w.gh.Label(owner, name, w.issue, "ralph", owner)
	}
	return Job{Tokens: w, Hear: w, Order: work.Order{Job: id, Attempt: attempt, Page: "https://ralph.example/jobs/" + id,
		Event: "issues", Payload: json.RawMessage(w.gh.LabeledPayload(owner, name, w.issue, "ralph", owner)),
		Repository: owner + "/" + name,
		GitHub:     work.GitHub{Server: w.gh.URL(), API: w.gh.APIURL(), GraphQL: w.gh.GraphQLURL(), Login: login},
		Inputs:     map[string]string{"agent": w.agent}, Environ: []string{"RALPH_SANDBOX=off"},
		Allow:   config.Allowance{Agents: []string{w.agent}, Sandbox: config.Off},
		Machine: work.Machine{Workspace: filepath.Join(w.dir, "work")}}}
}

// start starts a job.
func (w *world) start(job Job) *Running {
	w.t.Helper()
	r, err := w.by.Start(w.t.Context(), job)
	noError(w.t, err)
	return r
}

// must waits for a job that ends as wanted.
func (w *world) must(r *Running, want loop.Outcome) work.End {
	w.t.Helper()
	end, err := r.Wait()
	if err != nil || end.Outcome != want || end.Problem != "" {
		w.t.Fatalf("the job ended %q (%s), %v, %s; want %q", end.Outcome, end.Reason, err, end.Problem, want)
	}
	return end
}

// await waits until something holds.
func (w *world) await(what string, holds func() bool) {
	w.t.Helper()
	for began := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			w.t.Fatalf("%s: not within two minutes", what)
		}
	}
}

// git asks the remote repository.
func (w *world) git(args ...string) string {
	out, _ := exec.Command("git", append([]string{"--git-dir", w.gh.GitDir(owner, name)}, args...)...).Output()
	return string(out)
}

// noError ends a test that cannot be made up.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
