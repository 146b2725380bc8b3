package wording

import (
	"testing"
)

func TestRisk(t *testing.T) {
	kinds := []string{"CI", "steers", "secrets", "dependencies", "build", "test", "ordinary"}
	for file, want := range map[string]string{
		".github/workflows/ci.yml": "CI", ".github/CODEOWNERS": "CI", "sub/action.yml": "CI", "Jenkinsfile": "CI",
		".gitlab-ci.yml":        "CI",
		".claude/settings.json": "steers", "AGENTS.md": "steers", ".ralph/settings.json": "steers",
		".gitattributes": "steers",
		".env":           "secrets", "deploy/key.pem": "secrets", ".env.local": "secrets",
		"go.sum": "dependencies", "web/package-lock.json": "dependencies", "vendor/x/y.go": "dependencies",
		"Makefile": "build", "go.mod": "build", "sub/package.json": "build", "Dockerfile": "build", "scripts/x.sh": "build",
		"Cargo.toml": "build",
		"a_test.go":  "test", "src/a.test.ts": "test", "tests/x.py": "test", "test_x.py": "test", ".golangci.yml": "test",
		"testdata/x": "test",
		"main.go":    "ordinary", "docs/testing.md": "ordinary", "contest/a.go": "ordinary", "src/environment.ts": "ordinary",
		"keys.go": "ordinary",
	} {
		if got := kinds[RiskOf(file)]; got != want {
			t.Errorf("%s is %s, want %s", file, got, want)
		}
	}
}
