package git

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkCommitPush measures an iteration's git work, commit, run record and push, against the same work by bare git
// commands. Both go to a local bare remote and change the same files, in turn.
func BenchmarkCommitPush(b *testing.B) {
	s := newSandbox(b)
	for i := range 500 {
		dir := filepath.Join(s.dir, "seed", fmt.Sprint("d", i%20))
		os.MkdirAll(dir, 0o755)
		os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), bytes.Repeat([]byte("line\n"), 100), 0o644)
	}
	s.sh(s.dir,
		`cd seed; git add .; git commit -qm many; git push -q ../remote.git main; git clone -q --bare ../remote.git ../bare.git; git clone -q ../bare.git ../bare; cd ../bare; git checkout -q -b work`)
	tree := s.checkout()
	tree.leaks.values, tree.leaks.known = []string{"a-made-up-secret-value"}, nil // the bot always has one to look for
	bare := filepath.Join(s.dir, "bare")
	var ours, theirs time.Duration
	for i := 0; b.Loop(); i++ {
		for _, dir := range []string{tree.Dir(), bare} {
			os.WriteFile(filepath.Join(dir, "a.txt"), fmt.Appendf(nil, "%d\n", i), 0o644)
			os.WriteFile(filepath.Join(dir, fmt.Sprint("new", i)), fmt.Appendf(nil, "%d\n", i), 0o644)
		}
		begin := time.Now()
		if _, err := tree.Commit(s.ctx, tree.Head(), fmt.Sprintf("iteration %d\n", i)); err != nil {
			b.Fatal(err)
		}
		if _, err := tree.SaveRecord(s.ctx, map[string][]byte{"journal.jsonl": bytes.Repeat([]byte("{}\n"), i+1)},
			"record"); err != nil {
			b.Fatal(err)
		}
		if _, err := tree.Push(s.ctx); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(begin)
		begin = time.Now()
		cmd := exec.Command("sh", "-ec", `git add -A; git commit -qm "iteration"; git push -q origin work`)
		cmd.Dir, cmd.Env = bare, testEnv(s.home)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v %s", err, out)
		}
		theirs += time.Since(begin)
	}
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ours-ms")
	b.ReportMetric(float64(theirs.Milliseconds())/float64(b.N), "bare-ms")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
}
