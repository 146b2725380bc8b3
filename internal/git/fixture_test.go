package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	processes "github.com/ralph-loop/ralph/internal/fake/count"
	"github.com/ralph-loop/ralph/internal/proc"
)

// nobody is the agent's user in tests that run as root.
var nobody = &proc.User{Name: "nobody", Home: "/", UID: 65534, GID: 65534}

// testEnv is an environment without the developer's git configuration.
func testEnv(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig"),
		"GIT_AUTHOR_NAME=Alice", "GIT_AUTHOR_EMAIL=alice@example.com", "GIT_COMMITTER_NAME=Alice",
		"GIT_COMMITTER_EMAIL=alice@example.com",
		"GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "TMPDIR=" + filepath.Join(home, "tmp")}
}

// sandbox is a directory with a bare remote that holds one commit on main.
type sandbox struct {
	t            testing.TB
	dir, remote  string
	as           *proc.User // who sh runs as
	base         string
	ctx          context.Context
	home, canary string
}

func newSandbox(t testing.TB) *sandbox {
	t.Helper()
	dir, err := os.MkdirTemp("", "ralph git ") // with a space, to find what breaks on one
	noError(t, err)
	t.Cleanup(func() {
		_ = chmod(dir, 0o755, 0)
		os.RemoveAll(dir)
	})
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	os.Chmod(dir, 0o755)
	b := &sandbox{t: t, dir: dir, remote: filepath.Join(dir, "remote.git"), ctx: context.Background(),
		home: filepath.Join(dir, "home"), canary: filepath.Join(dir, "canary", "sang")}
	os.Mkdir(b.home, 0o755)
	os.Mkdir(filepath.Join(b.home, "tmp"), 0o777) // the machine's need not be anybody's
	os.Chmod(filepath.Join(b.home, "tmp"), 0o777)
	os.Mkdir(filepath.Dir(b.canary), 0o777)
	os.Chmod(filepath.Dir(b.canary), 0o777)
	template.once.Do(func() {
		if template.dir, err = os.MkdirTemp("", "ralph-pattern-"); err != nil {
			t.Fatal(err)
		}
		template.base = strings.TrimSpace(b.sh(template.dir,
			`git init -q --bare --template= -b main remote.git && git init -q --template= -b main seed && cd seed &&
		printf 'one\ntwo\nthree\n' >a.txt && mkdir sub && echo b >sub/b.txt && echo '*.log' >.gitignore &&
		mkdir .ralph && echo '{}' >.ralph/settings.json && ln -s a.txt link &&
		git add -A && git commit -qm first && git push -q ../remote.git main && git -C ../remote.git config core.fsync none && git rev-parse HEAD`))
	})
	b.base = template.base
	noError(t, os.CopyFS(dir, os.DirFS(template.dir)))
	return b
}

// every reports whether all rows of all tables are tried, as make every does. make test tries a part of each.
var every = os.Getenv("RALPH_TEST_EVERY_FAULT") != ""

// sampled returns the rows of a table that are called so, one of each kind; for make every, all of them.
func sampled[T any](t testing.TB, all map[string]T, names ...string) map[string]T {
	t.Helper()
	some := map[string]T{}
	for _, name := range names {
		row, ok := all[name]
		if !ok {
			t.Fatalf("the table has no row %q", name)
		}
		some[name] = row
	}
	if every {
		return all
	}
	return some
}

// template is what every sandbox is a copy of.
var template struct {
	once      sync.Once
	dir, base string
}

func TestMain(m *testing.M) {
	if _, err := exec.LookPath("git"); err != nil {
		fmt.Println("git is not installed: nothing of this package can be tested")
		os.Exit(1)
	}
	code := processes.Run(m, 4400)
	os.RemoveAll(template.dir)
	os.Exit(code)
}

// sh runs a script and returns what it printed.
func (b *sandbox) sh(dir, script string) string {
	b.t.Helper()
	var out, errs bytes.Buffer
	spec := proc.Spec{Argv: []string{"sh", "-euc", script}, Dir: dir, Env: testEnv(b.home), Stdout: &out, Stderr: &errs,
		As: b.as}
	if res, err := proc.Run(context.Background(), spec); err != nil || res.Exit != 0 {
		b.t.Fatalf("%s\n%v %+v\n%s%s", script, err, res, out.String(), errs.String())
	}
	return out.String()
}

func (b *sandbox) options() Options {
	return Options{Root: filepath.Join(b.dir, "root"), Remote: Remote{URL: b.remote}, Task: "issue-42",
		Env:      testEnv(b.home)[:2],
		Identity: Identity{"ralph", "ralph@example.com"}, Log: b.t.Logf}
}

// checkout opens the bot's tree and starts it.
func (b *sandbox) checkout(change ...func(*Options)) *Tree {
	b.t.Helper()
	o := b.options()
	for _, c := range change {
		c(&o)
	}
	tree, err := Checkout(b.ctx, o, "", "ralph/issue-42")
	noError(b.t, err)
	noError(b.t, tree.Start(b.ctx))
	return tree
}

// asNobody makes the agent another user where that is possible.
func (b *sandbox) asNobody(o *Options) {
	if os.Getuid() == 0 {
		o.As, b.as = nobody, nobody
	}
}

// clone makes the user's clone with nothing but a global identity.
func (b *sandbox) clone() string {
	b.t.Helper()
	b.sh(b.dir, `git clone -q remote.git clone && echo '*.tmp' >"$HOME/ignored" &&
		printf '[user]\nname = Bob\nemail = bob@example.com\n[core]\nexcludesFile = ~/ignored\n' >"$HOME/.gitconfig"`)
	return filepath.Join(b.dir, "clone")
}

func (b *sandbox) cliOptions() Options {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home}
	return Options{Task: "issue-42", Env: env, Root: filepath.Join(b.dir, "own"),
		Identity: Identity{"ralph", "ralph@example.com"}, Log: b.t.Logf}
}

// open makes the checkout of a run of the user's clone, or takes it up, and starts it.
func (b *sandbox) open(change ...func(*Options)) *Tree {
	b.t.Helper()
	o := b.cliOptions()
	for _, c := range change {
		c(&o)
	}
	tree, err := CheckoutOf(b.ctx, filepath.Join(b.dir, "clone"), o, "", "ralph/issue-42")
	noError(b.t, err)
	noError(b.t, tree.Start(b.ctx))
	return tree
}

// work opens a checkout of either shape: of the bot, or of a user's clone.
func (b *sandbox) work(shape string) *Tree {
	b.t.Helper()
	if shape == "bot" {
		return b.checkout(b.asNobody)
	}
	b.clone()
	return b.open()
}

// files lists a commit's files in the tree's repository, as "path" or "path mode" for what is not a regular file.
func (b *sandbox) files(tree *Tree, commit string) string {
	b.t.Helper()
	out, err := tree.git.out(b.ctx, "ls-tree", "-r", "--format=%(objectmode) %(path)", commit)
	noError(b.t, err)
	return strings.ReplaceAll(strings.TrimSpace(out), "100644 ", "")
}

// quiet fails the test when something has run that must not run.
func (b *sandbox) quiet() {
	b.t.Helper()
	if text, err := os.ReadFile(b.canary); err == nil {
		b.t.Fatalf("the canary sang: %s", text)
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		noError(t, err)
		return v
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
