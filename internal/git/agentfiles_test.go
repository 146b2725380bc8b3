package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnyBytesInTheRepository: whatever bytes an agent leaves in a file of .git, the turn ends soon with its own commit
// on top of the base, or with an error that says what to do; and nothing is run. make test tries a
// quarter of it.
func TestAnyBytesInTheRepository(t *testing.T) {
	const none = "1234567890123456789012345678901234567890"
	for i, c := range []struct{ file, text string }{
		{"HEAD", "ref: refs/heads/a b\n"}, {"HEAD", "ref: refs/heads/a\nref: refs/heads/b\n"}, {"HEAD",
			"ref: refs/heads/a\x00b"}, {"HEAD", "ref: refs/\n"},
		{"HEAD", none + "\n"}, {"HEAD", "ref: refs/heads/x.lock\n"}, {"HEAD", "ref: refs/" + strings.Repeat("x/",
			3000) + "\n"},
		{"packed-refs", none + " refs/heads/ralph/issue-42\n"}, {"packed-refs", "\x00 \n^x\n# pack-refs with: y\n"},
		{"index", "DIRC\x00\x00\x00\x04\xff\xff\xff\xff"}, {"index", ""},
		{"objects/info/alternates", "objects\n../objects\n\x00\n/dev/zero\n"},
		{"commondir", "../../..\n"}, {"commondir", "\x00\n"}, {"gitdir", "\xff\n"},
		{"shallow", none + "\n"}, {"info/grafts", none + "\n"}, {"info/sparse-checkout", "!/*\n"},
		{"refs/heads/main", "ref: refs/heads/main\n"}, {"MERGE_HEAD", none + "\nx\n"}, {"config.worktree",
			"[core]\n\tbare\n"},
		{"config", "[include]\n\tpath = config\n[core]\n\tfsmonitor = \"TRAP\"\n"}, {"hooks/post-index-change",
			"#!/bin/sh\nTRAP\n"},
	} {
		for j, where := range []string{"bot", "clone"} {
			if !every && (i+j)%4 != 2 {
				continue
			}
			t.Run(fmt.Sprintf("%d, %s, %s", i, c.file, where), func(t *testing.T) {
				t.Parallel()
				b := newSandbox(t)
				tree := b.work(where)
				dir := tree.Dir()
				file := filepath.Join(dir, ".git", c.file)
				text := strings.ReplaceAll(c.text, "TRAP", "echo run >>'"+b.canary+"'")
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.RemoveAll(file),
					os.WriteFile(file, []byte(text), 0o755), os.WriteFile(filepath.Join(dir, "x"), []byte("work\n"),
						0o644)); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
				defer cancel()
				commit, err := tree.Commit(ctx, b.base, "ours")
				b.quiet()
				if err != nil {
					if ctx.Err() != nil || len(err.Error()) < 20 {
						t.Errorf("it does not end: %v", err)
					}
					return
				}
				if out, err := tree.git.out(b.ctx, "log", "--format=%H", commit.SHA); err != nil ||
					out != commit.SHA+"\n"+b.base+"\n" {
					t.Errorf("%s is on top of %q, %v; %s", commit.SHA, out, err, commit.Note)
				}
				if got := b.files(tree, commit.SHA); !strings.Contains("\n"+got+"\n", "\nx\n") || !strings.Contains(got,
					"a.txt") {
					t.Errorf("committed %s; %s", got, commit.Note)
				}
			})
		}
	}
}
