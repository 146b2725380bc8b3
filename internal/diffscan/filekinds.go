package diffscan

import (
	"path"
	"strings"
)

// isTest reports whether a file is one of tests, by its name or its place.
func isTest(name string) bool { return collected.MatchString(name) || testPlace.MatchString(name) }

var (
	foreign  = lazy(`(?:^|/)(?:vendor|node_modules|third_party|bower_components|\.venv|venv|site-packages)/`)
	fixtures = lazy(`(?:^|/)(?:testdata|fixtures?|__fixtures__|__mocks__|golden|samples?|examples?)/`)
	prose    = lazy(
		`(?i)\.(?:md|markdown|mdx|rst|adoc|txt|tex|html?|svg|csv|tsv|patch|diff|snap|lock|ipynb|po|pot)$|(?:^|/)(?:docs?|licenses?)/|(?:^|/)(?:LICEN[SC]E|CHANGELOG|AUTHORS|NOTICE)[^/]*$`)
)

// settingsFile matches the files that say how strictly tests, linters and coverage judge.
var settingsFile = lazy(
	`(?:^|/)(?:package\.json|(?:jest|vitest|vite|karma|cypress|playwright|eslint|ava|wdio|babel)\.(?:config|conf)\.[cm]?[jt]s(?:on)?|\.(?:nyc|c8|eslint|mocha|pylint|coverage|stylelint)rc[^/]*|` +
		`tsconfig[^/]*\.json|biome\.jsonc?|\.golangci\.(?:ya?ml|toml|json)|\.testcoverage\.ya?ml|codecov\.ya?ml|\.codecov\.ya?ml|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|\.?ruff\.toml|\.flake8|mypy\.ini|\.pre-commit-config\.ya?ml|` +
		`tarpaulin\.toml|\.tarpaulin\.toml|clippy\.toml|\.cargo/config\.toml|pom\.xml|build\.gradle(?:\.kts)?|[^/]*\.csproj|Directory\.Build\.props|[^/]*\.runsettings|\.rubocop\.ya?ml|\.rspec|\.simplecov|spec_helper\.rb|test_helper\.rb|` +
		`phpunit\.xml(?:\.dist)?|phpstan\.neon(?:\.dist)?|infection\.json5?|noxfile\.py|[Mm]akefile|GNUmakefile|[^/]*\.mk|[jJ]ustfile|Taskfile\.ya?ml|\.gitlab-ci\.ya?ml|Jenkinsfile|\.travis\.yml|azure-pipelines\.ya?ml|sonar-project\.properties)$|` +
		`(?:^|/)\.(?:github/workflows|circleci)/[^/]*\.ya?ml$|(?:^|/)(?:ci|scripts|\.ci|bin|build|hack|tools)/[^/]*\.sh$|(?:^|/)[^/]*(?:test|check|lint|ci|coverage)[^/]*\.sh$`)

// source matches files of programs, by their extensions.
var source = lazy(`\.(?:go|pyi?|[cm]?[jt]sx?|vue|svelte|rb|rs|java|kts?|scala|groovy|clj[cs]?|c|cc|cpp|cxx|h|hh|hpp|m|mm|cs|fs|vb|swift|` +
	`php|pl|pm|lua|[rRdsS]|jl|dart|zig|nim|cr|mli?|hs|elm|erl|hrl|exs?|lisp|scm|rkt|f90|ad[bs]|pas|sql|sh|bash|ps1|s?css|less|sol|proto|graphql|tcl|awk)$`)

// Judges reports whether a file says how strictly tests, linters and coverage judge.
func Judges(name string) bool { return isSetting(name) || toldBy.MatchString(name) }

// Configures reports whether a file is more likely to configure tools, or to be their data, than to be a product's source
// or prose.
func Configures(name string) bool {
	return Judges(name) || !source.MatchString(name) && !prose.MatchString(name)
}

func isSetting(name string) bool {
	switch path.Ext(name) { // most files, told at once
	case ".go", ".rs", ".java", ".c", ".h", ".cpp", ".php", ".cs", ".md", ".tsx", ".jsx", ".css", ".html", ".txt":
		return false
	}
	return settingsFile.MatchString(name) && !foreign.MatchString(name)
}

var (
	// collected matches the names by which test runners find tests.
	collected = lazy(`(?:^|/)(?:` + strings.Join([]string{
		`[^/]*_test\.(?:go|dart|exs|clj[cs]?|rs|lua|zig|nim|cr|ml|hs|lisp|py|rb|php|sh|d)`,
		`(?:test_[^/]*|tests)\.(?:py|rb|lua|sh|ml|exs|nim|rs)`,
		`[^/]*[._-](?:test|spec|cy|e2e)\.[cm]?[jt]sx?`, `(?:test|tests)\.[cm]?[jt]sx?`,
		`[^/]*_spec\.(?:rb|lua|cr|moon|py)`,
		`(?:Test[A-Z][^/]*|[^/]*(?:Tests?|TestCase|IT|ITCase|Spec|Suite))\.(?:java|kts?|scala|groovy|cs|fs|vb|swift|php|hs|m)`,
		`[^/]*(?:_SUITE|_tests)\.erl`, `[^/]*\.(?:t|bats|phpt|feature|test|testscript|txtar)`,
		`(?:tests?[_-][^/]*|[^/]*[_-](?:unit)?tests?|[^/]*(?:Test|Tests)|tests?)\.(?:c|cc|cpp|cxx|m|sh|bash|R|r|pl|f90|adb|pas)`,
	}, "|") + `)$`)
	// testPlace matches what is where tests and what they need lie.
	testPlace = lazy(`(?:^|/)(?:tests?|__tests__|__snapshots__|__mocks__|__fixtures__|testdata|test[-_]data|fixtures?|` +
		`goldens?|snapshots?|testsuite|unittests?|e2e|cypress|t|[^/]+\.Tests?)/|(?:^|/)(?:specs?)/.*\.(?:rb|[cm]?[jt]sx?|lua|cr|json|ya?ml|snap)$|` +
		`\.(?:snap|golden|approved\.[^/.]+)$`)
	// toldBy matches the files that say to a test runner what to run, and nothing else to anyone.
	toldBy = lazy(
		`(?:^|/)(?:conftest\.py|pytest\.(?:ini|toml)|\.pytest\.ini|tox\.ini|nose2?\.cfg|unittest\.cfg|\.coveragerc|` +
			`(?:jest|vitest|karma|ava|cypress|playwright|wdio|nightwatch)[^/]*\.(?:config|conf|workspace|setup)\.(?:[cm]?[jt]s|json)|` +
			`vitest\.(?:workspace|setup)\.[^/]*|(?:jest|test|vitest)[.-]?setup\.[cm]?[jt]s|` +
			`\.mocharc[^/]*|mocha\.opts|\.taprc|\.nycrc[^/]*|\.c8rc[^/]*|\.rspec|spec_helper\.rb|rails_helper\.rb|test_helper\.(?:rb|exs)|phpunit\.xml(?:\.dist)?|` +
			`\.proverc|\.busted|\.luacov|testng[^/]*\.xml|junit-platform\.properties|nextest\.toml|CTestCustom\.cmake|` +
			`[^/]*\.runsettings|xunit\.runner\.json|dart_test\.yaml|\.env\.test|karma\.conf\.[cm]?[jt]s)$`)
)
