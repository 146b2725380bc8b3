package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// trap puts into a repository everything that makes git run a program, each of which writes the canary.
func (b *sandbox) trap(dir string) string {
	cry := func(name string) string { return fmt.Sprintf(`echo %s >>'%s'`, name, b.canary) }
	bait := filepath.Join(filepath.Dir(b.canary), "bait.sh")
	os.WriteFile(bait, []byte("#!/bin/sh\n"+cry("$0 $*")+"\ncat\n"), 0o755)
	script := "cd '" + dir + "'\n"
	for key, arg := range map[string]string{"core.fsmonitor": "fsmonitor", "core.sshCommand": "ssh",
		"filter.x.clean": "clean", "filter.x.smudge": "smudge",
		"filter.x.process": "process", "diff.x.textconv": "textconv", "diff.external": "external",
		"diff.x.command": "command", "core.editor": "editor", "core.pager": "pager",
		"core.alternateRefsCommand": "alternates", "uploadpack.packObjectsHook": "pack", "gpg.program": "gpg",
		"credential.helper": "!f", "merge.x.driver": "merge",
		"sequence.editor": "sequence", "core.gitProxy": "proxy", "alias.status": "!x", "core.askPass": "ask"} {
		script += fmt.Sprintf("git config %s '\"%s\" %s'\n", key, bait, arg)
	}
	return script + fmt.Sprintf(`
git config commit.gpgsign true; git config filter.x.required true
git config core.hooksPath "$PWD/.git/hooks"; git config url.ext::sh.insteadOf /; git config core.worktree /etc
mkdir -p .git/hooks
for h in pre-commit commit-msg prepare-commit-msg post-commit pre-push post-checkout post-index-change reference-transaction pre-rebase post-rewrite post-update update pre-auto-gc fsmonitor-watchman; do
	cp '%s' .git/hooks/$h; chmod +x .git/hooks/$h
done
`, bait)
}

const attributes = `printf '* filter=x diff=x merge=x\n' >.gitattributes; mkdir -p .git/info; cp .gitattributes .git/info/attributes; `

func TestHostileConfiguration(t *testing.T) {
	for _, shape := range []string{"bot", "clone"} {
		t.Run(shape, func(t *testing.T) {
			b := newSandbox(t)
			b.hostile(b.work(shape))
		})
	}
}

func (b *sandbox) hostile(tree *Tree) {
	t := b.t
	b.sh(tree.Dir(), `echo mine >own; git add own; git commit -qm "my own"`)
	b.sh(tree.Dir(), b.trap(tree.Dir())+attributes+
		`echo work >>a.txt; ln -s /etc/passwd passwd; rm -r sub; ln -s /etc sub; echo /etc >.git/objects/info/alternates.x`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "theirs and ours"))
	b.quiet()
	if got := b.files(tree, c.SHA); got != ".gitattributes\n.gitignore\n.ralph/settings.json\na.txt\n120000 "+
		"link\nown\n120000 passwd\n120000 sub" {
		t.Fatalf("committed\n%s", got)
	}
	if got := must[string](t)(tree.git.out(b.ctx, "log", "--format=%s",
		b.base+".."+c.SHA)); got != "theirs and ours\nmy own\n" || c.Note != "" {
		t.Fatalf("%q %q", got, c.Note)
	}
	// The trap is set anew for everything that follows the commit.
	b.sh(tree.Dir(), b.trap(tree.Dir()))
	b.sh(tree.Dir(), attributes+`echo dirt >>a.txt; echo junk >junk`)
	must[[]string](t)(tree.Clean(b.ctx))
	noError(t, tree.Restore(b.ctx))
	b.sh(tree.Dir(), b.trap(tree.Dir()))
	review := must[*Review](t)(tree.Review(b.ctx, c.SHA))
	if ok, what, err := review.Untouched(b.ctx); err != nil || !ok {
		t.Fatal(what, err)
	}
	noError(t, review.Close())
	must[string](t)(tree.Diff(b.ctx, b.base, c.SHA, 1<<20))
	must[string](t)(tree.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": nil}, "r"))
	must[*Moved](t)(tree.Push(b.ctx))
	must[string](t)(tree.FailureBranch(b.ctx, tree.Head(), "wip/x", "m", nil))
	b.quiet()
}

