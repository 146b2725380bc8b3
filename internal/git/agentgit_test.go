package git

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// agentGit is what agents do with git in a turn, each after an iteration that has changed a.txt and made before. What they leave is in the run's
// commit, or the note says where it is.
var agentGit = map[string]struct {
	do   string
	note string            // a part of the commit's note; empty: there is none
	want map[string]string // content by path in the run's commit; "" is no such file
	kept string            // a part of the name of a ref that holds what is not in the commit; empty: nothing is kept
	user bool              // of a clone alone
}{
	"tracked change, not committed":  {do: `echo work >>a.txt`, want: map[string]string{"a.txt": "1\nwork\n"}},
	"tracked change, committed":      {do: `echo work >>a.txt; git commit -qam agent`, want: map[string]string{"a.txt": "1\nwork\n"}},
	"committed, and more after that": {do: `echo work >>a.txt; git commit -qam agent; echo more >>a.txt; echo n >new`, want: map[string]string{"a.txt": "1\nwork\nmore\n", "new": "n\n"}},
	"several commits":                {do: `for i in 1 2 3; do echo $i >>a.txt; git commit -qam $i; done; git mv before after; git commit -qm moved`, want: map[string]string{"a.txt": "1\n1\n2\n3\n", "before": "", "after": "b\n"}},
	"deleted and committed":          {do: `git rm -q a.txt; git commit -qm gone`, want: map[string]string{"a.txt": ""}},
	"amended":                        {do: `echo work >>a.txt; git commit -qa --amend -m mine`, note: "rewritten history", want: map[string]string{"a.txt": "1\nwork\n", "before": "b\n"}},
	"rebased":                        {do: `echo work >>a.txt; git commit -qam agent; GIT_SEQUENCE_EDITOR="sed -i 's/^pick/reword/'" GIT_EDITOR=true git rebase -q -i --root`, note: "rewritten history", want: map[string]string{"a.txt": "1\nwork\n", "before": "b\n"}},
	"merged another branch":          {do: `git checkout -q -b side; echo s >side; git add side; git commit -qm side; git checkout -q ralph/issue-42; echo work >>a.txt; git commit -qam agent; git merge -q -m merge side`, note: "", want: map[string]string{"a.txt": "1\nwork\n", "side": "s\n"}},
	"reset to the base":              {do: `git reset -q --hard HEAD~; echo work >new`, note: "rewritten history", want: map[string]string{"new": "work\n", "before": ""}},
	"reset, the files stay":          {do: `git reset -q HEAD~; echo work >>a.txt`, note: "rewritten history", want: map[string]string{"a.txt": "1\nwork\n", "before": "b\n"}},
	"a new branch, and stays":        {do: `git checkout -q -b fix; echo work >>a.txt; git commit -qam agent`, note: `switched to "fix"`, want: map[string]string{"a.txt": "1\nwork\n"}},
	"a new branch, and back":         {do: `git checkout -q -b fix; echo work >>a.txt; git commit -qam agent; git checkout -q ralph/issue-42`, note: "the branch fix", kept: "refs/heads/fix", want: map[string]string{"a.txt": "1\n"}},
	"to the base branch, to look":    {do: `git checkout -q main`, note: "nothing was changed there", want: map[string]string{"a.txt": "1\n", "before": "b\n"}},
	"to the base branch, to work":    {do: `git checkout -q main; echo work >new; echo x >>sub/b.txt`, note: "is put on the run's branch", want: map[string]string{"a.txt": "1\n", "before": "b\n", "new": "work\n", "sub/b.txt": "b\nx\n"}},
	"to the base branch, in the way": {do: `git checkout -q main; echo other >a.txt`, note: "does not fit on the run's branch; it is kept as refs/ralph/kept/issue-42/", kept: keptRefs, want: map[string]string{"a.txt": "1\n", "before": "b\n"}},
	"the base branch, committed":     {do: `git checkout -q main; echo work >new; git add new; git commit -qm agent`, note: "is put on the run's branch", want: map[string]string{"a.txt": "1\n", "before": "b\n", "new": "work\n"}},
	"detached, committed":            {do: `git checkout -q --detach; echo work >>a.txt; git commit -qam agent`, note: "left the run's branch", want: map[string]string{"a.txt": "1\nwork\n"}},
	"detached at an older commit":    {do: `git checkout -q HEAD~; echo work >new`, note: "is put on the run's branch", want: map[string]string{"a.txt": "1\n", "new": "work\n"}},
	"stashed":                        {do: `echo work >>a.txt; git stash -q`, note: "the stash", kept: "stash", want: map[string]string{"a.txt": "1\n"}},
	"stashed and popped":             {do: `echo work >>a.txt; git stash -q; git stash pop -q`, want: map[string]string{"a.txt": "1\nwork\n"}},
	"an older state of a file":       {do: `git checkout -q HEAD~ -- a.txt; echo work >new`, want: map[string]string{"a.txt": "one\ntwo\nthree\n", "new": "work\n"}},
	"tagged":                         {do: `echo work >>a.txt; git commit -qam agent; git tag v9; git tag -a -m x v10 HEAD~`, want: map[string]string{"a.txt": "1\nwork\n"}, note: "the tag v", user: true},
	"its branch deleted":             {do: `echo work >>a.txt; git checkout -q --detach; git branch -qD ralph/issue-42`, note: "left the run's branch", want: map[string]string{"a.txt": "1\nwork\n"}},
	"a linked worktree":              {do: `d=$(mktemp -d); git worktree add -q "$d/other" -b other; cd "$d/other"; echo work >w; git add w; git commit -qm w`, note: "the branch other", kept: "refs/heads/other", want: map[string]string{"a.txt": "1\n"}},
	"a linked worktree inside":       {do: `git worktree add -q other -b other; cd other; echo work >w; git add w; git commit -qm w`, note: "other: a working tree of the same repository", kept: "refs/heads/other", want: map[string]string{"a.txt": "1\n", "other/a.txt": "", "other/w": ""}},
	"a file of a ref's name":         {do: `echo h >HEAD; echo m >main; mkdir -p refs/heads; echo r >refs/heads/main; echo work >>a.txt`, want: map[string]string{"HEAD": "h\n", "main": "m\n", "refs/heads/main": "r\n", "a.txt": "1\nwork\n"}},
	"the index's lock left":          {do: `touch .git/index.lock; echo work >>a.txt`, want: map[string]string{"a.txt": "1\nwork\n"}},
	"locks of refs left":             {do: `mkdir -p .git/refs/heads/ralph; touch .git/refs/heads/ralph/issue-42.lock .git/HEAD.lock .git/packed-refs.lock; echo work >>a.txt`, want: map[string]string{"a.txt": "1\nwork\n"}},
	"marked as unchanged":            {do: `echo work >>a.txt; git update-index --assume-unchanged a.txt; echo x >>sub/b.txt; git update-index --skip-worktree sub/b.txt`, want: map[string]string{"a.txt": "1\nwork\n", "sub/b.txt": "b\nx\n"}},
	"hidden by info/exclude":         {do: `mkdir -p .git/info; echo new >>.git/info/exclude; echo work >new`, want: map[string]string{"new": "work\n"}, note: "put back (exclude)", user: true},
	"an old date":                    {do: `touch -r a.txt ref.tmp; printf 2 | dd of=a.txt conv=notrunc 2>/dev/null; touch -r ref.tmp a.txt; rm ref.tmp`, want: map[string]string{"a.txt": "2\n"}},
	"replaced":                       {do: `echo work >>a.txt; git commit -qam agent; git replace HEAD~1 HEAD`, want: map[string]string{"a.txt": "1\nwork\n", "before": "b\n"}, note: "git replace", user: true},
	"a graft":                        {do: `echo work >>a.txt; git commit -qam agent; mkdir -p .git/info; git rev-parse HEAD >.git/info/grafts`, want: map[string]string{"a.txt": "1\nwork\n"}, note: "put back (grafts)", user: true},
	"cut off":                        {do: `echo work >>a.txt; git commit -qam agent; git rev-parse HEAD >.git/shallow`, want: map[string]string{"a.txt": "1\nwork\n"}, note: "put back (shallow)", user: true},
	"attributes":                     {do: `mkdir -p .git/info; echo '* text eol=crlf ident' >.git/info/attributes; echo work >>a.txt`, want: map[string]string{"a.txt": "1\nwork\n"}, note: "put back (attributes)", user: true},
	"broken HEAD":                    {do: `echo work >>a.txt; echo garbage >.git/HEAD`, want: map[string]string{"a.txt": "1\nwork\n"}, user: true, note: "HEAD led nowhere"},
	"a repository in the tree":       {do: `git init -q lib; echo l >lib/f; git -C lib add f; git -C lib commit -qm l`, want: map[string]string{"lib/f": "l\n"}, note: "a repository of the agent's own"},
}

