package diffscan

import (
	"path"
	"strings"
)

var (
	// asksForTests matches code that asks whether tests run it, or whether it runs in a build.
	asksForTests = lazy(strings.Join([]string{
		`\btesting\.Testing\(\)`, `flag\.Lookup\("test\.`, `os\.Args\[0\].*\btest\b|"\.test"\)`,
		`PYTEST_(?:CURRENT_TEST|VERSION|XDIST_WORKER)`,
		`["'](?:_?pytest|unittest|nose2?)(?:\.\w+)*["']\s+in\s+(?:\w+\.)*sys\.modules`,
		`sys\.modules\b.*["'](?:_?pytest|unittest)`,
		`\bNODE_TEST_CONTEXT\b`, `\b(?:JEST|VITEST|MOCHA)_WORKER_ID\b`, `\benv\.VITEST\b`,
		`typeof\s+(?:jest|describe|vi)\b`,
		`NODE_ENV["'\])]*\s*===?\s*["']test["']`,
		`\bcfg!\(\s*test\s*\)|#\[cfg\(not\(test\)\)\]`, `\bdefined\?\(?\s*(?:::)?(?:RSpec|Minitest|Test::Unit)\b`,
		`\bHARNESS_(?:ACTIVE|VERSION)\b`, `\bBATS_(?:TEST|VERSION|RUN)\w*`, `\bPHPUNIT_\w+|class_exists\(.*\bPHPUnit\b`,
		`Class\.forName\("(?:org\.junit|org\.testng|junit\.)`, `getStackTrace\(\).*\b(?:junit|testng)\b`,
		`XCTestConfigurationFilePath|NSClassFromString\("XCTest`, `\bMix\.env\(?\)?\s*==\s*:test\b`,
		`\bprocess\.env\.CI\b`, `\benviron(?:\.get\(|\[)\s*["']CI["']`, `\b[gG]etenv\(\s*["']CI["']|\bLookupEnv\("CI"\)`,
		`\bENV(?:\.fetch\(|\[)["']CI["']`,
	}, "|"))
	// asksWords: one of them is in every line that asks.
	asksWords = strings.Fields("testing. test. .test args[0] pytest unittest nose node_test worker_id vitest typeof " +
		"node_env cfg defined? harness_ bats_ phpunit junit testng xctest mix.env ci")
	// beside matches files in which such a question is no wonder: tests, and settings of tools.
	beside = lazy(`(?:^|/)(?:tests?|specs?|t|__tests__|e2e|testing|testutils?|test_?support|cypress)/|` +
		`(?:^|/)(?:conftest|test_[^/]*|setup[^/]*|[^/]*_test|` +
		`[^/]*_spec|[^/]*[.-](?:test|spec|setup|config|conf|stories))\.\w+$|\.(?:t|bats)$|` +
		`(?:Test|Tests|TestCase|IT|Spec)\.\w+$|\.\w+rc\.[cm]?[jt]s$`)
)

// asked finds new code that asks whether it is being tested: it may do there what it does nowhere else.
func (d *Change) asked() (weakenings []Weakening) {
	old := d.takenOut()
	for _, f := range d.files {
		if commentsOf[strings.ToLower(path.Ext(f.name))] == "" || beside.MatchString(f.name) || isSetting(f.name) ||
			foreign.MatchString(f.name) || fixtures.MatchString(f.name) || prose.MatchString(f.name) {
			continue
		}
		for _, h := range f.hunks {
			for _, l := range h.new {
				text := clip(l.text)
				if !holdsAny(strings.ToLower(text), asksWords) || old[strings.TrimSpace(text)] {
					continue
				}
				if code, _ := splitComment(f.name, text); asksForTests.MatchString(code) {
					weakenings = append(weakenings, Weakening{kind: asking, File: f.name, Line: l.n,
						Message: "the code asks whether tests or a build run it: " + quote(text)})
				}
			}
		}
	}
	return weakenings
}
