package config

import (
	"slices"
	"testing"
)

func TestDetectChecks(t *testing.T) {
	type files map[string][]byte
	for _, test := range []struct {
		name  string
		files files
		want  []string
	}{
		{"nothing", files{"README.md": nil}, nil},
		{"a Makefile wins", files{"Makefile": []byte("all: build\nlint test: build\n\tgo test\n"), "go.mod": nil}, []string{"make lint", "make test"}},
		{"check and test", files{"Makefile": []byte("check:\n\ttrue\n.PHONY: test\ntest ::\n\ttrue")}, []string{"make check", "make test"}},
		{"an assignment is no target", files{"Makefile": []byte("test := 1\ncheck ::= 2\nlint = 3\n")}, nil},
		{"a recipe line is no target", files{"Makefile": []byte("all:\n\ttest: no\n")}, nil},
		{".PHONY alone is no target", files{"Makefile": []byte(".PHONY: test\n")}, nil},
		{"a last line without an end", files{"GNUmakefile": []byte("test:")}, []string{"make test"}},
		{"a Makefile without test loses", files{"Makefile": []byte("lint:\n\ttrue\n"), "go.mod": nil},
			[]string{"go build ./...", "go vet ./...", "go test ./..."}},
		{"a Makefile without test is better than nothing", files{"Makefile": []byte("lint:\n\ttrue\n")}, []string{"make lint"}},
		{"npm", files{"package.json": []byte(`{"scripts":{"test":"vitest","lint":"eslint .","start":"x"}}`), "package-lock.json": nil},
			[]string{"npm run lint", "npm run test"}},
		{"no lock file", files{"package.json": []byte(`{"scripts":{"build":"tsc"}}`)}, []string{"npm run build"}},
		{"pnpm", files{"package.json": []byte(`{"scripts":{"test":"vitest"}}`), "pnpm-lock.yaml": nil}, []string{"pnpm run test"}},
		{"yarn", files{"package.json": []byte(`{"scripts":{"test":"vitest"}}`), "yarn.lock": nil}, []string{"yarn run test"}},
		{"npm init's own test", files{"package.json": []byte(`{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`)}, nil},
		{"a broken package.json", files{"package.json": []byte(`{`)}, nil},
		{"rust", files{"Cargo.toml": nil}, []string{"cargo build", "cargo test"}},
		{"tox", files{"tox.ini": nil, "pyproject.toml": []byte("[tool.pytest.ini_options]")}, []string{"tox"}},
		{"pyproject with pytest", files{"pyproject.toml": []byte("[tool.pytest.ini_options]")}, []string{"python3 -m pytest"}},
		{"pyproject without", files{"pyproject.toml": []byte("[project]")}, nil},
		{"pytest.ini", files{"pytest.ini": nil}, []string{"python3 -m pytest"}},
		{"maven", files{"pom.xml": nil}, []string{"mvn -B verify"}},
		{"maven wrapper", files{"pom.xml": nil, "mvnw": nil}, []string{"./mvnw -B verify"}},
		{"gradle", files{"build.gradle": nil}, []string{"gradle check"}},
		{"gradle wrapper", files{"build.gradle.kts": nil, "gradlew": nil}, []string{"./gradlew check"}},
		{"two kinds", files{"go.mod": nil, "package.json": []byte(`{"scripts":{"test":"x"}}`)},
			[]string{"go build ./...", "go vet ./...", "go test ./...", "npm run test"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, d := range DetectChecks(test.files) {
				got = append(got, d.Command)
				if d.Why == "" || d.Severity != Hard {
					t.Errorf("%+v lacks a reason or is not hard", d)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestDetectedGuardrailIsComplete(t *testing.T) {
	g := DetectChecks(map[string][]byte{"Cargo.toml": nil})[1].Guardrail()
	if g.Name != "cargo test" || g.FailAction != Append || g.Severity != Hard || g.Timeout == 0 {
		t.Errorf("%+v", g)
	}
}
