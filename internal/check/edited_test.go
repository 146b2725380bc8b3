package check

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestEdited has a row for every way in which a check's line names what it runs.
func TestEdited(t *testing.T) {
	before := files{
		"check.sh*":    "#!/bin/sh\nset -e\ngo test ./...\n. ci/lib.sh\n\"$(dirname \"$0\")/more.sh\"\n",
		"more.sh":      "true\n",
		"ci/lib.sh":    "lib() { true; }\n",
		"ci/test.sh":   "set -e\nsh ./inner.sh\n",
		"ci/inner.sh":  "true\n",
		"tools/a.py":   "print(1)\n",
		"tools/m/x.go": "package main\n",
		"x.js":         "f()\n",
		"other.sh":     "true\n",
		"Makefile": "include rules.mk\nPYTEST = pytest -q\nFLAGS := -race\n.PHONY: test lint\n\ntest: build unit ## runs " +
			"it\n\t@echo testing\n\nbuild:\n\tgo build ./...\n\nunit:\n\tgo test $(FLAGS) ./...\n\nlint:\n\tgolangci-lint " +
			"run\n\n" +
			"py:\n\t$(PYTEST)\n\nci:\n\t$(MAKE) unit\n\nscripted:\n\t./ci/test.sh\n\ninc: included\n",
		"rules.mk":     "included:\n\ttrue\n",
		"sub/Makefile": "test:\n\ttrue\n",
		"other.mk":     "test:\n\ttrue\n",
		"package.json": "{\"scripts\": {\"test\": \"npm run unit && npm run lint\", \"unit\": \"jest\", \"lint\": " +
			"\"eslint .\", \"pretest\": \"tsc\", \"sh\": \"bash ci/test.sh\", \"build\": \"tsc\"}}\n",
		"composer.json": "{\"scripts\": {\"test\": [\"phpunit\"]}}\n",
		"justfile": "flags := \"-q\"\n\ntest arg=\"x\": build\n    pytest {{flags}}\n\nbuild:\n    true\n\nother:\n   " +
			" true\n",
		"Taskfile.yml": "tasks:\n  test:\n    cmds: [go test ./...]\n",
		"noxfile.py":   "x = 1\n",
		"src/a.go":     "package a\n",
	}
	makefile, scripts := before["Makefile"], before["package.json"]
	rows := []struct {
		name, line string
		change     files
		want       string // of the reason; empty: it passes. With "soft: " before it, it only warns
	}{
		{"a script", "./check.sh", files{"check.sh*": "#!/bin/sh\nexit 0\n"},
			`check.sh was changed, which the check "c" runs`},
		{"a script deleted", "./check.sh", files{"check.sh*": gone}, `check.sh was deleted`},
		{"a script made a link", "./check.sh", files{"check.sh*": gone, "check.sh@": "other.sh"}, `check.sh was deleted`},
		{"by sh", "sh ci/test.sh", files{"ci/test.sh": "true\n"}, "ci/test.sh was changed"},
		{"by bash with options", "bash -euo pipefail -e ci/test.sh --fast", files{"ci/test.sh": "true\n"},
			"ci/test.sh was changed"},
		{"by sh -c", "sh -ec 'cd ci && ./test.sh'", files{"ci/test.sh": "true\n"}, "ci/test.sh was changed"},
		{"by python", "python3 -u tools/a.py --x", files{"tools/a.py": "pass\n"}, "tools/a.py was changed"},
		{"by a python of the tree", ".venv/bin/python tools/a.py", files{"tools/a.py": "pass\n"}, "tools/a.py was changed"},
		{"by python -m", "python -m tools.a", files{"tools/a.py": "pass\n"}, "tools/a.py was changed"},
		{"a module in the way", "python -m pytest", files{"pytest.py": "pass\n"}, "pytest.py was changed"},
		{"by node", "node --no-warnings x.js", files{"x.js": "g()\n"}, "soft: x.js was changed"},
		{"sourced", ". ./ci/lib.sh && lib", files{"ci/lib.sh": "x\n"}, "ci/lib.sh was changed"},
		{"by go run", "go run ./tools/m", files{"tools/m/x.go": "package main // x\n"}, "tools/m/x.go was changed"},
		{"behind wrappers", "env A=1 timeout -k 5 60 nice -n 5 ./check.sh", files{"check.sh*": "x\n"},
			"check.sh was changed"},
		{"by uv", "uv run python tools/a.py", files{"tools/a.py": "pass\n"}, "tools/a.py was changed"},
		{"after a directory", "cd ci && ./test.sh", files{"ci/test.sh": "x\n"}, "ci/test.sh was changed"},
		{"in a list", "go vet ./... && ( ./check.sh | tee log ) || exit 1", files{"check.sh*": "x\n"},
			"check.sh was changed"},
		{"a script of a script", "./check.sh", files{"ci/lib.sh": "x\n"}, "ci/lib.sh was changed"},
		{"beside a script", "./check.sh", files{"more.sh": "x\n"}, "soft: more.sh was changed"},
		{"in the directory of a script", "sh ci/test.sh", files{"ci/inner.sh": "x\n"}, "ci/inner.sh was changed"},
		{"another script", "./check.sh", files{"other.sh": "x\n"}, ""},
		{"a script's mode", "./ci/test.sh", files{"ci/test.sh": gone, "ci/test.sh*": before["ci/test.sh"]}, ""},
		{"a script that is new", "./new.sh", files{"new.sh": "true\n"}, ""},
		{"code", "go test ./...", files{"src/a.go": "package a // x\n"}, ""},
		{"code in an argument", "gofmt -l ./src/a.go", files{"src/a.go": "package a // x\n"}, ""},
		{"a line that is none", "if then ((", files{"check.sh*": "x\n"}, ""},
		{"a path out of the tree", "sh ../check.sh; /check.sh", files{"check.sh*": "x\n"}, ""},

		{"make: the recipe", "make test", files{"Makefile": swap(makefile, "@echo testing", "@true")},
			`the recipe of "test" in Makefile was changed`},
		{"make: of what is needed", "make test", files{"Makefile": swap(makefile, "go test $(FLAGS)", "true $(FLAGS)")},
			`the recipe of "test" in Makefile was changed`},
		{"make: what is needed", "make test", files{"Makefile": swap(makefile, "test: build unit", "test: build")},
			`the recipe of "test"`},
		{"make: a variable", "make unit", files{"Makefile": swap(makefile, "FLAGS := -race", "FLAGS := -run=^$$")},
			`the recipe of "unit"`},
		{"make: the program in a variable", "make py", files{"Makefile": swap(makefile, "pytest -q", "true")},
			`the recipe of "py"`},
		{"make: again", "make ci", files{"Makefile": swap(makefile, "go test $(FLAGS)", "true")}, `the recipe of "ci"`},
		{"make: a script", "make scripted", files{"ci/test.sh": "true\n"}, `ci/test.sh was changed`},
		{"make: another script of it", "make scripted", files{"ci/inner.sh": "exit\n"}, `ci/inner.sh was changed`},
		{"make: included", "make inc", files{"rules.mk": "included:\n\tfalse\n"}, `the recipe of "inc"`},
		{"make: the shell", "make unit", files{"Makefile": "SHELL = /bin/true\n" + makefile}, `the recipe of "unit"`},
		{"make: a makefile in the way", "make unit", files{"GNUmakefile": "unit:\n\ttrue\n"}, `the recipe of "unit"`},
		{"make: deleted", "make unit", files{"Makefile": gone}, `the recipe of "unit"`},
		{"make: no target", "make", files{"Makefile": swap(makefile, "@echo testing", "@true")}, `the recipe of "test"`},
		{"make -C", "make -j4 -C sub test", files{"sub/Makefile": "test:\n\tfalse\n"},
			`the recipe of "test" in sub/Makefile`},
		{"make -f", "make -f other.mk test", files{"other.mk": "test:\n\tfalse\n"}, `in other.mk`},
		{"make: in a directory", "cd sub && make test", files{"sub/Makefile": "test:\n\tfalse\n"}, `sub/Makefile`},
		{"make: another target", "make test", files{"Makefile": swap(makefile, "golangci-lint run", "true")}, ""},
		{"make: a new target", "make test", files{"Makefile": makefile + "\nnew:\n\ttrue\n"}, ""},
		{"make: a comment and spaces", "make test",
			files{"Makefile": "# x\n" + swap(makefile, "\tgo build ./...", "\tgo  build   ./...")}, ""},
		{"make: a new first target", "make test", files{"Makefile": "all:\n\ttrue\n\n" + makefile}, ""},

		{"npm test", "npm test", files{"package.json": swap(scripts, "npm run unit && npm run lint", "true")},
			`the script "test" in package.json was changed`},
		{"npm: a script of it", "npm test", files{"package.json": swap(scripts, `"jest"`, `"jest --passWithNoTests x"`)},
			`the script "unit"`},
		{"npm: before it", "npm t", files{"package.json": swap(scripts, `"pretest": "tsc"`, `"pretest": "true"`)},
			`the script "pretest"`},
		{"npm: one after it", "npm test", files{"package.json": swap(scripts, `{"test"`, `{"posttest": "rm -f x", "test"`)},
			`the script "posttest"`},
		{"npm: a file", "npm run sh", files{"ci/test.sh": "true\n"}, "ci/test.sh was changed"},
		{"npm: the shell", "npm test", files{".npmrc": "script-shell=/bin/true\n"}, "the shell in .npmrc was changed"},
		{"npm: broken", "npm test", files{"package.json": "{\n"}, `the script "test"`},
		{"yarn", "yarn lint", files{"package.json": swap(scripts, "eslint .", "true")}, `the script "lint"`},
		{"yarn run", "yarn --silent run lint", files{"package.json": swap(scripts, "eslint .", "true")}, `the script "lint"`},
		{"pnpm", "pnpm run unit -- --ci", files{"package.json": swap(scripts, `"jest"`, `"true"`)}, `the script "unit"`},
		{"bun", "bun run unit", files{"package.json": swap(scripts, `"jest"`, `"true"`)}, `the script "unit"`},
		{"composer", "composer test", files{"composer.json": "{\"scripts\": {\"test\": [\"true\"]}}\n"},
			`the script "test" in composer.json`},
		{"npm: another script", "npm run lint", files{"package.json": swap(scripts, `"build": "tsc"`, `"build": "tsc -b"`)},
			""},
		{"npm: a dependency", "npm test", files{"package.json": swap(scripts, `}}`, `}, "dependencies": {"x": "1"}}`)}, ""},
		{"npm: other spaces", "npm test", files{"package.json": strings.ReplaceAll(scripts, ", ", ",\n  ")}, ""},
		{"npm ci", "npm ci", files{"package.json": "{}\n"}, ""},

		{"just", "just test", files{"justfile": swap(before["justfile"], "pytest", "true")},
			`the recipe of "test" in justfile`},
		{"just: a variable", "just test", files{"justfile": swap(before["justfile"], `"-q"`, `"--version"`)},
			`the recipe of "test" in justfile`},
		{"just: what is needed", "just test",
			files{"justfile": swap(before["justfile"], "build:\n    true", "build:\n    false")},
			`the recipe of "test" in justfile`},
		{"just: another", "just test", files{"justfile": swap(before["justfile"], "other:\n    true", "other:\n    false")},
			""},
		{"task", "task test", files{"Taskfile.yml": "tasks: {}\n"}, "Taskfile.yml was changed"},
		{"nox", "nox -s tests", files{"noxfile.py": "x = 2\n"}, "noxfile.py was changed"},
	}
	var pairs []pairOfTrees
	for _, c := range rows {
		pairs = append(pairs, pairOfTrees{before, before.with(c.change)})
	}
	for i, changes := range eachBetween(t, pairs) {
		c := rows[i]
		t.Run(c.name, func(t *testing.T) {
			e := &Edited{Changes: changes, Guards: []Guard{{"c", c.line}}}
			v := run(t, e, judged())
			want, soft := strings.CutPrefix(c.want, "soft: ")
			if v.Pass != (c.want == "") || !strings.Contains(v.Reason, want) ||
				!v.Pass && soft != (len(v.Concerns) == 0) {
				t.Errorf("pass %v, %q (%s), want %q", v.Pass, v.Reason, v.Severity, c.want)
			}
			if !v.Pass && !soft && (!strings.Contains(v.PromptText, "Put it back") || len(v.Findings) == 0 ||
				v.Concerns[0].Kind != loop.EditsCheck) {
				t.Errorf("verdict = %+v", v)
			}
		})
	}
}

