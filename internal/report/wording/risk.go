package wording

import (
	"path"

	"github.com/ralph-loop/ralph/internal/regex"
)

func WhyRisky(name string) string {
	if i := RiskOf(name); i < len(risks) {
		return risks[i].why
	}
	return ""
}

// risks says which changed files a reviewer should open first and why, the most dangerous kind first.
var risks = []struct {
	why     string
	pattern *regex.Pattern
}{
	{"runs in CI with this repository's rights",
		regex.Lazy(
			`(?i)^\.github/|^\.gitlab-ci|^\.circleci/|^\.buildkite/|(^|/)(jenkinsfile|action\.ya?ml|azure-pipelines\.ya?ml|\.travis\.yml)$`)},
	{"steers agents, hooks or ralph itself",
		regex.Lazy(
			`(?i)(^|/)(\.ralph|\.claude|\.codex|\.gemini|\.cursor|\.husky|\.githooks|\.devcontainer|\.vscode)/|(^|/)(agents|claude|gemini)\.md$|(^|/)(\.pre-commit-config\.yaml|\.gitattributes|\.gitmodules|\.envrc|codeowners)$`)},
	{"may hold secrets",
		regex.Lazy(`(?i)(^|/)\.env(\.|$)|\.(pem|key|p12|pfx|jks)$|(^|/)(id_rsa|id_ed25519|\.npmrc|\.netrc)$`)},
	{"pins dependencies",
		regex.Lazy(
			`(?i)(^|/)(go\.sum|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|cargo\.lock|poetry\.lock|uv\.lock|pipfile\.lock|gemfile\.lock|composer\.lock|flake\.lock)$|(^|/)(vendor|node_modules)/`)},
	{"is part of the build",
		regex.Lazy(
			`(?i)(^|/)(makefile|gnumakefile|dockerfile[^/]*|containerfile|justfile|taskfile\.ya?ml|go\.(mod|work)|package\.json|cargo\.toml|build\.rs|pyproject\.toml|setup\.(py|cfg)|requirements[^/]*\.txt|pom\.xml|build\.gradle(\.kts)?|cmakelists\.txt|meson\.build|rakefile|gemfile|composer\.json|[^/]*compose\.ya?ml)$|\.(mk|bazel|bzl)$|(^|/)(scripts?|ci)/[^/]*\.(sh|ps1)$|(^|/)(build|release|deploy|install)[^/]*\.(sh|ps1)$`)},
	{"changes a test or a check, which judges the change itself",
		regex.Lazy(
			`(?i)(_test\.\w+|\.(test|spec)\.\w+|(^|/)test_[^/]*\.py|conftest\.py)$|(^|/)(tests?|__tests__|spec|testdata|fixtures|__snapshots__)/|(^|/)(\.golangci\.ya?ml|\.?eslint[^/]*|\.?jest\.config[^/]*|vitest\.config[^/]*|tox\.ini|pytest\.ini|\.rspec|\.coveragerc|\.nycrc[^/]*|tsconfig[^/]*\.json)$`)},
}

// RiskOf is the kind of a file: its place in risks, or len(risks) for an ordinary one.
func RiskOf(file string) int {
	for i, r := range risks {
		if r.pattern.MatchString(path.Clean(file)) {
			return i
		}
	}
	return len(risks)
}

// RiskJudges reports whether the kind of a file is that of tests and of what configures checks: the last of the risks.
func RiskJudges(kind int) bool { return kind == len(risks)-1 }
