package internal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// every reports whether make every runs the tests.
var every = os.Getenv("RALPH_TEST_EVERY_FAULT") != ""

// TestRalphOnRalph holds that ralph works on ralph: its settings are valid and name packages with tests. The scripted
// iteration on a clone, with these settings, compiles everything, so only make every plays it.
func TestRalphOnRalph(t *testing.T) {
	program, err := build()
	noError(t, err)
	top, err := filepath.Abs("..")
	noError(t, err)
	show := exec.Command(program, "settings", "show") //nolint:gosec // our own program
	show.Dir = top
	settings, err := show.CombinedOutput()
	if err != nil {
		t.Fatalf("ralph settings show: %v\n%s", err, settings)
	}
	packages := regexp.MustCompile(`\./internal/[a-z/]+[a-z]`).FindAllString(string(settings), -1)
	if len(packages) < 10 {
		t.Errorf("the settings name %d packages to test, want at least 10", len(packages))
	}
	for _, dir := range packages {
		if tests, _ := filepath.Glob(filepath.Join(top, dir, "*_test.go")); len(tests) == 0 {
			t.Errorf("%s has no tests", dir)
		}
	}
	if !every {
		return
	}
	run := exec.Command("sh", "-c", onRalph, program, top) //nolint:gosec // our own script
	run.Dir = t.TempDir()
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// onRalph is a shell script that clones the repository $1, and has $0, ralph, add a function to the clone.
const onRalph = `set -e
git clone --quiet "$1" ralph && cd ralph
git config user.name 'Your Name'
git config user.email you@example.com
cat > ../agent.sh <<'EOF'
#!/bin/sh
case $(cat) in
*'# Review'*) echo '{"verdict":"approve","tree":"'"$(git rev-parse HEAD^{tree})"'","summary":"Fine.","issues":[]}' ;;
*)
  printf '\n// Fine reports that all is well.\nfunc Fine() bool { return true }\n' >> internal/safetext/cut.go
  echo 'Added. <response>DONE</response>' ;;
esac
EOF
chmod +x ../agent.sh
printf '# Report that all is well\n\nAdd a function Fine to safetext.\n' > ../issue.md
"$0" run --issue ../issue.md --agent ../agent.sh --max-iterations 1
`