func TestWhateverTheAgentDoesWithGit(t *testing.T) {
	for name, c := range agentGit {
		for _, shape := range []string{"bot", "clone"} {
			if c.user && shape == "bot" {
				continue
			}
			t.Run(name+"/"+shape, func(t *testing.T) {
				t.Parallel()
				b := newSandbox(t)
				var tree *Tree
				if shape == "bot" {
					tree = b.checkout(b.asNobody)
				} else {
					b.clone()
					tree = b.open()
				}
				b.sh(tree.Dir(), `echo b >before; echo 1 >a.txt`)
				since := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "before")).SHA
				b.sh(tree.Dir(), `git config user.name A; git config user.email a@b.c`)
				if shape == "clone" { // what the user has set is no change
					must[string](t)(tree.git.out(b.ctx, "var", "GIT_AUTHOR_IDENT"))
					tree.user.freeze()
				}
				b.sh(tree.Dir(), c.do)
				got := must[loop.Commit](t)(tree.Commit(b.ctx, since, "ours"))
				if !strings.Contains(got.Note, c.note) || c.note == "" && got.Note != "" && !strings.Contains(got.Note, "was made during the turn") {
					t.Errorf("note %q, want %q", got.Note, c.note)
				}
				b.holds(tree, got.SHA, c.want)
				if c.kept != "" && !strings.Contains(b.refsOf(tree), c.kept) {
					t.Errorf("%s is not kept:\n%s", c.kept, b.refsOf(tree))
				}
				if got := b.sh(tree.Dir(), `git status --porcelain; git symbolic-ref HEAD; git rev-parse HEAD --; git ls-files -v | grep -v '^H' || true`); strings.TrimPrefix(got, "?? other/\n") != "refs/heads/ralph/issue-42\n"+tree.Head()+"\n--\n" {
					t.Errorf("afterwards %q", got)
				}
				if in := b.sh(tree.Dir(), `git merge-base --is-ancestor `+since+` HEAD -- && echo yes`); in != "yes\n" {
					t.Error("what was committed before is lost")
				}
				if shape == "bot" {
					if moved, err := tree.Push(b.ctx); moved != nil || err != nil {
						t.Error(moved, err)
					}
				}
				b.quiet()
			})
		}
	}
}

// holds compares files of a commit.
func (b *sandbox) holds(tree *Tree, commit string, want map[string]string) {
	b.t.Helper()
	for name, content := range want {
		text, ok, err := tree.Read(b.ctx, commit, name, 1<<20)
		if err != nil || string(text) != content || ok != (content != "") {
			b.t.Errorf("%s is %q (%v, %v), want %q", name, text, ok, err, content)
		}
	}
}

// refsOf are the refs of a clone, or those that the bot will push.
func (b *sandbox) refsOf(tree *Tree) string {
	b.t.Helper()
	if !tree.bot {
		return b.sh(tree.Dir(), `git for-each-ref --format='%(refname)'`)
	}
	out := ""
	for ref := range tree.keeping {
		out += ref + " refs/heads/fix refs/heads/other stash\n" // one that holds what any of them had
	}
	return out
}
