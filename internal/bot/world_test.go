package bot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/contract"
	"github.com/ralph-loop/ralph/internal/loop"
)

const (
	owner  = "alice"
	name   = "demo"
	token  = "ghs_a.made-up.token0123456789"
	secret = "sk-ant-a-made-up-key-0123456789"
)

// world is a GitHub with one repository whose test fails, and a job that runs ralph on its events.
type world struct {
	t      *testing.T
	gh     *fake.GitHub
	dir    string // passable for every user, as the agent may be another one
	issue  int
	inputs map[string]string
	env    map[string]string
	late   time.Duration // how far the job's clock is ahead
	out    bytes.Buffer
	// witnessed says that what runs writes down that it ran, so that nothing may run but for the job.
	witnessed bool
}

var loadContract = sync.OnceValues(contract.Load)

const makefile = "test:\n\t@. ./add.sh; test \"$$(add 2 3)\" = 5 || { echo \"FAIL: add 2 3\"; exit 1; }\n"

// newWorld makes one. Every request to GitHub and every answer is held against GitHub's own description of its API.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, fake.Options{})
}

// newWorldOn is one on a server of another kind.
func newWorldOn(t *testing.T, o fake.Options) *world {
	t.Helper()
	checker, err := loadContract()
	noError(t, err)
	before := len(checker.Violations())
	dir, err := os.MkdirTemp("", "ralph-app-test-")
	noError(t, err)
	noError(t, os.Chmod(dir, 0o755)) // said above
	o.Wrap = checker.Wrap
	gh, err := fake.New(o)
	noError(t, err)
	w := &world{t: t, gh: gh, dir: dir, inputs: map[string]string{}, env: map[string]string{}}
	t.Cleanup(func() {
		gh.Close()
		for _, p := range append(gh.Problems(), checker.Violations()[before:]...) {
			t.Errorf("GitHub: %s", p)
		}
		if t.Failed() {
			t.Logf("the job's log:\n%s", w.out.String())
		}
		_ = os.RemoveAll(dir)
	})
	gh.AddUser("alice", false)
	gh.AddUser("mallory", false)
	noError(t, gh.AddRepo(owner, name, "main"))
	w.env["GITHUB_SERVER_URL"] = "file://" + filepath.Dir(filepath.Dir(gh.GitDir(owner, name)))
	gh.SetPermission(owner, name, "alice", "admin")
	gh.SetPermission(owner, name, "mallory", "read")
	gh.AddToken(token, "github-actions[bot]", fake.Actions)
	w.commit("Makefile", makefile, "add.sh", "add() { echo $(($1 - $2)); }\n")
	w.issue = gh.AddIssue(owner, name, fake.Issue{Title: "Make add add", Body: "It subtracts.", Author: "mallory"})
	return w
}

// commit puts files on main: names and contents in turn.
func (w *world) commit(pairs ...string) {
	w.t.Helper()
	files := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = pairs[i+1]
	}
	if _, err := w.gh.CommitFiles(owner, name, "main", "seed", files); err != nil {
		w.t.Fatal(err)
	}
}

// script makes a program that everybody may run.
func (w *world) script(file, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, file)
	noError(w.t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755)) // said above
	return path
}

// fixer is an agent that fails once, then fixes, then does what the reviewer asked; and the reviewer that asks.
const fixer = `p=$(cat)
case "$p" in
*"# Review"*)
  tree=$(printf '%s' "$p" | sed -n 's/.*to the tree \([0-9a-f]*\):/\1/p' | head -1)
  case "$p" in *"# adds"*) v=approve i='[]';; *) v=request_changes i='[{"file":"add.sh","line":1,"problem":"say what it does"}]';; esac
  printf '{"verdict":"%s","tree":"%s","summary":"looked","issues":%s}\n' $v $tree "$i";;
*"say what it does"*) printf '# adds\nadd() { echo $(($1 + $2)); }\n' > add.sh; echo "commented. <response>DONE</response>";;
*"FAIL: add"*) printf 'add() { echo $(($1 + $2)); }\n' > add.sh; echo "fixed. <response>DONE</response>";;
*) echo "# tried" >> add.sh; echo "I think it works. <response>DONE</response>";;
esac
`

// hopeless is an agent that claims and never fixes.
const hopeless = `cat > /dev/null; date +%N >> tried.txt; echo "done. <response>DONE</response>"
`

// approver approves whatever it sees, and works as worker says otherwise.
func approver(worker string) string {
	return `p=$(cat)
case "$p" in
*"# Review"*) printf '{"verdict":"approve","tree":"%s","summary":"fine","issues":[]}\n' $(printf '%s' "$p" | sed -n 's/.*to the tree \([0-9a-f]*\):/\1/p' | head -1);;
*) ` + worker + `;;
esac
`
}

// overHTTP lets git reach its remote as it does on GitHub, with credentials. Otherwise the remote is a directory, which
// takes half as many processes.
func (w *world) overHTTP() *world {
	w.env["GITHUB_SERVER_URL"] = w.gh.URL()
	return w
}

