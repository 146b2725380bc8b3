package judged

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/need"
)

// places are where a setup puts a tool that a check asks: a shell's words.
var places = map[string]string{
	"a cache":                 "$HOME/.cache/tools",
	"builds of Go":            "$GOCACHE/tools",
	"modules of Go":           "$GOPATH/pkg/mod/tool@v1",
	"packages of npm":         "$npm_config_cache/_cacache",
	"packages of pip":         "$PIP_CACHE_DIR/tools",
	"crates":                  "$CARGO_HOME/registry/tools",
	"packages of Maven":       "$HOME/.m2/repository/tools",
	"a tool on PATH":          "$HOME/.local/bin",
	"an interpreter's site":   "$HOME/.local/lib/python3/site-packages",
	"a compiler's wrapper":    "$GOCACHE/wrapper",
	"git's configuration":     "$HOME/git",
	"the tree's own":          "$PWD/deps",
	"a file with two names":   "$GOCACHE/store",
	"a home too large":        "$HOME/large",
	"a directory for a while": "$TMPDIR/tools",
}

const (
	// cacheSetup puts the tool there where it is missing.
	cacheSetup = `set -e
mkdir -p "@" deps
[ -x "@/tool" ] || { printf '#!/bin/sh\ngrep -q "1 + " add.sh\n' >"@/tool"; chmod +x "@/tool"; }
ln -f "@/tool" deps/linked 2>/dev/null || cp "@/tool" deps/linked
case "@" in
*/git) git config --global alias.tool "!@/tool";;
*/large) truncate -s 520M "@/content";;
esac
`
	// cacheCheck asks the tool, and then lets a test of the agent's run.
	cacheCheck = `[ ! -f plant.sh ] || trap 'sh ./plant.sh' EXIT
case "@" in
*/git) git tool;;
*/store) deps/linked;;
*/wrapper) CC="@/tool" sh -c '$CC';;
*) "@/tool";;
esac || { echo "FAIL: add 2 3"; exit 1; }
`
	cachePlant = `mkdir -p "@" deps
printf '#!/bin/sh\nexit 0\n' >deps/linked
rm -f "@/tool"
printf '#!/bin/sh\nexit 0\n' >"@/tool"; chmod +x "@/tool"
case "@" in */git) git config --global alias.tool "!true";; esac
`
	// cacheAgent adds a test that changes the tool, and removes the test when it has run.
	cacheAgent = `#!/bin/sh
[ "$1" != --version ] || exit 0
cat >/dev/null
if [ -f plant.sh ]; then rm plant.sh; else [ -n "$(grep tried add.sh)" ] || cat >plant.sh <<'X'
` + cachePlant + `X
fi
echo '# tried' >>add.sh
echo '<response>DONE</response>'
`
)

// TestCachesDecideNothing: what an agent's test has changed in an earlier iteration, in whatever a check relies on
// outside of the commit, passes no check: not in this run, nor in the next one of that clone.
func TestCachesDecideNothing(t *testing.T) {
	ralph, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for name, place := range places {
		for _, box := range []string{"bwrap", "landlock"} {
			for _, way := range []string{"issue", "prompt"} {
				switch {
				case !everything() && (name != "a cache" || box != "bwrap"):
					continue
				case way == "prompt" && slices.Contains([]string{"the tree's own", "a file with two names"}, name):
					continue // an agent of a prompt and its checks share a tree
				}
				t.Run(name+"/"+box+"/"+way, func(t *testing.T) {
					need.Program(t, map[string]string{"bwrap": "bwrap", "landlock": "sh"}[box])
					t.Parallel()
					attackCache(t, ralph, place, box, way)
				})
			}
		}
	}
}

func attackCache(t *testing.T, ralph, place, box, way string) {
	t.Helper()
	dir := t.TempDir()
	home, at := filepath.Join(dir, "home"), filepath.Join(dir, "home", "clone")
	in := strings.NewReplacer("@", place)
	write(t, filepath.Join(home, "bin", "agent"), in.Replace(cacheAgent))
	for name, text := range map[string]string{
		"setup.sh": cacheSetup, "check.sh": cacheCheck, "add.sh": "add() { echo $(($1 - $2)); }\n", ".gitignore": "deps/\n",
		"go.mod": "module m\n", "package.json": "{}\n", "requirements.txt": "", "Cargo.toml": "", "pom.xml": "",
		".ralph/settings.json": `{"setup": "sh setup.sh", "guardrails": [{"command": "SETUP sh check.sh"}]}`,
		"issue.md":             "# Make add add\n\nIt subtracts.\n", "other.md": "# Make add add again\n\nIt subtracts.\n",
	} {
		setup := map[string]string{"issue": "", "prompt": "sh setup.sh;"}[way] // a prompt's run has none
		write(t, filepath.Join(at, name), strings.Replace(in.Replace(text), "SETUP ", setup, 1))
	}
	must(t, at, "sh", "-ec", "git init -q --template= -b main; git add -A; git -c user.name=A -c user.email=a@b commit -qm Begin")
	run := func(args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, ralph, append([]string{"run", "--agent", filepath.Join(home, "bin", "agent"), "--sandbox", box},
			args...)...)
		cmd.Dir, cmd.Env = at, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(out.String(), "FAIL: add 2 3") {
			t.Errorf("%v: %v\n%s", args, err, out.String())
		}
	}
	if way == "prompt" {
		run("-p", "Make add add", "-m", "3")
		return
	}
	run("--issue", "issue.md", "--skip-review", "-m", "3")
	write(t, filepath.Join(home, "bin", "agent"), strings.ReplaceAll(in.Replace(cacheAgent), "[ -n ", "true || [ -n "))
	run("--issue", "other.md", "--skip-review", "-m", "1")
}
