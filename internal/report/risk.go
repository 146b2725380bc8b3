package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// risks says which changed files a reviewer should open first and why, the most dangerous kind first.
var risks = []struct {
	why     string
	pattern *pattern
}{
	{"runs in CI with this repository's rights",
		lazy(
			`(?i)^\.github/|^\.gitlab-ci|^\.circleci/|^\.buildkite/|(^|/)(jenkinsfile|action\.ya?ml|azure-pipelines\.ya?ml|\.travis\.yml)$`)},
	{"steers agents, hooks or ralph itself",
		lazy(
			`(?i)(^|/)(\.ralph|\.claude|\.codex|\.gemini|\.cursor|\.husky|\.githooks|\.devcontainer|\.vscode)/|(^|/)(agents|claude|gemini)\.md$|(^|/)(\.pre-commit-config\.yaml|\.gitattributes|\.gitmodules|\.envrc|codeowners)$`)},
	{"may hold secrets",
		lazy(`(?i)(^|/)\.env(\.|$)|\.(pem|key|p12|pfx|jks)$|(^|/)(id_rsa|id_ed25519|\.npmrc|\.netrc)$`)},
	{"pins dependencies",
		lazy(
			`(?i)(^|/)(go\.sum|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|cargo\.lock|poetry\.lock|uv\.lock|pipfile\.lock|gemfile\.lock|composer\.lock|flake\.lock)$|(^|/)(vendor|node_modules)/`)},
	{"is part of the build",
		lazy(
			`(?i)(^|/)(makefile|gnumakefile|dockerfile[^/]*|containerfile|justfile|taskfile\.ya?ml|go\.(mod|work)|package\.json|cargo\.toml|build\.rs|pyproject\.toml|setup\.(py|cfg)|requirements[^/]*\.txt|pom\.xml|build\.gradle(\.kts)?|cmakelists\.txt|meson\.build|rakefile|gemfile|composer\.json|[^/]*compose\.ya?ml)$|\.(mk|bazel|bzl)$|(^|/)(scripts?|ci)/[^/]*\.(sh|ps1)$|(^|/)(build|release|deploy|install)[^/]*\.(sh|ps1)$`)},
	{"changes a test or a check, which judges the change itself",
		lazy(
			`(?i)(_test\.\w+|\.(test|spec)\.\w+|(^|/)test_[^/]*\.py|conftest\.py)$|(^|/)(tests?|__tests__|spec|testdata|fixtures|__snapshots__)/|(^|/)(\.golangci\.ya?ml|\.?eslint[^/]*|\.?jest\.config[^/]*|vitest\.config[^/]*|tox\.ini|pytest\.ini|\.rspec|\.coveragerc|\.nycrc[^/]*|tsconfig[^/]*\.json)$`)},
}

// risk is the kind of a file: its place in risks, or len(risks) for an ordinary one.
func risk(file string) int {
	for i, r := range risks {
		if r.pattern.MatchString(path.Clean(file)) {
			return i
		}
	}
	return len(risks)
}

// ranked is a changed file with its risk.
type ranked struct {
	loop.FileChange
	risk int
}

// judges reports whether a file is a test or configures a check: the last of the risks.
func (f ranked) judges() bool { return f.risk == len(risks)-1 }

// ranked are the changed files of the whole run, the riskiest first and the largest first among equals; hidden are
// those that no record names.
func (v View) ranked() (list []ranked, hidden int) {
	files, hidden := v.files()
	for _, f := range files {
		list = append(list, ranked{f, risk(f.Path)})
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.risk, b.risk), cmp.Compare(b.Added+b.Deleted, a.Added+a.Deleted),
			strings.Compare(a.Path, b.Path))
	})
	return list, hidden
}

// riskiest lists all changed files.
func (v View) riskiest(most int) string {
	files, hidden := v.ranked()
	return v.fileList(files, hidden, most)
}

// fileList lists files; hidden are those that no record names.
func (v View) fileList(files []ranked, hidden, most int) string {
	if len(files) == 0 || most == 0 {
		return ""
	}
	var b strings.Builder
	for i, f := range files {
		if i == most {
			hidden += len(files) - most
			break
		}
		b.WriteString(v.fileLine(f))
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "- and %s more\n", safetext.Count(hidden, "file"))
	}
	return b.String()
}

func (v View) fileLine(f ranked) string {
	line := "- " + v.code(f.Path, 150)
	if f.Added < 0 {
		line += " (binary)"
	} else {
		line += fmt.Sprintf(" (+%d −%d)", f.Added, f.Deleted)
	}
	switch {
	case f.judges() && f.Added >= 0 && f.Deleted == 0:
		line += " — adds to a test or a check"
	case f.risk < len(risks):
		line += " — ⚠️ " + risks[f.risk].why
	}
	return line + "\n"
}

// files adds up what all iterations changed; hidden counts files that no record names.
func (v View) files() (files []loop.FileChange, hidden int) {
	at := map[string]int{}
	for _, it := range v.State.Iterations {
		if it.Commit == nil {
			continue
		}
		hidden += it.Commit.MoreFiles
		for _, f := range it.Commit.Files {
			i, seen := at[f.Path]
			if !seen {
				at[f.Path] = len(files)
				files = append(files, f)
				continue
			}
			if f.Added < 0 || files[i].Added < 0 {
				files[i].Added, files[i].Deleted = -1, -1
				continue
			}
			files[i].Added += f.Added
			files[i].Deleted += f.Deleted
		}
	}
	return files, hidden
}
