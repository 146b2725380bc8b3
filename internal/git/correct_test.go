package git

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

const planFile = "ralph/tasks.json"

// planned starts a run of either shape whose first commit holds a plan.
func (b *sandbox) planned(shape string) (tree *Tree, first string) {
	b.t.Helper()
	tree = b.work(shape)
	b.sh(tree.Dir(),
		`mkdir ralph; echo trusted >ralph/tasks.json; echo prd >ralph/prd.md; chmod +x ralph/prd.md; ln -s prd.md ralph/also`)
	return tree, must[loop.Commit](b.t)(tree.Commit(b.ctx, b.base, "plan\n")).SHA
}

// agree fails the test unless index, working tree and HEAD are one, and HEAD is on the run's branch.
func (b *sandbox) agree(tree *Tree) {
	b.t.Helper()
	if got := b.sh(tree.Dir(),
		`git symbolic-ref HEAD; git rev-parse HEAD; git diff-index --cached --name-status HEAD; git update-index -q --refresh; git diff-files --name-status`); got != "refs/heads/ralph/issue-42\n"+tree.Head()+"\n" {
		b.t.Errorf("index, tree and HEAD do not agree:\n%s", got)
	}
	if got := must[string](b.t)(tree.git.out(b.ctx, "diff-index", "--cached", "--name-status", "HEAD")); got != "" {
		b.t.Errorf("our index and HEAD do not agree:\n%s", got)
	}
}

