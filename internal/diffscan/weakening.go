package diffscan

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Weakenings finds everything that was made weaker: what lets more through first.
func (d *Change) Weakenings() []Weakening { return slices.Concat(d.lowered(), d.silenced(), d.asked()) }

// Weakening is one thing that was made weaker.
type Weakening struct {
	File    string
	Line    int // in the new file; 0: the line is gone, or it is about the whole file
	Message string
}

// aSilencer keeps a tool from speaking of one place.
type aSilencer struct {
	endings string // of the files in which it means something; empty: where settings and commands stand
	code    bool   // it is no comment
	pattern *pattern
}

const scripts = ".js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte "

var silencers = []aSilencer{
	{".go ", false, lazy(`//\s*nolint\b|//\s*#nosec\b|//lint:ignore\b`)},
	{".py .pyi ", false, lazy(
		`#\s*(?:noqa|NOQA)\b|#\s*pylint:\s*disable|#\s*type:\s*ignore|#\s*pyright:\s*ignore|#\s*pragma:\s*no cover|#\s*nosec\b|#\s*ruff:\s*noqa`)},
	{scripts, false, lazy(
		`\beslint-disable|@ts-(?:ignore|expect-error|nocheck)\b|(?:istanbul|c8|v8) ignore\b|biome-ignore\b`)},
	{".rs ", true, lazy(`^\s*#!?\[\s*(?:allow|expect)\(`)},
	{".java .kt .kts .groovy .scala ", true, lazy(`^\s*@Suppress(?:Warnings|FBWarnings|Lint)?\(`)},
	{".java .kt .kts .groovy .scala .cs ", false, lazy(`//\s*NOSONAR|//\s*noinspection`)},
	{".rb ", false, lazy(`rubocop:\s*(?:disable|todo)|:nocov:`)},
	{".php ", false, lazy(`@phpstan-ignore|phpcs:(?:ignore|disable)|@psalm-suppress|@codeCoverageIgnore`)},
	{".cs ", true, lazy(`^\s*#pragma warning disable|\[SuppressMessage\(|\[ExcludeFromCodeCoverage`)},
	{".sh .bash ", false, lazy(`#\s*shellcheck disable`)},
	{"", true,
		lazy(
			`\|\|\s*(?:true|:|exit 0)(?:\s|$|["';)])|;\s*(?:true|exit 0)\s*["']?\s*$|^\s*set \+e\b|continue-on-error:\s*true|allow_failure:\s*true|^\t-\S`)},
	{"", true, lazy(
		`["']strict\w*["']\s*:\s*false|["']no[A-Z]\w+["']\s*:\s*false|\b(?:ignore_errors|ignore_missing_imports)\s*=\s*[Tt]rue|\bissues-exit-code:\s*0|\bdisable-all:\s*true|^\s*default:\s*none|` +
			`^\s*Enabled:\s*false|\bignoreFailures\s*=\s*true|failOnViolation\s*=\s*false|<(?:skipTests|skip|testFailureIgnore|skipITs)>\s*true|-D(?:skipTests|maven\.test\.skip|maven\.test\.failure\.ignore)\b|[pP]assWithNoTests|check-coverage["']?\s*:\s*false|` +
			`--(?:ignore|deselect)[= ]|(?:^|\s)-k ["']?not\b|--no-cov\b|-p no:|--no-verify\b|--exit-zero\b|--testPathIgnorePatterns|-tags[= ]|-short\b|-skip[= ]|--skip[= ]`)},
	{"", true, lazy(
		`["']([@\w/-]+)["']\s*:\s*\[?\s*(?:["'](?:off|warn)["']|0\b)|^\s*([@\w/-]+)\s*:\s*\[?\s*(?:["'](?:off|warn)["']|off\b)`)},
}

// silenced finds added lines that keep a tool quiet. A silencer that went away is set against each: the line was moved or
// edited; against one with the same words first.
func (d *Change) silenced() (found []Weakening) {
	type silencing struct {
		silencer string
		Weakening
	}
	var added []silencing
	gone := map[string]int{} // silencers, and lines with them
	for _, f := range d.files {
		if foreign.MatchString(f.name) || fixtures.MatchString(f.name) || prose.MatchString(f.name) {
			continue
		}
		setting := isSetting(f.name)
		for _, h := range f.hunks {
			for _, l := range h.old {
				for _, s := range silencersIn(f.name, l.text, setting) {
					gone[s]++
					gone[s+quote(l.text)]++
				}
			}
			for _, l := range h.new {
				for _, s := range silencersIn(f.name, l.text, setting) {
					added = append(added, silencing{s, Weakening{File: f.name, Line: l.n,
						Message: "silences what judges: " + quote(l.text)}})
				}
			}
		}
	}
	added = slices.DeleteFunc(added, func(s silencing) bool {
		line := s.silencer + strings.TrimPrefix(s.Message, "silences what judges: ")
		if gone[line]--; gone[line] < 0 {
			return false
		}
		gone[s.silencer]--
		return true
	})
	for _, s := range added {
		if gone[s.silencer]--; gone[s.silencer] < 0 {
			found = append(found, s.Weakening)
		}
	}
	return slices.Compact(found)
}

