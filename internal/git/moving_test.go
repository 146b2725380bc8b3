package git

import (
	"strings"
	"testing"
)

// A git that is killed while it checks another commit out leaves files of both. The next start puts them back; what the
// user has edited since stays, and is told as any other edit.
func TestKilledWhileItChecksOut(t *testing.T) {
	t.Parallel()
	for what, c := range sampled(t, map[string]struct{ do, refused string }{
		"nothing yet":              {do: `:`},
		"some files":               {do: `git checkout -q $new -- a.txt; git reset -q; rm sub/b.txt; : >link2`},
		"all files":                {do: `git read-tree -m -u HEAD $new; git read-tree HEAD`},
		"all files and the index":  {do: `git read-tree -m -u HEAD $new`},
		"all files and the branch": {do: `git read-tree -m -u HEAD $new; git update-ref refs/heads/ralph/issue-42 $new`},
		"and an edit of the user's": {do: `git read-tree -m -u HEAD $new; echo mine >>a.txt`,
			refused: "tracked files are modified (a.txt)"},
	}, "some files", "all files and the branch", "and an edit of the user's") {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newSandbox(t)
			dir := b.clone()
			b.sh(dir,
				`echo four >>a.txt; git rm -q sub/b.txt; echo n >new.txt; ln -s x link2; git add .; git commit -qm second; git branch second; git reset -q --hard HEAD~1`)
			o := b.cliOptions()
			o.Root = b.dir + "/own"
			b.sh(dir,
				`mkdir ../own; new=$(git rev-parse second); echo "$(git rev-parse HEAD) $new" >../own/moving; echo mine >mine.txt; `+c.do)
			tree, err := Open(b.ctx, dir, o, "ralph/other", "")
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := tree.Start(b.ctx); err != nil {
				t.Fatal(err)
			}
			if got := b.sh(dir, `git status --porcelain; cat sub/b.txt; readlink link; ls`); !strings.HasPrefix(got,
				"?? mine.txt\nb\na.txt\n") || strings.Contains(got, "new.txt") {
				t.Errorf("there is\n%s", got)
			}
			if exists(tree.movingFile()) {
				t.Error("it is still noted")
			}
		})
	}
}
