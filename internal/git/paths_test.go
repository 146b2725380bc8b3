package git

import (
	"strings"
	"testing"
)

func TestCommitPaths(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, `mkdir ralph; echo 1 >ralph/tasks.json; echo 1 >ralph/prd.md; git add ralph; git commit -qm plan
		mkdir -p ralph-archive/2026-11-21-x; mv ralph/prd.md ralph-archive/2026-11-21-x/; cp ralph/tasks.json ralph-archive/2026-11-21-x/; echo 2 >ralph/tasks.json
		echo log >ralph-archive/x.log; echo 1 >'ralph-archive/*'; echo 1 >'ralph-archive/a`+"\n"+`b'
		echo staged >sub/b.txt; git add sub/b.txt; echo more >>sub/b.txt; echo dirt >>a.txt; echo new >new; git add -N new; echo un >un
		git add ralph/tasks.json; printf '#!/bin/sh\nexit 1\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; cp .git/hooks/pre-commit .git/hooks/reference-transaction`)
	before := b.sh(dir, `git status --porcelain -- sub a.txt new un; git diff --cached sub; git diff sub`)
	env := b.cliOptions().Env
	sha := must[string](t)(CommitPaths(b.ctx, dir+"/sub", env, Identity{"ralph", "ralph@localhost"},
		"ralph: archive x\n\nmore\n", []string{"ralph", "ralph-archive", "none"}))
	got := b.sh(dir, `git -c core.quotePath=true show --no-renames --name-status --format='%H %an%n%B' HEAD`)
	if want := sha +
		" Bob\nralph: archive x\n\nmore\n\n\nA\tralph-archive/*\nA\tralph-archive/2026-11-21-x/prd.md\nA\tralph-archive/2026-11-21-x/tasks.json\n" +
		"A\t\"ralph-archive/a\\nb\"\nD\tralph/prd.md\nM\tralph/tasks.json\n"; got != want {
		t.Errorf("committed\n%s\nwant\n%s", got, want)
	}
	if after := b.sh(dir,
		`git status --porcelain -- sub a.txt new un; git diff --cached sub; git diff sub`); after != before {
		t.Errorf("what else there was is\n%s\nwant\n%s", after, before)
	}
	if got := b.sh(dir,
		`git status --porcelain ralph ralph-archive; git symbolic-ref HEAD; git reflog -1 --format=%gs`); got != "refs/heads/main\ncommit: ralph: archive x\n" {
		t.Error(got)
	}
	if sha, err := CommitPaths(b.ctx, dir, env, Identity{}, "m", []string{"ralph"}); sha != "" || err != nil {
		t.Error(sha, err)
	}
	b.sh(dir, `rm "$HOME/.gitconfig" .git/hooks/*; git checkout -q --detach; rm -r ralph; ln -s /etc ralph`)
	sha = must[string](t)(CommitPaths(b.ctx, dir, env, Identity{"ralph", "ralph@localhost"}, "link", []string{"ralph"}))
	if got := b.sh(dir,
		`git log -1 --format='%H %an %ce'; git ls-tree HEAD ralph | cut -c1-6; git status --porcelain ralph`); got != sha+
		" ralph ralph@localhost\n120000\n" {
		t.Error(got)
	}
	if _, err := CommitPaths(b.ctx, dir, env, Identity{}, "m", []string{"../x"}); err == nil ||
		!strings.Contains(err.Error(), "no path from the top") {
		t.Error(err)
	}
	b.sh(dir, `git rev-parse HEAD >.git/MERGE_HEAD; echo 1 >>a.txt`)
	if _, err := CommitPaths(b.ctx, dir, env, Identity{}, "m", []string{"a.txt"}); err == nil ||
		!strings.Contains(err.Error(), "a merge is in progress") {
		t.Error(err)
	}
}