func TestCorrect(t *testing.T) {
	whole := []string{planFile, "ralph"}
	rows := sampled(t, map[string]struct {
		do       string // the agent's
		restore  []string
		keep     []string
		write    map[string]string
		want     string // what differs from the commit before the agent's turn, afterwards
		plan     string // "" is "trusted\n"
		unfollow string // a file that must be as it was
	}{
		"an edit": {do: `echo evil >ralph/tasks.json; echo 1 >work`, restore: whole[:1], want: "work"},
		"a link":  {do: `ln -sf /etc/passwd ralph/tasks.json; echo 1 >work`, restore: whole[:1], want: "work"},
		"a link inside": {do: `ln -sf ../a.txt ralph/tasks.json`, write: map[string]string{planFile: "ours\n"},
			want: planFile, plan: "ours\n", unfollow: "a.txt"},
		"a link for directory": {do: `rm -r ralph; ln -s sub ralph; echo 1 >sub/tasks.json`, restore: whole,
			want: "sub/tasks.json", unfollow: "sub/b.txt"},
		"written behind a link": {do: `rm -r ralph; ln -s sub ralph`, write: map[string]string{planFile: "ours\n"},
			want: "ralph/also ralph/prd.md " + planFile, plan: "ours\n", unfollow: "sub/b.txt"},
		"a directory": {do: `rm ralph/tasks.json; mkdir -p ralph/tasks.json/x; echo 1 >ralph/tasks.json/x/y; echo 1 >ralph/tasks.json/z.log`, restore: whole[:1], want: ""},
		"written on a directory": {do: `rm ralph/tasks.json; mkdir -p ralph/tasks.json/x; echo 1 >ralph/tasks.json/x/y`,
			write: map[string]string{planFile: "ours\n"},
			want:  planFile, plan: "ours\n"},
		"a submodule": {do: `rm ralph/tasks.json; git init -q ralph/tasks.json; cd ralph/tasks.json; echo 1 >f; git add f; git commit -qm f; cd ../..
			printf '[submodule "x"]\n\tpath = ralph/tasks.json\n\turl = ./x\n' >.gitmodules; git add .gitmodules ralph 2>/dev/null`, restore: whole[:1], want: ".gitmodules"},
		"a new submodule": {do: `git init -q lib; cd lib; echo 1 >f; git add f; git commit -qm f; cd ..
			printf '[submodule "x"]\n\tpath = lib\n\turl = ./x\n' >.gitmodules; git add .gitmodules lib 2>/dev/null`, restore: []string{".gitmodules", "lib"}, want: ""},
		"a mode": {do: `chmod +x ralph/tasks.json; chmod -x ralph/prd.md`, restore: whole, want: ""},
		"new files": {do: `mkdir -p deep/er; echo 1 >deep/er/f; echo 2 >deep/g; echo 3 >'ralph/new file'; echo 4 >stays`,
			restore: []string{"deep", "ralph"}, want: "stays"},
		"a line's end": {do: `printf 1 >'ralph/a` + "\n" + `b "c'; printf 1 >'-n'; printf 1 >':(top)x'; printf 2 >a.txt`,
			restore: []string{"ralph/a\nb \"c", "-n", ":(top)x"}, want: "a.txt"},
		"only the case": {do: `git mv ralph/tasks.json ralph/Tasks.json`, restore: []string{planFile, "ralph/Tasks.json"},
			want: ""},
		"all but": {do: `echo evil >a.txt; rm sub/b.txt; echo 1 >x; echo evil >ralph/prd.md; echo approved >ralph/tasks.json`,
			keep: []string{planFile}, want: planFile, plan: "approved\n"},
		"all": {do: `echo evil >a.txt; echo evil >ralph/tasks.json; echo 1 >'*'`, keep: []string{}, want: ""},
		"write and all": {do: `echo evil >ralph/tasks.json; echo 1 >x`, keep: []string{},
			write: map[string]string{planFile: "ours\n", "new/dir/f": ""}, want: "new/dir/f " + planFile, plan: "ours\n"},
		"nothing": {do: `echo 1 >work`, restore: whole, write: map[string]string{planFile: "trusted\n"}, want: "work"},
		"attributes": {do: `printf '* filter=x ident diff=x\nralph/tasks.json working-tree-encoding=UTF-16 eol=crlf\n' >.gitattributes; printf '\377\376e\000\n\000' >ralph/tasks.json`,
			restore: []string{planFile, ".gitattributes"}, want: ""},
		"what git refuses": {do: `echo '* working-tree-encoding=UTF-16' >.gitattributes; echo evil >ralph/tasks.json; echo 1 >.git/info/exclude`, restore: []string{planFile}, want: ""},
	}, "an edit", "a link for directory", "written on a directory", "a submodule", "only the case", "all but", "write and all",
		"what git refuses")
	for i, name := range slices.Sorted(maps.Keys(rows)) {
		c := rows[name]
		for j, shape := range []string{"bot", "clone"} {
			if !every && i%2 != j {
				continue
			}
			t.Run(name+"/"+shape, func(t *testing.T) {
				t.Parallel()
				b := newSandbox(t)
				tree, since := b.planned(shape)
				untouched := ""
				if c.unfollow != "" {
					untouched = b.sh(tree.Dir(), `cat `+c.unfollow)
				}
				b.sh(tree.Dir(), c.do)
				turn := must[loop.Commit](t)(tree.Commit(b.ctx, since, "turn\n"))
				write := map[string][]byte{}
				for name, text := range c.write {
					write[name] = []byte(text)
				}
				got := must[loop.Commit](t)(tree.Correct(b.ctx,
					Correction{Since: since, Restore: c.restore, Keep: c.keep, Write: write, Message: "ralph: take it back\n"}))
				if name == "nothing" || name == "what git refuses" {
					if !got.Empty || got.SHA != turn.SHA || got.Tree != turn.Tree || len(got.Files) != 0 {
						t.Errorf("the commit: %+v", got)
					}
				} else if got.Empty || got.NoDiff || got.SHA == turn.SHA || len(got.Files) == 0 && c.do[:5] != "chmod" {
					t.Errorf("the commit: %+v", got)
				} else if about := b.sh(tree.Dir(), `git log -1 --format='%P %T %B' `+got.SHA); about != turn.SHA+" "+got.Tree+
					" ralph: take it back\n\n" {
					t.Errorf("the commit holds %q", about)
				}
				names, err := tree.Changed(b.ctx, since, got.SHA)
				if strings.Join(names, " ") != c.want || err != nil {
					t.Errorf("differs in %q %v, want %q", names, err, c.want)
				}
				if tree.Head() != got.SHA {
					t.Errorf("head %s, commit %s", tree.Head(), got.SHA)
				}
				b.agree(tree)
				if name == "what git refuses" { // what is committed counts; what lies there was put back with it
					return
				}
				if text := b.sh(tree.Dir(),
					`test -f ralph/tasks.json -a ! -L ralph/tasks.json; cat ralph/tasks.json`); text != c.plan &&
					(c.plan != "" || text != "trusted\n") {
					t.Errorf("the plan is %q", text)
				}
				if c.unfollow != "" && b.sh(tree.Dir(), `cat `+c.unfollow) != untouched {
					t.Errorf("%s was written", c.unfollow)
				}
				// And the next turn is committed as any other, by the agent's user.
				b.sh(tree.Dir(), `echo next >next; test -e ralph/tasks.json && echo more >>ralph/tasks.json`)
				d := must[loop.Commit](t)(tree.Commit(b.ctx, got.SHA, "next\n"))
				if len(d.Files) != 2 || d.Files[0].Path != "next" || d.Files[1].Path != planFile || d.Note != "" {
					t.Errorf("the next commit: %+v", d)
				}
			})
		}
	}
}