// environ is the environment of the job of an event.
func (w *world) environ(event string, payload []byte) map[string]string {
	w.t.Helper()
	file := filepath.Join(w.dir, "event.json")
	noError(w.t, os.WriteFile(file, payload, 0o600))
	environ := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": file,
		"GITHUB_REPOSITORY": owner + "/" + name,
		"GITHUB_SERVER_URL": w.gh.URL(), "GITHUB_API_URL": w.gh.APIURL(), "GITHUB_GRAPHQL_URL": w.gh.GraphQLURL(),
		"GITHUB_OUTPUT": filepath.Join(w.dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(w.dir, "summary"),
		"GITHUB_RUN_ID": "77", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_WORKSPACE": w.dir,
		"RALPH_WORKSPACE":    filepath.Join(w.dir, "work"),
		"INPUT_GITHUB_TOKEN": token, "PATH": os.Getenv("PATH"), "HOME": w.dir,
		"ANTHROPIC_API_KEY": secret, lateBy: w.late.String(),
	}
	for k, v := range w.env {
		environ[k] = v
	}
	for k, v := range w.inputs {
		environ["INPUT_"+strings.ToUpper(k)] = v
	}
	return environ
}

// newAction is ralph with an environment.
func newAction(environ map[string]string, out io.Writer) (*Action, error) {
	env, err := config.ReadEnvironment(environ)
	if err != nil {
		return nil, err
	}
	inputs, err := config.ReadInputs(environ)
	if err != nil {
		return nil, err
	}
	parent := []string{"RALPH_SANDBOX=off"} // which has tests of its own
	for k, v := range environ {
		parent = append(parent, k+"="+v)
	}
	late, _ := time.ParseDuration(environ[lateBy]) // none is no time
	return &Action{
		Env: env, Inputs: inputs, Parent: parent, Clock: func() time.Time { return time.Now().UTC().Add(late) },
		Runner: actions.New(func(k string) string { return environ[k] }, out),
		timing: timing{last: time.Minute}, // nobody kills the jobs of tests, and their machines can be slow
	}, nil
}

// ready is the job of one event that has not begun.
func (w *world) ready(event string, payload []byte) *Action {
	w.t.Helper()
	a, err := newAction(w.environ(event, payload), &w.out)
	noError(w.t, err)
	return a
}

// action runs the job of one event.
func (w *world) action(ctx context.Context, event string, payload []byte) (loop.Result, error) {
	w.t.Helper()
	a, err := newAction(w.environ(event, payload), &w.out)
	if err != nil {
		return loop.Result{Outcome: loop.Invalid}, err
	}
	result, err := a.Run(ctx)
	if open, _ := w.gh.AppTokens(); open > 0 {
		w.t.Errorf("%d tokens of the App outlive the job, which ended as %q", open, result.Outcome)
	}
	return result, err
}

// label puts the label on as somebody, and runs the job of it.
func (w *world) label(who string) (loop.Result, error) {
	w.t.Helper()
	w.gh.Label(owner, name, w.issue, "ralph", who)
	return w.action(context.Background(), "issues", w.gh.LabeledPayload(owner, name, w.issue, "ralph", who))
}

// comment writes a comment as somebody, and runs the job of it.
func (w *world) comment(who, body string) (loop.Result, error) {
	w.t.Helper()
	return w.commentOn(w.issue, who, body)
}

// commentOn does so on an issue or a pull request.
func (w *world) commentOn(number int, who, body string) (loop.Result, error) {
	w.t.Helper()
	id := w.gh.AddComment(owner, name, number, fake.Comment{Author: who, Body: body})
	return w.action(context.Background(), "issue_comment", w.gh.CommentPayload(owner, name, id))
}

// must stops the test when a run did not end as wanted.
func (w *world) must(want loop.Outcome) func(loop.Result, error) loop.Result {
	return func(got loop.Result, err error) loop.Result {
		w.t.Helper()
		if got.Outcome != want || (err != nil && want != loop.Invalid) {
			w.t.Fatalf("outcome %q (%s), error %v; want %q", got.Outcome, got.Reason, err, want)
		}
		if got.Outcome == loop.Done && !w.witnessed && w.inputs["dry_run"] != "true" {
			d := fake.Delivered{Dir: w.inputs["working_directory"], From: w.gh.GitDir(owner, name),
				Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}, Setup: w.inputs["setup"], State: got.State}
			if err := d.Passes(); err != nil {
				w.t.Errorf("the run is done: %v", err)
			}
		}
		return got
	}
}

// bodies are what the bot wrote on an issue or a pull request, oldest first.
func (w *world) bodies(number int) []string {
	var out []string
	for _, c := range w.gh.Comments(owner, name, number) {
		if c.Author == "github-actions[bot]" {
			out = append(out, c.Body)
		}
	}
	return out
}

func (w *world) labels() string {
	return strings.Join(w.gh.Issue(owner, name, w.issue).Labels, ",")
}

// shared makes an empty file that every user may write.
func (w *world) shared(file string) string {
	w.t.Helper()
	w.witnessed = true
	path := filepath.Join(w.dir, file)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	noError(w.t, err)
	noError(w.t, errors.Join(f.Chmod(0o666), f.Close()))
	return path
}

// write makes a file that everybody may read.
func (w *world) write(file, text string) {
	w.t.Helper()
	noError(w.t, os.WriteFile(filepath.Join(w.dir, file), []byte(text), 0o644)) // said above
}

// file is a file's content in the world's directory; empty when it is not there.
func (w *world) file(name string) string {
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(text)
}

// git asks the remote repository.
func (w *world) git(args ...string) string {
	w.t.Helper()
	// the test's own
	out, _ := exec.Command("git", append([]string{"--git-dir", w.gh.GitDir(owner, name)}, args...)...).Output()
	return string(out)
}

// show is a file on a branch of the remote; empty when it is not there.
func (w *world) show(branch, file string) string { return w.git("show", branch+":"+file) }

func (w *world) branches() []string {
	return strings.Fields(w.git("branch", "--format=%(refname:short)"))
}

// noError ends a test that cannot be made up.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