// TestHostileRepository: whatever an agent makes of its repository, its files are committed, nothing of another one comes
// into the run's, nobody waits for a pipe, and nothing is written or removed through a link.
func TestHostileRepository(t *testing.T) {
	b := newSandbox(t)
	b.sh(b.dir, `git init -q elsewhere; cd elsewhere; echo s >secret; git add .; git commit -qm secret`)
	elsewhere, out := filepath.Join(b.dir, "elsewhere", ".git"), filepath.Join(b.dir, "out")
	precious := `cd '` + b.dir + `'; mkdir -p out; for f in exclude config attributes sparse-checkout grafts; do echo precious >out/$f; done; chmod -R a+rwX out`
	b.sh(b.dir, precious)
	for i, do := range []string{
		`rm .git/config; mkfifo .git/config`,
		`mkdir -p .git/info; rm -f .git/info/exclude; mkfifo .git/info/exclude`,
		`rm -rf .git/info; ln -s '` + out + `' .git/info`,
		`rm -f .git/info/exclude .git/config; mkdir -p .git/info; ln -s '` + out + `/exclude' .git/info/exclude; ln -s '` + out + `/config' .git/config`,
		`rm -rf .git; ln -s '` + elsewhere + `' .git`,
		`rm -rf .git; echo 'gitdir: ` + elsewhere + `' >.git`,
		`rm -rf .git/objects; ln -s '` + elsewhere + `/objects' .git/objects`,
		`rm -rf .git/refs; ln -s /etc .git/refs`,
		`rm -rf .git`,
		`echo garbage >.git/HEAD`,
		`echo 'ref: refs/heads/../../../../etc/passwd' >.git/HEAD`,
		`rm .git/HEAD; ln -s /etc/passwd .git/HEAD`,
		`rm .git/HEAD; mkfifo .git/HEAD`,
		`echo '` + elsewhere + `' >.git/commondir`,
		`mkdir -p .git/refs/heads/ralph; echo 1234567890123456789012345678901234567890 >.git/refs/heads/ralph/issue-42`,
		`mkdir q; chmod 000 .git/objects .git/refs q`,
	} {
		if !every && i%3 != 2 {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			b.as = nil
			os.RemoveAll(filepath.Join(b.dir, "root"))
			tree := b.checkout(b.asNobody)
			b.sh(tree.Dir(), `echo 1 >x; `+do)
			c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "ours"))
			if len(c.Files) != 1 || c.Files[0].Path != "x" || c.Note == "" && i > 3 && i != 15 {
				t.Fatalf("%+v", c)
			}
			if got := b.sh(tree.Dir(), `git status --porcelain; git rev-parse HEAD; cat .git/config`); !strings.HasPrefix(got,
				c.SHA+"\n") || strings.Contains(got, "secret") {
				t.Fatal(got)
			}
			if out, err := tree.git.out(b.ctx, "log", "--all", "--format=%s"); err != nil || strings.Contains(out, "secret") {
				t.Fatal(out, err)
			}
		})
	}
	b.as = nil
	if got := b.sh(b.dir, `cat out/*; ls out | wc -l`); got != strings.Repeat("precious\n", 5)+"5\n" {
		t.Errorf("outside there is %s", got)
	}
	if got := b.sh(b.dir, `cd elsewhere; git log --format=%s; git status --porcelain`); got != "secret\n" {
		t.Fatal(got)
	}
}

func TestNestedRepositories(t *testing.T) {
	for _, shape := range []string{"bot", "clone"} {
		if shape == "clone" && !every {
			continue
		}
		t.Run(shape, func(t *testing.T) {
			b := newSandbox(t)
			tree := b.work(shape)
			b.sh(tree.Dir(),
				`git init -q one; cd one; echo '!.*' >.gitignore; echo 1 >f; ln -s /etc/passwd l; mkdir d; echo 2 >d/g; echo x >x.log; git add -A; git commit -qm nested; cd ..
				git init -q two; echo 3 >two/h; mkfifo two/pipe; git init -q two/three; echo 4 >two/three/i; git init -q empty; mkdir -p node; echo '/node' >>.gitignore; git init -q node/dep; echo no >node/dep/no`)
			b.sh(tree.Dir(), b.trap(filepath.Join(tree.Dir(), "one"))+attributes)
			c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "nested"))
			want := ".gitignore\n.ralph/settings.json\na.txt\n120000 link\none/.gitattributes\none/.gitignore\none/d/g\none/f\n120000 " +
				"one/l\nsub/b.txt\ntwo/h\ntwo/three/i"
			if got := b.files(tree, c.SHA); got != want ||
				c.Note != "one, two, two/three: a repository of the agent's own; its files were committed, its history was not; "+
					"empty: a repository without files to commit; its .git was removed" {
				t.Fatalf("committed\n%s\nnote %q", got, c.Note)
			}
			// From now on it is a directory like others, and git never looks at it as a repository.
			b.sh(tree.Dir(),
				`echo more >>one/f; echo new >one/new; cd one; unset GIT_DIR; mv .git .g; git init -q; rm -r .git; mv .g .git`)
			d := must[loop.Commit](t)(tree.Commit(b.ctx, c.SHA, "more"))
			if len(d.Files) != 2 || d.Files[0].Path != "one/f" || d.Files[1].Path != "one/new" {
				t.Fatalf("%+v", d)
			}
			if dirty, err := tree.Clean(b.ctx); err != nil || len(dirty) > 0 {
				t.Fatal(dirty, err)
			}
			b.quiet()
			// A link that the agent committed itself becomes files, too.
			b.sh(tree.Dir(),
				`git init -q four; echo 4 >four/f; git -C four add f; git -C four commit -qm four; git add four 2>/dev/null; git commit -qm link`)
			e := must[loop.Commit](t)(tree.Commit(b.ctx, d.SHA, "files"))
			if got := b.files(tree, e.SHA); !strings.Contains(got, "\nfour/f\n") {
				t.Fatalf("%s\n%+v", got, e)
			}
			noError(t, tree.Restore(b.ctx))
			b.quiet()
		})
	}
}

func TestSubmodulesAreLeftAlone(t *testing.T) {
	b := newSandbox(t)
	b.sh(b.dir,
		`git init -q lib; cd lib; echo l >l; git add .; git commit -qm lib; cd ../seed; git -c protocol.file.allow=always submodule add -q ../lib lib 2>/dev/null; git commit -qm lib; git push -q ../remote.git main`)
	tree := b.checkout(b.asNobody)
	b.sh(tree.Dir(), `cd lib; git init -q; echo h >h; git add .; git commit -qm evil`)
	b.sh(tree.Dir(), b.trap(filepath.Join(tree.Dir(), "lib"))+attributes)
	b.sh(tree.Dir(), `echo work >work`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, tree.Base(), "work"))
	if len(c.Files) != 1 || c.Files[0].Path != "work" {
		t.Fatalf("%+v", c)
	}
	must[[]string](t)(tree.Clean(b.ctx))
	d := must[loop.Commit](t)(tree.Commit(b.ctx, c.SHA, "none"))
	if err := tree.Restore(b.ctx); err != nil || !d.Empty {
		t.Fatalf("%+v %v", d, err)
	}
	b.quiet()
}
