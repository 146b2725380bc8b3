package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCachesDecideNothing: when checks decide, caches hold what this machine's own have, what the setup and the checks
// have made on the base commit, and what a setup has made from the commit: nothing that an agent, a reviewer or an
// earlier check has written, in this run or before.
func TestCachesDecideNothing(t *testing.T) {
	type step struct {
		u         Use
		who, want string // who leaves a file in each cache, and whose there are before
		then      func(*Sandbox) error
	}
	sealHome := func(s *Sandbox) error { return plain(s.SealHome)() }
	freshHome := func(s *Sandbox) error { return plain(s.FreshHome)() }
	for _, mode := range []string{Bwrap, Landlock} {
		t.Run(mode, func(t *testing.T) {
			g := newGround(t)
			compiled := filepath.Join(g.dir, "disk", "compiled")
			put(t, compiled, "own")
			put(t, g.Home+"/.cargo/registry/crate", "")
			for _, hidden := range []string{"/.cargo/credentials.toml", "/.npm/_cacache/package", "/.cache/browsers/one"} {
				put(t, g.Home+hidden, "") // what is no cache, of a tool that is not used, or of none that is known
			}
			put(t, g.Worktree+"/part/Cargo.toml", "")
			everybody(t, g.dir)
			o := g.options(mode, nil)
			o.Parent = append(o.Parent, "GOCACHE="+filepath.Dir(compiled))
			own, reader := "compiled crate ", "baseline compiled crate setup "
			if mode != Bwrap {
				own, reader = "", ""
			}
			of := func(who ...string) string { // in order
				names := append(strings.Fields(own), who...)
				slices.Sort(names)
				return strings.Join(names, " ") + " "
			}
			for base, steps := range [][]step{
				{
					{Setup, "setup", own, sealHome},
					{Checks, "baseline", of("setup"), (*Sandbox).SealCaches},
					{Works, "agent", of("setup", "baseline"), nil},
					{Checks, "check", of("setup", "baseline"), nil},
					{Checks, "check", of("setup", "baseline", "check"), nil},
					{Reads, "reader", reader, freshHome},
					{Checks, "check", of("setup", "baseline"), (*Sandbox).RenewHome},
					{Checks, "later", of("setup", "baseline"), nil},
					{Checks, "check", of("setup", "baseline", "later"), freshHome},
					{Checks, "check", of("setup", "baseline"), nil},
					{Works, "agent", strings.Replace(of("setup", "baseline", "agent"), "compiled ", "", 1), nil},
					{Reads, "reader", reader, nil},
				},
				{{Setup, "setup", of("setup", "baseline"), nil}},
				{{Setup, "setup", own, nil}},
			} {
				s := g.open(t, o)
				if err := s.KeepCaches(filepath.Join(s.o.Scratch, "caches"), []string{"one", "one", "two"}[base]); err != nil {
					t.Fatal(err)
				}
				for i, c := range steps {
					line := `cd ${GOCACHE%/*}; ls -d go-build/* cargo/registry/* cargo/*.toml npm/*/* browsers/* 2>/dev/null |
sed 's,.*/,,' | sort -u | tr '\n' ' '; for d in go-build cargo/registry browsers; do mkdir -p $d; echo > $d/` + c.who + `
done; test ` + c.who + ` != agent || rm -f go-build/compiled
grep -s changed go-build/setup; test ` + c.who + ` != setup || ln -f go-build/setup "$OLDPWD/other" 2>/dev/null
test ` + c.who + ` != check || echo changed >> "$OLDPWD/other"`
					if got := g.say(t, s, c.u, line); got != c.want {
						t.Errorf("run %d, step %d, %s finds %q, want %q", base, i, c.who, got, c.want)
					}
					if c.then == nil {
						continue
					}
					if err := c.then(s); err != nil {
						t.Fatal(err)
					}
				}
				s.Close()
			}
			if entries, err := os.ReadDir(filepath.Dir(compiled)); err != nil || len(entries) != 1 {
				t.Errorf("this machine's own: %v %v", entries, err)
			}
		})
	}
}
