package diffscan

import (
	"path"
	"slices"
	"strings"
)

// aSteering is a line by which someone other than the checks' owner decides what runs, or how it ends.
type aSteering struct {
	file *pattern // the files in which it means that
	line *pattern
	says string
}

const (
	picks = "decides which tests run"
	ends  = "ends tests before they are over, or decides how they end"
	finds = "decides which programs a check runs, or what they load first"
)

// variables of the environment that decide which programs run and what they load or leave out.
const variables = `(?:PATH|PYTHONPATH|PYTHONSTARTUP|PYTHONHOME|PYTEST_ADDOPTS|PYTEST_PLUGINS|` +
	`NODE_OPTIONS|NODE_PATH|GOFLAGS|LD_PRELOAD|LD_LIBRARY_PATH|DYLD_INSERT_LIBRARIES|` +
	`PERL5OPT|PERL5LIB|HARNESS_OPTIONS|RUBYOPT|RUBYLIB|SPEC_OPTS|TESTOPTS|` +
	`JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|` +
	`MAVEN_OPTS|MAVEN_ARGS|GRADLE_OPTS|BASH_ENV|RUSTC_WRAPPER|CARGO_TARGET_\w+_RUNNER|LUA_PATH|LUA_INIT)`

var steerings = []aSteering{
	{lazy(`(?:^|/)(?:\.env[^/]*|\.envrc|env(?:ironment)?\.sh|[^/]*\.mk|GNUmakefile|[mM]akefile|[jJ]ustfile|tox\.ini)$|` +
		`(?:^|/)(?:ci|scripts|\.ci|hack|tools)/[^/]*\.sh$|(?:^|/)[^/]*(?:test|check|lint)[^/]*\.sh$`),
		lazy(`^\s*(?:(?:export|override|set)\s+)*["']?` + variables + `["']?\s*(?:[:?+]{0,3}=)`), finds},
	{lazy(`(?:^|/)\.npmrc$`), lazy(`^\s*(?:script-shell|node-options|shell|ignore-scripts)\s*=`), finds},
	{lazy(`(?:^|/)\.cargo/config(?:\.toml)?$`),
		lazy(`^\s*(?:runner|rustc|rustc-wrapper|rustc-workspace-wrapper|rustdoc)\s*=`), finds},
	{lazy(`(?:^|/)\.proverc$`), lazy(`^\s*-`), finds},
	{lazy(`(?:^|/)\.mvn/(?:maven|jvm)\.config$`),
		lazy(`-Dtest\b|-DskipTests|-Dmaven\.test|-D(?:excludedG|g)roups|-fn\b|-javaagent`),
		picks},
	{lazy(`(?:^|/)pom\.xml$`), lazy(`<(?:excludedGroups|groups|test)>|<exclude>[^<]*(?:Test|IT|Spec)`), picks},
	{lazy(`(?:^|/)build\.gradle(?:\.kts)?$`),
		lazy(`\b(?:excludeTags|includeTags|excludeTestsMatching|includeTestsMatching)\b`),
		picks},
	{lazy(`(?:^|/)junit-platform\.properties$`), lazy(`conditions\.deactivate|discovery`), picks},
	{lazy(`(?:^|/)\.rspec$`), lazy(`(?:^|\s)(?:--(?:pattern|exclude-pattern|tag|example|dry-run)|-[PteE])\b`), picks},
	{lazy(`(?:^|/)\.busted$`), lazy(`\b(?:pattern|ROOT|exclude-tags|exclude-names|filter|filter-out|tags|name)\b`),
		picks},
	{lazy(`(?:^|/)(?:(?:jest|vitest|karma|ava|playwright|cypress)\.` +
		`(?:config|conf)\.[cm]?[jt]s(?:on)?|\.mocharc[^/]*|package\.json)$`),
		lazy(`["']?\b(?:testPathIgnorePatterns|modulePathIgnorePatterns|testMatch|testRegex|roots|` +
			`setupFiles|globalSetup|testRunner|runner|testNamePattern|` +
			`testIgnore|grepInvert|excludeSpecPattern|passWithNoTests)\b["']?\s*:`), picks},
	{lazy(`(?:^|/)(?:\.?pytest\.(?:ini|toml)|tox\.ini|setup\.cfg|pyproject\.toml)$`),
		lazy(`^\s*(?:python_files|python_functions|python_classes|norecursedirs|testpaths|collect_ignore)\s*=`), picks},
	{lazy(`(?:^|/)(?:conftest|test_[^/]*|[^/]*_test)\.py$|(?:^|/)tests?/.*\.py$`),
		lazy(`^\s*def (?:load_tests|pytest_(?:collection_modifyitems|ignore_collect|collect_file|collectstart|` +
			`itemcollected|pycollect_makeitem|pyfunc_call|` +
			`sessionfinish|runtest_\w+|report_teststatus))\b|` +
			`^collect_ignore(?:_glob)?\b|^(?:del )?[A-Z]\w*\.test_\w+\s*(?:=|$)`), picks},
	{lazy(`(?:^|/)(?:conftest|test_[^/]*|[^/]*_test)\.py$|(?:^|/)tests?/.*\.py$`),
		lazy(`\bos\._exit\(|\bpytest\.exit\(|\batexit\.register\(`), ends},
	{lazy(`_test\.go$`), lazy(`\bflag\.Set\("test\.`), picks},
	{lazy(`_test\.go$`), lazy(`\bos\.Exit\(0\)`), ends},
	{lazy(`\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)(?:__tests__|tests?)/.*\.[cm]?[jt]sx?$`),
		lazy(`\bprocess\.(?:exit|reallyExit|exitCode)\b`), ends},
	{lazy(`(?:^|/)(?:t|xt)/.*\.t$`), lazy(`\bskip_all\b|^\s*(?:local\s+)?\$TODO\b|^\s*exit\b|^\s*\*[\w:]+\s*=`), ends},
	{lazy(`_(?:spec|test)\.rb$|(?:^|/)(?:spec|test)/.*\.rb$`), lazy(`^\s*(?:exit!?|abort|at_exit)\b|^__END__`), ends},
	{lazy(`_spec\.lua$|(?:^|/)(?:spec|tests?)/.*\.lua$`), lazy(`\bos\.exit\(`), ends},
	{lazy(`(?:Tests?|TestCase|IT|Spec)\.(?:java|kt|groovy|scala)$`), lazy(`\bSystem\.exit\(|\bexitProcess\(`), ends},
	{lazy(`(?:Tests?|TestCase|IT|Spec)\.(?:java|kt|groovy|scala)$`), lazy(`^@(?:[\w.]+\.)?(?:Disabled|Ignore)\w*`),
		picks},
	{lazy(`(?:^|/)(?:test_[^/]*|[^/]*_test)\.(?:sh|bash)$|(?:^|/)tests?/.*\.(?:sh|bash|bats)$`),
		lazy(`^\s*exit 0\b|\btrap\b.*\bexit 0\b`), ends},
}

