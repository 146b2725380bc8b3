package shell

import (
	"strings"
	"testing"
)

// TestHidesExit has a row for each way in which a line keeps an exit code to itself, and for what looks like one.
func TestHidesExit(t *testing.T) {
	for line, want := range map[string]string{
		"go test ./... | tee log":             `the pipe into "tee log" hides the exit code of "go test ./..."`,
		"go test ./... 2>&1 | tee log":        `the pipe into "tee log"`,
		"go test ./... |& tee log":            `the pipe into "tee log"`,
		"go test ./... | grep -v skip":        `the pipe into "grep -v skip"`,
		"npm test | cat":                      `the pipe into "cat" hides the exit code of "npm test"`,
		"npm test \\\n  | tee log":            `the pipe into "tee log"`,
		"pytest | tee a | tail -5":            `the pipe into "tee a" hides the exit code of "pytest"`,
		"go vet ./... && go test | tee x":     `the pipe into "tee x" hides the exit code of "go test"`,
		"(pytest) | tee log":                  `hides the exit code of "(pytest)"`,
		"sh -c 'pytest | tee log'":            `the pipe into "tee log"`,
		`bash -c "pytest | tee log"`:          `the pipe into "tee log"`,
		"docker run img sh -c 'pytest | cat'": `the pipe into "cat"`,
		"timeout 60 bash -ec 'pytest | cat'":  `the pipe into "cat"`,
		"eval 'pytest | cat'":                 `the pipe into "cat"`,
		"set -e; pytest | cat":                `the pipe into "cat"`,
		"time pytest | cat":                   `the pipe into "cat"`,
		"env A=1 pytest | cat":                `the pipe into "cat"`,
		"f() { pytest | cat; }; f":            `the pipe into "cat"`,
		"pytest || true":                      `"|| true" hides the exit code of "pytest"`,
		"pytest || :":                         `"|| :" hides the exit code of "pytest"`,
		"pytest || /bin/true":                 `"|| /bin/true" hides`,
		"pytest || exit 0":                    `"|| exit 0" hides`,
		"pytest || echo failed":               `"|| echo failed" hides`,
		"pytest || { echo failed; }":          `hides the exit code of "pytest"`,
		"pytest || { echo failed; exit; }":    `hides the exit code of "pytest"`,
		"pytest || (echo failed; exit 0)":     `hides the exit code of "pytest"`,
		"pytest && echo good || echo bad":     `"|| echo bad" hides`,
		"pytest; true":                        `what follows "pytest" hides its exit code`,
		"pytest; exit 0":                      `what follows "pytest"`,
		"pytest; echo done":                   `what follows "pytest"`,
		"pytest\necho done":                   `what follows "pytest"`,
		"go vet ./...; go test ./...":         `what follows "go vet ./..."`,
		"(pytest; true)":                      `what follows "pytest"`,
		"{ pytest; true; }":                   `what follows "pytest"`,
		"set +e; pytest; true":                `what follows "pytest"`,
		"git diff --exit-code; pytest":        `what follows "git diff --exit-code"`,
		"pytest & wait":                       `"pytest" runs in the background`,
		"pytest &":                            `"pytest" runs in the background`,
		"if pytest; then echo good; fi":       `the "if" hides the exit code of "pytest"`,
		"if pytest; then :; else echo no; fi": `the "if" hides`,
		"if ! pytest; then echo no; fi":       `the "if" hides`,
		"for d in a b; do pytest $d; done":    `the loop hides every exit code of "pytest $d" but the last`,
		"ls | while read d; do pytest; done":  `the loop hides`,

		"pytest": "", "go vet ./... && go test ./...": "", "cd web && npm test": "", "cd web; npm test": "",
		"pytest > log 2>&1": "", "pytest > >(tee log)": "", "pytest || exit 1": "", "pytest || exit": "",
		"pytest || { echo no; exit 1; }": "", "pytest || (echo no; false)": "", "pytest || pytest --lf": "",
		"pytest || [ $? -eq 5 ]": "", "pytest; exit $?": "", "pytest; exit": "", "pytest; rc=$?; rm -rf x; exit $rc": "",
		"set -e; go vet ./...; go test ./...": "", "set -euo pipefail; pytest | tee log": "",
		"set -o pipefail && true; pytest": "", "bash -o pipefail -c 'pytest | tee log'": "",
		"bash -eo pipefail -c 'pytest | tee log'": "", "bash -euo pipefail -c 'a; pytest | tee log'": "",
		"pytest | tee log; exit ${PIPESTATUS[0]}": "", `test -z "$(gofmt -l .)"`: "", `[ -z "$(gofmt -l .)" ]`: "",
		"! gofmt -l . | grep .": "", "gofmt -l . | (! grep .)": "", "find . -name '*.sh' | xargs shellcheck": "",
		"find . -name '*.sh' -exec shellcheck {} +": "", "git ls-files '*.py' | xargs ruff check": "",
		"echo 3 | ./app": "", "cat in.txt | ./app": "", "go list ./... | xargs go vet": "", "pytest & wait $!": "",
		"./server & pid=$!; pytest; rc=$?; kill $pid; wait $pid; exit $rc": "", "rm -f log; pytest": "",
		"if ! pytest; then echo no; exit 1; fi": "", "if pytest; then :; else exit 1; fi": "",
		"if command -v node; then npm test; fi": "", "for d in a b; do pytest $d || exit 1; done": "",
		"set -e; for d in a b; do pytest $d; done": "", "rc=0; for d in a b; do pytest $d || rc=1; done; exit $rc": "",
		"make test": "", "sh ./check.sh | ": "", "": "",
		"export X=$(date); pytest": "", "pytest # | tee log": "", "echo 'pytest | tee log'": "",
		"until curl -s x; do sleep 1; done; pytest": "", "source .venv/bin/activate; pytest": "",
		"tsc --noEmit && eslint . && jest": "", "sh -c 'cd web && npm test'": "",
	} {
		got, _ := HidesExit(line, false)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// TestBashKeepsPipes: pipefail helps against pipes, and against nothing else.
func TestBashKeepsPipes(t *testing.T) {
	for line, want := range map[string]bool{
		"pytest | tee log": false, "pytest || true": true, "sh -c 'pytest | cat'": true,
	} {
		if got, _ := HidesExit(line, true); (got != "") != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}
