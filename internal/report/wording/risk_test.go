package wording

import (
	"testing"
)

func TestRisk(t *testing.T) {
	kinds := []string{"CI", "steers", "secrets", "dependencies", "build", "test", "ordinary"}
	for file, want := range map[string]string{
		".github/workflows/ci.yml": "CI", ".github/CODEOWNERS": "CI", "sub/action.yml": "CI", ".gitlab-ci.yml": "CI",
		".claude/settings.json": "steers", "AGENTS.md": "steers", ".gitattributes": "steers",
		".env.local": "secrets", "deploy/key.pem": "secrets", "go.sum": "dependencies", "vendor/x/y.go": "dependencies",
		"sub/package.json": "build", "scripts/x.sh": "build", "src/a.test.ts": "test", "tests/x.py": "test",
		"test_x.py": "test", ".golangci.yml": "test", "docs/testing.md": "ordinary", "contest/a.go": "ordinary",
		"src/environment.ts": "ordinary", "keys.go": "ordinary",
	} {
		if got := kinds[RiskOf(file)]; got != want {
			t.Errorf("%s is %s, want %s", file, got, want)
		}
	}
}