// shadows are files that are found before what a check means: programs that a runner's own directory offers, and
// modules that Python loads before any other.
var shadows = lazy(
	`(?:^|/)(?:node_modules/\.bin|\.?venv/bin|\.?venv/Scripts|vendor/bin)/[^/]+$|` +
		`(?:^|/)(?:sitecustomize|usercustomize)\.py$`)

// steered finds new lines and files that decide what checks run. A line that was only moved does not count.
func (d *Change) steered() (weakenings []Weakening) {
	old := d.takenOut()
	for _, f := range d.files {
		add := func(n int, message string) {
			weakenings = append(weakenings, Weakening{kind: steering, File: f.name, Line: n, Message: message})
		}
		if f.added && shadows.MatchString(f.name) {
			add(0, "is found before the program or module that a check means")
		}
		if f.added && path.Base(f.name) == "go.mod" && path.Dir(f.name) != "." && !d.hasNewBelow(path.Dir(f.name),
			".go") {
			add(0, "makes a module of its own, whose tests a run above it leaves out")
		}
		for _, s := range steerings {
			if !s.file.MatchString(f.name) || foreign.MatchString(f.name) {
				continue
			}
			for _, h := range f.hunks {
				for _, l := range h.new {
					if text := clip(l.text); s.line.MatchString(text) && !isComment(text) && !old[strings.TrimSpace(text)] {
						add(l.n, s.says+": "+quote(text))
					}
				}
			}
		}
	}
	return weakenings
}

// takenOut are the lines that the change has taken out anywhere, trimmed.
func (d *Change) takenOut() map[string]bool {
	old := map[string]bool{}
	for _, f := range d.files {
		for _, h := range f.hunks {
			for _, l := range h.old {
				old[strings.TrimSpace(clip(l.text))] = true
			}
		}
	}
	return old
}

// hasNewBelow reports whether the change adds a file with that ending below a directory.
func (d *Change) hasNewBelow(dir, ending string) bool {
	return slices.ContainsFunc(d.files, func(f *fileDiff) bool {
		return f.added && strings.HasPrefix(f.name, dir+"/") && strings.HasSuffix(f.name, ending)
	})
}
