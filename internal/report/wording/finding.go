package wording

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/regex"
)

func Place(f loop.Finding) string {
	if f.File != "" && f.Line > 0 {
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return cmp.Or(f.File, f.Test)
}

// Said is a finding's message with the rule that it breaks.
func Said(f loop.Finding) string {
	if strings.Contains(f.Message, f.Rule) { // also without a rule
		return f.Message
	}
	return f.Rule + ": " + f.Message
}

// Unplaced is why a check failed without the place that its reason names, where that is in a list of its own.
func Unplaced(c loop.Verdict) string {
	if len(c.Findings) == 0 || c.Findings[0].Message == "" {
		return c.Reason
	}
	first := c.Findings[0]
	for _, shown := range []string{Place(first) + ": " + first.Message, first.Message} {
		if before, ok := strings.CutSuffix(c.Reason, ": "+shown); ok {
			return before
		}
	}
	return c.Reason
}

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

// StoryState is how far a story has come, in a few words.
func StoryState(st plan.Story) string {
	switch {
	case st.AtCap():
		return "auto-approved at the cap"
	case st.ReviewStatus == plan.Approved && st.Passes:
		return "approved"
	case st.Passes:
		return "done"
	case st.ReviewStatus == plan.NeedsReview:
		return "waits for review"
	case st.ReviewStatus == plan.ChangesRequested:
		return "changes requested"
	}
	return "open"
}

// OpenPoints is what a story that was approved at the cap lacks.
func OpenPoints(st plan.Story) string {
	return strings.TrimSpace(strings.TrimPrefix(st.ReviewFeedback, plan.AtCap))
}
