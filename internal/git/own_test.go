package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// ofPlan are the options of a run of a plan.
func ofPlan(o *Options) { o.Own, o.Join = []string{"ralph"}, true }

const writePlan = `mkdir -p ralph/.hidden; echo plan >ralph/tasks.json; echo prd >ralph/prd.md; echo h >ralph/.hidden/h; echo no >ralph/x.log; echo own >own.txt; mkdir mine; echo 1 >mine/a`

// lying is everything that a user sees of a clone: branch, status with the index, contents.
func (b *sandbox) lying(dir string) string {
	b.t.Helper()
	return b.sh(dir,
		`git symbolic-ref -q HEAD || echo detached; git rev-parse HEAD; git status --porcelain -uall; git diff --cached; find . -name .git -prune -o \( -type f -o -type l \) -print | sort | while read -r f; do echo "$f: $(cat "$f")"; done`)
}

func TestAdopt(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, writePlan)
	tree := b.open(ofPlan)
	if err := tree.Restore(b.ctx); err == nil || !strings.Contains(err.Error(), "has not been committed yet") {
		t.Fatal(err)
	}
	c := must[loop.Commit](t)(tree.Adopt(b.ctx, "ralph: the plan\n"))
	if c.Empty || len(c.Files) != 3 || c.Files[0].Path != "ralph/.hidden/h" || c.Files[2].Path != planFile ||
		tree.Head() != c.SHA {
		t.Fatalf("%+v", c)
	}
	if got := b.sh(dir,
		`git log --format='%an %s'; git status --porcelain -uall; git symbolic-ref HEAD`); got != "Bob ralph: the plan\nAlice first\n?? mine/a\n?? own.txt\nrefs/heads/ralph/issue-42\n" {
		t.Fatal(got)
	}
	if again := must[loop.Commit](t)(tree.Adopt(b.ctx, "m")); !again.Empty || again.SHA != c.SHA {
		t.Fatalf("%+v", again)
	}
	b.sh(dir, `echo 2 >>ralph/tasks.json; echo n >ralph/progress.txt; echo work >work; rm -r ralph/.hidden`)
	d := must[loop.Commit](t)(tree.Commit(b.ctx, c.SHA, "turn\n"))
	if len(d.Files) != 4 {
		t.Fatalf("%+v", d)
	}
	b.sh(dir, `echo junk >ralph/junk`)
	if err := tree.Restore(b.ctx); err != nil {
		t.Fatal(err)
	}
	if got := b.sh(dir,
		`git status --porcelain -uall; cat own.txt ralph/x.log`); got != "?? mine/a\n?? own.txt\nown\nno\n" {
		t.Fatal(got)
	}
	// A run that has done something is not taken back.
	if err := tree.Retreat(b.ctx); err != nil || tree.Head() != d.SHA || b.sh(dir, `git rev-parse HEAD`) != d.SHA+"\n" {
		t.Fatal(err, tree.Head())
	}
	// Its user stands on its branch, and edits the plan, before the next one.
	b.sh(dir, `echo edited >ralph/tasks.json; git rm -q --cached ralph/prd.md; echo more >ralph/more`)
	again := b.open(ofPlan)
	if again.Base() != b.base || again.Head() != d.SHA {
		t.Fatal(again.Base(), again.Head())
	}
	e := must[loop.Commit](t)(again.Adopt(b.ctx, "edits\n"))
	if len(e.Files) != 2 || e.Files[0].Path != "ralph/more" || e.Files[1].Path != planFile {
		t.Fatalf("%+v", e)
	}
	b.agree(again)
}

// TestAdoptLeavesTheAgents: within a turn that was killed, what lies there is committed as the turn's.
func TestAdoptLeavesTheAgents(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, writePlan)
	tree := b.open(ofPlan)
	c := must[loop.Commit](t)(tree.Adopt(b.ctx, "plan\n"))
	b.sh(dir, `echo agent >ralph/tasks.json; echo agent >ralph/new`)
	again := b.open(ofPlan, func(o *Options) { o.Resume = true })
	if got := must[loop.Commit](t)(again.Adopt(b.ctx, "m")); !got.Empty || got.SHA != c.SHA {
		t.Fatalf("%+v", got)
	}
	if d := must[loop.Commit](t)(again.Commit(b.ctx, c.SHA, "turn\n")); len(d.Files) != 2 {
		t.Fatalf("%+v", d)
	}
	// One that was killed before it adopted still does.
	b.sh(dir,
		`git checkout -q main; mkdir -p ralph; echo 2 >ralph/tasks.json; git branch -qD ralph/issue-42; rm -r .git/ralph`)
	b.open(ofPlan)
	last := b.open(ofPlan, func(o *Options) { o.Resume, o.Settled = true, true })
	if d := must[loop.Commit](t)(last.Adopt(b.ctx, "plan\n")); len(d.Files) != 1 {
		t.Fatalf("%+v", d)
	}
}

