package lease

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/proc"
)

const token = "ghs_s3cretT0ken"

// sandbox is a directory with a bare remote that holds one commit on main.
type sandbox struct {
	t                 testing.TB
	dir, remote, home string
	ctx               context.Context
}

func newSandbox(t testing.TB) *sandbox {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "with a space")
	b := &sandbox{t: t, dir: dir, remote: filepath.Join(dir, "remote.git"), home: filepath.Join(dir, "home"),
		ctx: context.Background()}
	if err := os.MkdirAll(b.home, 0o755); err != nil {
		t.Fatal(err)
	}
	template.once.Do(func() {
		template.dir = must[string](t)(os.MkdirTemp("", "ralph-pattern-"))
		b.sh(template.dir, `git init -q --bare --template= -b main remote.git && git init -q --template= -b main seed &&
			cd seed && echo one >a.txt && git add -A && git commit -qm first && git push -q ../remote.git main`)
	})
	if err := os.CopyFS(dir, os.DirFS(template.dir)); err != nil {
		t.Fatal(err)
	}
	return b
}

// template is what every sandbox is a copy of.
var template struct {
	once sync.Once
	dir  string
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(template.dir) // in the temporary directory
	os.Exit(code)
}

// environment is one without the developer's git configuration.
func (b *sandbox) environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home}
}

// sh runs a script and returns what it printed.
func (b *sandbox) sh(dir, script string) string {
	b.t.Helper()
	var out, errs bytes.Buffer
	env := append(b.environment(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Alice", "GIT_AUTHOR_EMAIL=alice@example.com",
		"GIT_COMMITTER_NAME=Alice", "GIT_COMMITTER_EMAIL=alice@example.com", "LC_ALL=C")
	spec := proc.Spec{Argv: []string{"sh", "-euc", script}, Dir: dir, Env: env, Stdout: &out, Stderr: &errs}
	if res, err := proc.Run(context.Background(), spec); err != nil || res.Exit != 0 {
		b.t.Fatalf("%s\n%v %+v\n%s%s", script, err, res, out.String(), errs.String())
	}
	return out.String()
}

func (b *sandbox) options() git.Options {
	return git.Options{Root: filepath.Join(b.dir, "root"), Remote: git.Remote{URL: b.remote}, Task: "issue-42",
		Env:      b.environment(),
		Identity: git.Identity{Name: "ralph", Email: "ralph@example.com"}, Log: b.t.Logf}
}

// checkout opens the bot's tree and starts it.
func (b *sandbox) checkout() *git.Tree {
	b.t.Helper()
	tree := must[*git.Tree](b.t)(git.Checkout(b.ctx, b.options(), "", "ralph/issue-42"))
	if err := tree.Start(b.ctx); err != nil {
		b.t.Fatal(err)
	}
	return tree
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