// TestEditedGoesRoundOnce: what names itself is followed once, and what names very much not to its end.
func TestEditedGoesRoundOnce(t *testing.T) {
	before := files{"a.sh": strings.Repeat("sh b.sh; sh a.sh\n", 5000), "b.sh": "sh a.sh\nmake a\nnpm run a\n",
		"Makefile":     "a: b\n\tsh a.sh\nb: a\n\t$(MAKE) a\nX = $(X) $(Y)\nY = $(X)\n",
		"package.json": `{"scripts":{"a":"npm run a; make a"}}`}
	for i := range 1000 {
		before["a.sh"] += "sh " + strings.Repeat("x", i%50) + "\n"
	}
	for _, line := range []string{"sh a.sh", "make a", "npm run a", strings.Repeat("cd a; ", 1000) + "./a.sh"} {
		e := &Edited{Changes: given("", before, before.with(files{"b.sh": "true\n"})), Guards: []Guard{{"c", line}}}
		if v := run(t, e, judged()); v.Pass {
			t.Errorf("%.20s: %+v", line, v)
		}
	}
}

// FuzzEdited: a file that a check reads can hold anything.
func FuzzEdited(f *testing.F) {
	f.Add("make -C a b", "b: c ; d\n\t$(X)\nX=${X\ndefine a\n", "{\"scripts\":{\"a\":1}}")
	f.Add("just x", "@x y='1': (b c)\n  {{ a }}\n", "{")
	f.Add("npm run a", ": :\n=\n:=\n", "{\"scripts\":{\"a\":\"sh -c 'npm run a'\"}}")
	f.Fuzz(func(t *testing.T, line, makefile, manifest string) {
		before := files{"Makefile": makefile, "justfile": makefile, "a.sh": makefile, "package.json": manifest}
		e := &Edited{Changes: given("", before, files{"Makefile": line}),
			Guards: []Guard{{"c", line}, {"d", "make a; just b; npm test; sh a.sh"}}}
		run(t, e, judged())
	})
}