// silencersIn are the parts of a line that keep a tool quiet.
func silencersIn(name, text string, setting bool) (all []string) {
	text = clip(text)
	_, comment := splitComment(name, text)
	for _, s := range silencers {
		in := path.Ext(name) != "" && strings.Contains(s.endings, strings.ToLower(path.Ext(name))+" ")
		if s.endings == "" {
			in = setting && !isComment(text)
		}
		if of := map[bool]string{true: text, false: comment}[s.code]; in {
			all = append(all, s.pattern.FindAllString(of, 20)...)
		}
	}
	return all
}

// thresholds match a limit: its name and its number.
var thresholds = all(
	`(--cov-fail-under|--fail-under(?:-\w+)?|--min(?:-coverage|-msi|-covered-msi)?|--(?:branches|functions|lines|statements))[= ](\d+(?:\.\d+)?)`,
	`\b(fail[_-]under|minimum_coverage(?:_by_file)?|minCoverage|minMsi|minCoveredMsi)["']?\s*[:=( ]\s*(?:line:\s*)?(\d+(?:\.\d+)?)`,
	`["']?\b(branches|functions|lines|statements)["']?\s*:\s*(\d+(?:\.\d+)?)`,
	`<(minimum|Threshold|minimumCoverage|mutationThreshold|coverageThreshold)>(\d+(?:\.\d+)?)`,
	`\b(minimum)\s*=\s*"?(\d+(?:\.\d+)?)`,
	`[/-]p:(Threshold)=(\d+)`,
	`\b(target)["']?\s*:\s*["']?(\d+(?:\.\d+)?)%`,
	`(?i)\b(\w*cov(?:erage)?_?(?:min|minimum|threshold|limit)\w*|min(?:imum)?_?cov(?:erage)?|coverage-threshold|threshold-(?:total|file|package))["']?\s*[:=]+\s*["']?(\d+(?:\.\d+)?)`,
	`^\s*(total|file|package)\s*:\s*(\d+)\s*$`,
)

// ceilings are limits that are lowered by a greater number.
var ceilings = all(`(--max-warnings)[= ](\d+)`, `["']?\b(max-complexity|max-warnings)["']?\s*[:=]\s*(\d+)`)

// loosens matches the key of a list that names what is no longer judged.
var loosens = lazy(`^\s*["']?(?:extend[-_])?(?:ignore|ignores|(?:per[-_]file[-_])?ignores|disable|disabled|disable_error_code|exclude|excludes|exclude-dirs|exclude-files|skip-dirs|skip-files|exclude-functions|` +
	`omit|ignorePatterns|ignoreErrors|Exclude)["']?\s*[:=]`)

// lowered finds settings of both commits that judge less now: easier thresholds, and lists that leave something out.
func (d *Change) lowered() (found []Weakening) {
	for _, f := range d.files {
		if !isSetting(f.name) || f.added || f.deleted {
			continue
		}
		add := func(n int, format string, args ...any) {
			found = append(found, Weakening{File: f.name, Line: n, Message: fmt.Sprintf(format, args...)})
		}
		var old, now []line
		for _, h := range f.hunks {
			old, now = append(old, h.old...), append(now, h.new...)
		}
		compareLimits(old, now, thresholds, 1, add)
		compareLimits(old, now, ceilings, -1, add)
		for _, l := range now {
			key := loosens.FindString(clip(l.text))
			if key != "" && !slices.ContainsFunc(old, func(o line) bool { return strings.HasPrefix(o.text, key) }) {
				add(l.n, "something is left out now: %s", quote(l.text))
			}
		}
	}
	return found
}

// compareLimits finds the limits that are easier; sign says in which direction that is.
func compareLimits(before, after []line, patterns []*pattern, sign float64, add func(n int, format string, args ...any)) {
	old, now := limits(before, patterns), limits(after, patterns)
	for _, key := range slices.Sorted(maps.Keys(old)) {
		a, b := old[key], now[key]
		if len(b) < len(a) {
			add(0, "the threshold %s of %v is gone", quote(key), a[0].value)
			continue
		}
		for i := range a {
			if (b[i].value-a[i].value)*sign < 0 {
				add(b[i].n, "the threshold %s went from %v to %v", quote(key), a[i].value, b[i].value)
			}
		}
	}
}

type limit struct {
	n     int
	value float64
}

func limits(lines []line, patterns []*pattern) map[string][]limit {
	found := map[string][]limit{}
	for _, l := range lines {
		if isComment(l.text) {
			continue
		}
		for _, p := range patterns {
			for _, m := range p.FindAllStringSubmatch(clip(l.text), 10) {
				if value, err := strconv.ParseFloat(m[2], 64); err == nil {
					found[m[1]] = append(found[m[1]], limit{l.n, value})
				}
			}
		}
	}
	return found
}

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
		if path.Ext(f.name) == "" || commentMarks(f.name) == nil || beside.MatchString(f.name) || isSetting(f.name) ||
			foreign.MatchString(f.name) || fixtures.MatchString(f.name) || prose.MatchString(f.name) {
			continue
		}
		for _, h := range f.hunks {
			for _, l := range h.new {
				text := clip(l.text)
				if code, _ := splitComment(f.name, text); asksForTests.MatchString(code) && !old[strings.TrimSpace(text)] {
					weakenings = append(weakenings, Weakening{File: f.name, Line: l.n,
						Message: "the code asks whether tests or a build run it: " + quote(text)})
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