// TestRetreatGivesBack: a run that comes to nothing leaves the clone as it was, index and all.
func TestRetreatGivesBack(t *testing.T) {
	const tracked = `mkdir ralph; echo 1 >ralph/tasks.json; echo 1 >ralph/gone; echo 1 >ralph/staged; git add ralph; git commit -qm plan; `
	const changed = `echo 2 >ralph/tasks.json; rm ralph/gone; echo 2 >ralph/staged; git add ralph/staged; echo 3 >ralph/staged; echo n >ralph/new; echo a >ralph/added; git add ralph/added; chmod +x ralph/tasks.json`
	for name, c := range sampled(t, map[string]struct {
		do    string
		back  bool     // by Return, after work
		fixes []string // what the harness writes before the first turn
	}{
		"untracked":               {do: writePlan},
		"changed":                 {do: tracked + changed},
		"on its branch":           {do: tracked + `git checkout -qb ralph/issue-42; ` + changed},
		"detached":                {do: tracked + `git checkout -q --detach; ` + changed},
		"returned":                {do: writePlan, back: true},
		"returned, with changes":  {do: tracked + changed, back: true},
		"put right":               {do: writePlan, fixes: []string{planFile, "ralph/made/by/us", "a.txt"}},
		"put right, with changes": {do: tracked + changed, fixes: []string{planFile, "ralph/gone", "ralph/new"}},
		"nothing but put right":   {do: tracked, fixes: []string{planFile}},
		"nothing to adopt":        {do: tracked},
		"nothing, on its branch":  {do: tracked + `git checkout -qb ralph/issue-42`},
		"a link, and odd names": {do: `mkdir ralph; ln -s /etc/passwd ralph/tasks.json; echo 1 >'ralph/a` + "\n" +
			`b'; echo 1 >'ralph/*'; echo 1 >'ralph/:(top)x'`},
		"a link for what was one": {do: tracked + `rm -r ralph; ln -s sub ralph`},
		"a link for a directory":  {do: `ln -s sub ralph`},
		"a repository of its own": {do: `git init -q ralph/lib; echo 1 >ralph/lib/f; echo 1 >ralph/tasks.json`},
	}, "detached", "returned, with changes", "put right, with changes", "nothing, on its branch", "a repository of its own") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSandbox(t)
			dir := b.clone()
			b.sh(dir, c.do)
			before := b.lying(dir)
			tree := b.open(ofPlan)
			made := must[loop.Commit](t)(tree.Adopt(b.ctx, "plan\n"))
			if made.Empty != strings.HasPrefix(name, "nothing") {
				t.Fatalf("%+v", made)
			}
			for i, name := range c.fixes {
				must[loop.Commit](t)(tree.Correct(b.ctx,
					Correction{Write: map[string][]byte{name: {byte('0' + i), '\n'}}, Message: "fix\n"}))
			}
			b.sh(dir, `echo by-a-check >>a.txt; echo by-a-check >junk; test ! -f ralph/prd.md || echo by-a-check >ralph/prd.md`)
			if err := tree.Restore(b.ctx); err != nil {
				t.Fatal(err)
			}
			if c.back {
				b.sh(dir, `echo work >work; echo done >ralph/tasks.json; rm -f ralph/prd.md ralph/new`)
				d := must[loop.Commit](t)(tree.Commit(b.ctx, made.SHA, "turn\n"))
				if err := tree.Return(b.ctx); err != nil {
					t.Fatal(err)
				}
				if got := b.sh(dir, `git rev-parse ralph/issue-42; git show ralph/issue-42:ralph/tasks.json`); got != d.SHA+
					"\ndone\n" {
					t.Error(got)
				}
			} else if err := tree.Retreat(b.ctx); err != nil {
				t.Fatal(err)
			}
			if after := b.lying(dir); after != before {
				t.Errorf("the clone was\n%s\nand is\n%s", before, after)
			}
			if _, err := os.Stat(tree.mark()); err == nil && !c.back {
				t.Error("the branch is marked as ralph's")
			}
		})
	}
}

