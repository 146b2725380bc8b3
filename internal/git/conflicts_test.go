package git

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestBaseConflicts: what people have pushed to the base branch meanwhile goes together with the run's work, or does
// not.
func TestBaseConflicts(t *testing.T) {
	t.Parallel()
	for name, tt := range sampled(t, map[string]struct{ theirs, want string }{
		"the base has not moved":      {"true", ""},
		"another file":                {"echo x >other.txt; git add other.txt; git commit -qm other", ""},
		"the same line":               {"echo theirs >>a.txt; git commit -qam theirs", "a.txt"},
		"a file that the run deleted": {"echo theirs >>sub/b.txt; git commit -qam theirs", "sub/b.txt"},
		"two of them": {"echo theirs >>sub/b.txt; echo theirs >>a.txt; git commit -qam theirs",
			"a.txt sub/b.txt"},
	}, "another file", "two of them") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSandbox(t)
			tree := b.checkout(b.asNobody)
			b.sh(tree.Dir(), "echo ours >>a.txt; rm sub/b.txt")
			must[loop.Commit](t)(tree.Commit(b.ctx, tree.Base(), "ours"))
			b.as = nil // somebody else
			b.sh(b.dir+"/seed", tt.theirs+"; git push -q ../remote.git HEAD:main")
			files, err := tree.BaseConflicts(b.ctx)
			if got := strings.Join(files, " "); err != nil || got != tt.want {
				t.Errorf("conflicts: %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
