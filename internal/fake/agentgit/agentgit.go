// Package agentgit has what agents do with git in a turn.
package agentgit

// Case is one of these things.
type Case struct {
	Do   string            // a shell script, run in the agent's tree
	Note string            // a part of the commit's note; empty: the commit has no note
	Want map[string]string // content by path in the run's commit; "" is no such file
	Kept bool              // what is not in the commit is kept under a ref of its own
	Has  string            // the message of a commit that is in the run's history; empty: any
}

// Before is what the iteration before it has done: a.txt has another content, and before is new.
const Before = `echo b >before; echo 1 >a.txt`

// Cases are these things by name. What they leave is in the run's commit, or the note says where it is.
var Cases = map[string]Case{
	"tracked change, not committed": {Do: `echo work >>a.txt`, Want: map[string]string{"a.txt": "1\nwork\n"}},
	"tracked change, committed": {Do: `echo work >>a.txt; git commit -qam agent`,
		Want: map[string]string{"a.txt": "1\nwork\n"}},
	"committed, and more after that": {Do: `echo work >>a.txt; git commit -qam agent; echo more >>a.txt; echo n >new`,
		Want: map[string]string{"a.txt": "1\nwork\nmore\n", "new": "n\n"}},
	"several commits": {Do: `for i in 1 2 3; do echo $i >>a.txt; git commit -qam $i; done; git mv before after; git commit -qm moved`, Want: map[string]string{"a.txt": "1\n1\n2\n3\n", "before": "", "after": "b\n"}},
	"ignored, committed on purpose": {Do: `echo 1 >x.log; git add -f x.log; git commit -qm agent; echo work >>a.txt`,
		Want: map[string]string{"a.txt": "1\nwork\n", "x.log": "1\n"}, Has: "agent"},
	"a new root": {Do: `git checkout -q --orphan none; git commit -qm orphan; echo work >>a.txt`, Note: "rewritten history",
		Want: map[string]string{"a.txt": "1\nwork\n", "before": "b\n"}, Kept: true},
	"deleted and committed": {Do: `git rm -q a.txt; git commit -qm gone`, Want: map[string]string{"a.txt": ""}},
	"amended": {Do: `echo work >>a.txt; git commit -qa --amend -m mine`, Note: "rewritten history",
		Want: map[string]string{"a.txt": "1\nwork\n", "before": "b\n"}},
	"rebased":               {Do: `echo work >>a.txt; git commit -qam agent; GIT_SEQUENCE_EDITOR="sed -i 's/^pick/reword/'" GIT_EDITOR=true git rebase -q -i HEAD~2`, Note: "rewritten history", Want: map[string]string{"a.txt": "1\nwork\n", "before": "b\n"}},
	"a rebase, half-way":    {Do: `echo work >>a.txt; git commit -qam agent; git checkout -q --orphan other; git rm -qrf .; echo x >a.txt; git add a.txt; git commit -qm root; git checkout -q ralph/issue-42; git rebase -q --onto other HEAD~ || true`, Note: "unfinished", Kept: true, Has: "agent"},
	"merged another branch": {Do: `git checkout -q -b side; echo s >side; git add side; git commit -qm side; git checkout -q ralph/issue-42; echo work >>a.txt; git commit -qam agent; git merge -q -m merge side`, Note: "", Want: map[string]string{"a.txt": "1\nwork\n", "side": "s\n"}},
	"reset to the base": {Do: `git reset -q --hard HEAD~; echo work >new`, Note: "rewritten history",
		Want: map[string]string{"new": "work\n", "before": ""}},
	"reset, the files stay": {Do: `git reset -q HEAD~; echo work >>a.txt`, Note: "rewritten history",
		Want: map[string]string{"a.txt": "1\nwork\n", "before": "b\n"}},
	"a new branch, and stays": {Do: `git checkout -q -b fix; echo work >>a.txt; git commit -qam agent`,
		Note: `switched to "fix"`, Want: map[string]string{"a.txt": "1\nwork\n"}},
	"a new branch, and back": {Do: `git checkout -q -b fix; echo work >>a.txt; git commit -qam agent; git checkout -q ralph/issue-42`, Note: "work in refs/heads/fix", Kept: true, Want: map[string]string{"a.txt": "1\n"}},
	"to the base branch, to look": {Do: `git checkout -q main`, Note: "nothing was changed there",
		Want: map[string]string{"a.txt": "1\n", "before": "b\n"}},
	"to the base branch, to work": {Do: `git checkout -q main; echo work >new; echo x >>sub/b.txt`,
		Note: "is put on the run's branch",
		Want: map[string]string{"a.txt": "1\n", "before": "b\n", "new": "work\n", "sub/b.txt": "b\nx\n"}},
	"to the base branch, in the way": {Do: `git checkout -q main; echo other >a.txt`,
		Note: "does not fit on the run's branch; it is kept as refs/ralph/kept/issue-42/", Kept: true,
		Want: map[string]string{"a.txt": "1\n", "before": "b\n"}},
	"the base branch, committed": {Do: `git checkout -q main; echo work >new; git add new; git commit -qm agent`,
		Note: "is put on the run's branch", Want: map[string]string{"a.txt": "1\n", "before": "b\n", "new": "work\n"}},
	"detached, committed": {Do: `git checkout -q --detach; echo work >>a.txt; git commit -qam agent`,
		Note: "left the run's branch", Want: map[string]string{"a.txt": "1\nwork\n"}},
	"detached at an older commit": {Do: `git checkout -q HEAD~; echo work >new`, Note: "is put on the run's branch",
		Want: map[string]string{"a.txt": "1\n", "new": "work\n"}},
	"stashed": {Do: `echo work >>a.txt; git stash -q`, Note: "work in refs/stash", Kept: true,
		Want: map[string]string{"a.txt": "1\n"}},
	"stashed and popped": {Do: `echo work >>a.txt; git stash -q; git stash pop -q`,
		Want: map[string]string{"a.txt": "1\nwork\n"}},
	"an older state of a file": {Do: `git checkout -q HEAD~ -- a.txt; echo work >new`,
		Want: map[string]string{"a.txt": "one\ntwo\nthree\n", "new": "work\n"}},
	"tagged": {Do: `echo work >>a.txt; git commit -qam agent; git tag v9; git tag -a -m x v10 HEAD~`,
		Want: map[string]string{"a.txt": "1\nwork\n"}},
	"its branch deleted": {Do: `echo work >>a.txt; git checkout -q --detach; git branch -qD ralph/issue-42`,
		Note: "left the run's branch", Want: map[string]string{"a.txt": "1\nwork\n"}},
	"a linked worktree":        {Do: `d=$(mktemp -d); git worktree add -q "$d/other" -b other; cd "$d/other"; echo work >w; git add w; git commit -qm w`, Note: "work in refs/heads/other", Kept: true, Want: map[string]string{"a.txt": "1\n"}},
	"a linked worktree inside": {Do: `git worktree add -q other -b other; cd other; echo work >w; git add w; git commit -qm w`, Note: "other: a working tree of the same repository", Kept: true, Want: map[string]string{"a.txt": "1\n", "other/a.txt": "", "other/w": ""}},
	"a file of a ref's name":   {Do: `echo h >HEAD; echo m >main; mkdir -p refs/heads; echo r >refs/heads/main; echo work >>a.txt`, Want: map[string]string{"HEAD": "h\n", "main": "m\n", "refs/heads/main": "r\n", "a.txt": "1\nwork\n"}},
	"the index's lock left": {Do: `touch .git/index.lock; echo work >>a.txt`,
		Want: map[string]string{"a.txt": "1\nwork\n"}},
	"locks of refs left":  {Do: `mkdir -p .git/refs/heads/ralph; touch .git/refs/heads/ralph/issue-42.lock .git/HEAD.lock .git/packed-refs.lock; echo work >>a.txt`, Want: map[string]string{"a.txt": "1\nwork\n"}},
	"marked as unchanged": {Do: `echo work >>a.txt; git update-index --assume-unchanged a.txt; echo x >>sub/b.txt; git update-index --skip-worktree sub/b.txt`, Want: map[string]string{"a.txt": "1\nwork\n", "sub/b.txt": "b\nx\n"}},
	"hidden by info/exclude": {Do: `mkdir -p .git/info; echo new >>.git/info/exclude; echo work >new`,
		Want: map[string]string{"new": "work\n"}},
	"an old date": {Do: `touch -r a.txt ref.tmp; printf 2 | dd of=a.txt conv=notrunc 2>/dev/null; touch -r ref.tmp a.txt; rm ref.tmp`, Want: map[string]string{"a.txt": "2\n"}},
	"replaced": {Do: `echo work >>a.txt; git commit -qam agent; git replace HEAD~1 HEAD`,
		Want: map[string]string{"a.txt": "1\nwork\n", "before": "b\n"}},
	"a graft": {Do: `echo work >>a.txt; git commit -qam agent; mkdir -p .git/info; git rev-parse HEAD >.git/info/grafts`,
		Want: map[string]string{"a.txt": "1\nwork\n"}},
	"cut off": {Do: `echo work >>a.txt; git commit -qam agent; git rev-parse HEAD >.git/shallow`,
		Want: map[string]string{"a.txt": "1\nwork\n"}},
	"attributes": {Do: `mkdir -p .git/info; echo '* text eol=crlf ident' >.git/info/attributes; echo work >>a.txt`,
		Want: map[string]string{"a.txt": "1\nwork\n"}},
	"broken HEAD": {Do: `echo work >>a.txt; echo garbage >.git/HEAD`,
		Want: map[string]string{"a.txt": "1\nwork\n"}, Note: "cannot be read (its HEAD is no commit)"},
	"a repository in the tree": {Do: `git init -q lib; echo l >lib/f; git -C lib add f; git -C lib commit -qm l`,
		Want: map[string]string{"lib/f": "l\n"}, Note: "a repository of the agent's own"},
	"an empty repository in the tree": {Do: `git init -q hollow; git init -q deep/ignored; echo "*" >deep/ignored/.gitignore; echo work >>a.txt`,
		Want: map[string]string{"a.txt": "1\nwork\n"}, Note: "deep/ignored, hollow: a repository without files"},
}