// TestCorrectLeavesIgnoredFiles: also those that the agent had committed by force.
func TestCorrectLeavesIgnoredFiles(t *testing.T) {
	b := newSandbox(t)
	b.clone()
	tree := b.open()
	dir := tree.Dir()
	b.sh(dir, `echo log >x.log; echo t >x.tmp`)
	b.sh(dir, `git add -f x.tmp x.log; git commit -qm force; echo 1 >made; mkdir d; echo 1 >d/made`)
	turn := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "turn\n"))
	if len(turn.Files) != 4 {
		t.Fatalf("%+v", turn)
	}
	must[loop.Commit](t)(tree.Correct(b.ctx, Correction{Since: b.base, Keep: []string{}, Message: "m\n"}))
	if tree.headTree != tree.BaseTree() {
		t.Error("the trees differ")
	}
	if got := b.sh(dir, `git status --porcelain -uall --ignored; cat x.log x.tmp`); got !=
		"!! x.log\n!! x.tmp\nlog\nt\n" {
		t.Errorf("%s", got)
	}
}

// TestCorrectOnAResumedTree: before any commit of this process, and after one that was killed on the way.
func TestCorrectOnAResumedTree(t *testing.T) {
	for _, shape := range []string{"bot", "clone"} {
		t.Run(shape, func(t *testing.T) {
			b := newSandbox(t)
			tree, since := b.planned(shape)
			b.sh(tree.Dir(), `echo evil >ralph/tasks.json; echo 1 >work; mkdir ralph/d; echo 1 >ralph/d/f`)
			must[loop.Commit](t)(tree.Commit(b.ctx, since, "turn\n"))
			must[*Moved](t)(tree.Push(b.ctx))
			again := func() *Tree {
				if shape == "bot" {
					b.as = nil
					os.RemoveAll(filepath.Join(b.dir, "root"))
					return b.checkout(b.asNobody)
				}
				return b.open(func(o *Options) { o.Resume, o.Ours = true, true })
			}
			c := Correction{Since: since, Restore: []string{"ralph"}, Message: "back\n"}
			if shape == "clone" { // killed after the working tree was put right
				changed, err := tree.corrections(b.ctx, c)
				if err != nil || len(changed) != 2 {
					t.Fatal(changed, err)
				}
				commit, _, err := tree.commitOn(b.ctx, tree.head, tree.headTree, changed, c.Message)
				if err = errors.Join(err, tree.lay(b.ctx, commit, true)); err != nil {
					t.Fatal(err)
				}
			}
			tree = again()
			got := must[loop.Commit](t)(tree.Correct(b.ctx, c))
			if len(got.Files) != 2 || got.Files[0].Path != "ralph/d/f" || got.Files[1].Path != planFile {
				t.Fatalf("%+v", got)
			}
			b.agree(tree)
			if text := b.sh(tree.Dir(), `cat ralph/tasks.json; ls ralph`); text != "trusted\nalso\nprd.md\ntasks.json\n" {
				t.Error(text)
			}
			must[*Moved](t)(tree.Push(b.ctx))
			if d := must[loop.Commit](t)(again().Correct(b.ctx, c)); !d.Empty || d.SHA != got.SHA {
				t.Errorf("once more: %+v", d)
			}
		})
	}
}

func TestCorrectRefuses(t *testing.T) {
	b := newSandbox(t)
	tree := b.checkout(func(o *Options) { o.Secrets = []string{"a-made-up-secret-value"} })
	for want, c := range map[string]Correction{
		`"../x" is no path`:           {Restore: []string{"../x"}, Since: b.base},
		`"/etc/passwd" is no path`:    {Write: map[string][]byte{"/etc/passwd": nil}},
		`"" is no path`:               {Keep: []string{""}, Since: b.base},
		"would hold a secret":         {Write: map[string][]byte{"x": []byte("-a-made-up-secret-value-")}},
		"message would hold a secret": {Write: map[string][]byte{"x": nil}, Message: "a-made-up-secret-value"},
		`".git/config" is git's own`:  {Write: map[string][]byte{".git/config": nil}},
		"comparing with commit":       {Since: "0123456789012345678901234567890123456789", Restore: []string{"x"}},
	} {
		if got, err := tree.Correct(b.ctx, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v %v, want %q", got, err, want)
		}
	}
	if tree.Head() != b.base {
		t.Error(tree.Head())
	}
	b.agree(tree)
}