// TestOwnIsModified: only what is the run's own may be.
func TestOwnIsModified(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir,
		`mkdir ralph ralphs; echo 1 >ralph/tasks.json; echo 1 >ralphs/x; git add .; git commit -qm plan; echo 2 >ralph/tasks.json; echo 2 >ralphs/x`)
	o := b.cliOptions()
	ofPlan(&o)
	if _, err := Open(b.ctx, dir, o, "ralph/issue-42", ""); err == nil ||
		!strings.Contains(err.Error(), "tracked files are modified (ralphs/x): commit or stash them") {
		t.Fatal(err)
	}
	o.Secrets = []string{"a-made-up-secret-value"}
	b.sh(dir, `git checkout ralphs; echo a-made-up-secret-value >ralph/tasks.json`)
	tree := b.open(ofPlan, func(p *Options) { p.Secrets = o.Secrets })
	if c, err := tree.Adopt(b.ctx, "m"); err == nil || !strings.Contains(err.Error(), "holds a credential") {
		t.Fatal(c, err)
	}
	if err := tree.Retreat(b.ctx); err != nil {
		t.Fatal(err)
	}
	if got := b.sh(dir,
		`git status --porcelain; git symbolic-ref HEAD; cat ralph/tasks.json`); got != " M ralph/tasks.json\nrefs/heads/main\na-made-up-secret-value\n" {
		t.Fatal(got)
	}
	// Elsewhere than on a branch that has it otherwise, nothing is overwritten.
	b.sh(dir,
		`git stash -q; git checkout -qb other; echo 3 >ralph/tasks.json; git commit -qam other; git checkout -q main; echo mine >ralph/tasks.json`)
	before := b.lying(dir)
	tree, err := Open(b.ctx, dir, o, "ralph/issue-42", "other")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if err := tree.Start(b.ctx); err == nil ||
		!strings.Contains(err.Error(),
			"ralph/tasks.json is not committed here, and the branch ralph/issue-42 has it otherwise") {
		t.Fatal(err)
	}
	if after := b.lying(dir); after != before {
		t.Errorf("the clone was\n%s\nand is\n%s", before, after)
	}
}

func TestJoin(t *testing.T) {
	for name, c := range sampled(t, map[string]struct {
		do, branch, want string
		join             bool
	}{
		"its user's": {do: `git checkout -qb feature; echo 1 >x; git add x; git commit -qm mine`, branch: "feature",
			join: true},
		"without leave": {do: `git checkout -qb feature`, branch: "feature",
			want: "nothing shows that ralph has made it"},
		"not there": {do: `git branch feature`, branch: "feature", join: true,
			want: "nothing shows that ralph has made it"},
		"main": {do: `true`, branch: "main", join: true, want: "is where everybody's work comes together"},
		"the remote's": {do: `git checkout -qb trunk; git push -q origin trunk; git remote set-head origin trunk`,
			branch: "trunk", join: true, want: "is where everybody's work comes together"},
		"any name, from any": {do: `git checkout -qb some/where`, branch: "Some-Name_1.2/x", join: true},
	}, "its user's", "the remote's", "any name, from any") {
		t.Run(name, func(t *testing.T) {
			b := newSandbox(t)
			dir := b.clone()
			b.sh(dir, c.do)
			tip := strings.TrimSpace(b.sh(dir, `git rev-parse HEAD`))
			open := func(fresh bool) (*Tree, error) {
				o := b.cliOptions()
				o.Own, o.Join, o.Fresh = []string{"ralph"}, c.join, fresh
				tree, err := Open(b.ctx, dir, o, c.branch, "")
				if err == nil {
					b.t.Cleanup(func() { tree.Close() })
					err = tree.Start(b.ctx)
				}
				return tree, err
			}
			tree, err := open(false)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatal(err)
				}
				return
			}
			if err != nil || tree.Base() != tip || tree.Head() != tip || tree.Resumed() {
				t.Fatal(err, tree.Base(), tree.Head())
			}
			b.sh(dir, `echo work >work`)
			d := must[loop.Commit](t)(tree.Commit(b.ctx, tip, "turn\n"))
			if tree, err = open(false); err != nil || tree.Base() != tip || tree.Head() != d.SHA {
				t.Fatal(err, tree.Base(), tree.Head())
			}
			if tree, err = open(true); err != nil {
				t.Fatal(err)
			}
			log := b.sh(dir, `git log --format=%s; git for-each-ref refs/heads/wip`)
			if name == "its user's" {
				if tree.Base() != d.SHA || log != "turn\nmine\nfirst\n" {
					t.Fatalf("a fresh run set the user's branch back: %s", log)
				}
				b.sh(dir, `git checkout -q main`)
				if _, err := open(true); err == nil ||
					!strings.Contains(err.Error(), "the branch feature is yours, and a fresh run from") {
					t.Fatal(err)
				}
			} else if !strings.HasPrefix(log, "first\n") || !strings.Contains(log, "wip/archive/Some-Name") {
				t.Fatal(log)
			}
		})
	}
}

