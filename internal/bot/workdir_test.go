package bot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// apart is a world whose repository has two projects, of which one can be mended and the other cannot.
func apart(t *testing.T) *world {
	w := newWorld(t)
	w.commit("web/Makefile", makefile, "web/add.sh", "add() { echo $(($1 - $2)); }\n", "api/Makefile",
		"test:\n\t@echo nobody may run this >&2; exit 1\n", "api/readme", "x\n")
	w.inputs["working_directory"] = "web"
	return w
}

// TestWorkingDirectoryThatLeadsOut: whatever the agent puts in its place, nothing runs behind it: neither a check nor
// another turn.
func TestWorkingDirectoryThatLeadsOut(t *testing.T) {
	t.Parallel()
	for _, c := range some(1, []struct{ name, do, why string }{
		{"a link out", `rm -rf web; ln -s OUTSIDE web`, `"web" is a link`},
		{"a link aside", `rm -rf web; ln -s api web`, `"web" is a link`},
		{"a file", `rm -rf web; echo x >web`, `"web" is not a directory`},
		{"nothing", `rm -rf web`, `there is no "web"`},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := apart(t)
			ran, turns := w.shared("ran"), w.shared("turns")
			outside := filepath.Join(w.dir, "outside")
			noError(t, os.Mkdir(outside, 0o755))
			w.write("outside/Makefile", "test:\n\techo outside >>"+ran+"\n")
			w.inputs["agent"] = w.script("agent",
				"cat >/dev/null; echo turn >>"+turns+"; cd ..; "+strings.ReplaceAll(c.do, "OUTSIDE", outside)+
					"; echo \"<response>DONE</response>\"\n")
			result := w.must(loop.Failed)(w.label("alice"))
			if !strings.Contains(result.Reason, c.why) || w.file("ran") != "" || w.file("turns") != "turn\n" {
				t.Errorf("reason %q, ran %q, turns %q", result.Reason, w.file("ran"), w.file("turns"))
			}
			it := result.State.Last()
			if it == nil || len(it.Verdicts) == 0 {
				t.Fatal("nothing was judged")
			}
			for _, v := range it.Verdicts {
				if v.Check == "make test" && (v.Pass || !strings.Contains(v.Reason, c.why)) {
					t.Errorf("%+v", v)
				}
			}
		})
	}
}