// TestFreshTakesThePlanAlong: it is nowhere else than on the branch that is set aside.
func TestFreshTakesThePlanAlong(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, writePlan)
	tree := b.open(ofPlan)
	c := must[loop.Commit](t)(tree.Adopt(b.ctx, "plan\n"))
	b.sh(dir, `echo work >work; echo passed >ralph/tasks.json`)
	must[loop.Commit](t)(tree.Commit(b.ctx, c.SHA, "turn\n"))
	b.sh(dir, `echo edited >ralph/tasks.json; rm -r ralph/.hidden; echo new >ralph/new`)
	fresh := b.open(ofPlan, func(o *Options) { o.Fresh = true })
	if fresh.Base() != b.base || fresh.Head() != b.base {
		t.Fatal(fresh.Base(), fresh.Head())
	}
	d := must[loop.Commit](t)(fresh.Adopt(b.ctx, "plan\n"))
	if got := b.files(fresh, d.SHA); got != ".gitignore\n.ralph/settings.json\na.txt\n120000 "+
		"link\nralph/new\nralph/prd.md\nralph/tasks.json\nsub/b.txt" {
		t.Fatal(got)
	}
	if got := b.sh(dir,
		`cat ralph/tasks.json ralph/x.log; git status --porcelain -uall; git log --format=%s; git for-each-ref --format='%(refname)' refs/heads/wip | xargs git log --format=%s`); got !=
		"edited\nno\n?? mine/a\n?? own.txt\nplan\nfirst\nralph: what was not committed before a fresh "+
			"run\nturn\nplan\nfirst\n" {
		t.Fatal(got)
	}
	b.agree(fresh)
	if err := fresh.Retreat(b.ctx); err != nil {
		t.Fatal(err)
	}
	if got := b.sh(dir, `git log --format=%s; cat ralph/tasks.json`); got != "first\nedited\n" {
		t.Fatal(got)
	}
}

// TestManyUntrackedFilesHideNoPlan: with many, whole directories are kept out.
func TestManyUntrackedFilesHideNoPlan(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	for i := range manyFiles + 1 {
		name := filepath.Join(dir, "docs", "many", string(rune('a'+i%26)), strings.Repeat("x", 1+i/26))
		os.MkdirAll(filepath.Dir(name), 0o755)
		os.WriteFile(name, nil, 0o644)
	}
	b.sh(dir, `mkdir docs/ralph; echo 1 >docs/ralph/tasks.json`)
	tree := b.open(func(o *Options) { o.Own = []string{"docs/ralph"} })
	if c := must[loop.Commit](t)(tree.Adopt(b.ctx, "plan\n")); len(c.Files) != 1 ||
		c.Files[0].Path != "docs/ralph/tasks.json" {
		t.Fatalf("%+v", c)
	}
	b.sh(dir, `echo 2 >docs/ralph/progress.txt`)
	if c := must[loop.Commit](t)(tree.Commit(b.ctx, tree.Head(), "turn\n")); len(c.Files) != 1 {
		t.Fatalf("%+v", c)
	}
}

// TestBranchNamedLock: its state does not lie where the worktree's lock is.
func TestBranchNamedLock(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	file := filepath.Join(dir, ".git", "ralph", "lock")
	os.MkdirAll(filepath.Dir(file), 0o755)
	os.WriteFile(file, []byte("1\n"), 0o644)
	for _, branch := range []string{"lock", "LOCK", "ralph/lock"} {
		tree, err := Open(b.ctx, dir, b.cliOptions(), branch, "")
		if err != nil {
			t.Fatalf("%s: %v", branch, err)
		}
		if name := filepath.Base(tree.state); strings.EqualFold(name, "lock") {
			t.Errorf("%s: its state is in %s", branch, name)
		}
		tree.Close()
	}
}
