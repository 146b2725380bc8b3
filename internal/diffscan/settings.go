package diffscan

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

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

// switches match settings with which something stops being judged.
var switches = lazy(
	`["']strict\w*["']\s*:\s*false|["']no[A-Z]\w+["']\s*:\s*false|\b(?:ignore_errors|ignore_missing_imports)\s*=\s*[Tt]rue|\bissues-exit-code:\s*0|\bdisable-all:\s*true|^\s*default:\s*none|` +
		`^\s*Enabled:\s*false|\bignoreFailures\s*=\s*true|failOnViolation\s*=\s*false|<(?:skipTests|skip|testFailureIgnore|skipITs)>\s*true|-D(?:skipTests|maven\.test\.skip|maven\.test\.failure\.ignore)\b|[pP]assWithNoTests|check-coverage["']?\s*:\s*false|` +
		`--(?:ignore|deselect)[= ]|(?:^|\s)-k ["']?not\b|--no-cov\b|-p no:|--no-verify\b|--exit-zero\b|--testPathIgnorePatterns|-tags[= ]|-short\b|-skip[= ]|--skip[= ]`)

// off matches a rule that is switched off or reduced to a warning.
var off = lazy(
	`["']([@\w/-]+)["']\s*:\s*\[?\s*(?:["'](?:off|warn)["']|0\b)|^\s*([@\w/-]+)\s*:\s*\[?\s*(?:["'](?:off|warn)["']|off\b)`)

// looser lists name what is no longer judged, stricter ones what is judged.
var (
	looser = lazy(
		`^(?:ignore|ignores|extend[-_]ignore|per[-_]file[-_]ignores|extend[-_]per[-_]file[-_]ignores|disable|disabled|disable_error_code|exclude|excludes|extend[-_]exclude|exclude-dirs|exclude-files|skip-dirs|skip-files|exclude-functions|` +
			`omit|norecursedirs|testPathIgnorePatterns|coveragePathIgnorePatterns|modulePathIgnorePatterns|ignorePatterns|ignoreErrors|collect_ignore|Exclude)$`)
	stricter = lazy(
		`^(?:select|extend[-_]select|enable|testpaths|testMatch|testRegex|python_files|python_functions|python_classes)$`)
	// narrows are lists that judge less by being there at all.
	narrows = lazy(`^(?:testpaths|testMatch|testRegex|python_functions|python_classes)$`)
	// made are things that no one judges.
	made = lazy(
		`^\W*(?:\*\*/)?(?:build|dist|out|target|node_modules|vendor|coverage|\.?venv|generated|gen|migrations|__pycache__|\.git|\.tox|\.next|\.\w+_cache)\W*$|\.pb\.go|_pb2|\.min\.js|\.d\.ts`)
)

// maxSettings is how many files of settings are compared: a change may be made to keep us busy.
const maxSettings = 400

// lowered finds thresholds that became easier, and rules and tests that settings leave out now. unread counts the files
// beyond the limit.
func (d *Change) lowered(ctx context.Context) (weakenings []Weakening, unread int, err error) {
	read := 0
	for _, name := range d.Names {
		if !isSetting(name) {
			continue
		}
		if read++; read > maxSettings {
			unread++
			continue
		}
		before, was, err := d.before(ctx, name)
		if err != nil {
			return nil, unread, err
		}
		after, is, err := d.after(ctx, name)
		if err != nil {
			return nil, unread, err
		}
		add := func(n int, format string, args ...any) {
			weakenings = append(weakenings, Weakening{kind: lowered, File: name, Line: n, Message: fmt.Sprintf(format, args...)})
		}
		if was && is {
			compareLimits(before, after, add)
			compareLists(before, after, add)
		}
		compareSwitches(before, after, add)
	}
	return weakenings, unread, nil
}

type adder func(n int, format string, args ...any)

func compareLimits(before, after string, add adder) {
	for _, c := range []struct {
		patterns []*pattern
		sign     float64
	}{{thresholds, 1}, {ceilings, -1}} {
		old, now := limits(before, c.patterns), limits(after, c.patterns)
		for _, key := range sortedKeys(old) {
			a, b := old[key], now[key]
			if len(b) < len(a) {
				add(0, "the threshold %s of %v is gone", quote(key), a[0].value)
				continue
			}
			for i := range a {
				if (b[i].value-a[i].value)*c.sign < 0 {
					add(b[i].n, "the threshold %s went from %v to %v", quote(key), a[i].value, b[i].value)
				}
			}
		}
	}
}

type limit struct {
	n     int
	value float64
}

func limits(text string, patterns []*pattern) map[string][]limit {
	found := map[string][]limit{}
	n := 0
	for raw := range strings.Lines(text) {
		n++
		if isComment(raw) {
			continue
		}
		for _, p := range patterns {
			for _, m := range p.FindAllStringSubmatch(clip(raw), 10) {
				if value, err := strconv.ParseFloat(m[2], 64); err == nil {
					found[m[1]] = append(found[m[1]], limit{n, value})
				}
			}
		}
	}
	return found
}

func compareLists(before, after string, add adder) {
	old, now := lists(before), lists(after)
	for _, key := range sortedKeys(now) {
		for _, item := range sortedKeys(now[key]) {
			if looser.MatchString(key) && old[key][item] == 0 && !made.MatchString(item) {
				add(now[key][item], "%s is left out now: it is under %s", quote(item), quote(key))
			}
		}
		if narrows.MatchString(key) && len(old[key]) == 0 {
			add(0, "%s limits which tests run now", quote(key))
		}
	}
	for _, key := range sortedKeys(old) {
		for _, item := range sortedKeys(old[key]) {
			if stricter.MatchString(key) && now[key][item] == 0 {
				add(0, "%s is no longer under %s", quote(item), quote(key))
			}
		}
	}
}

var (
	keyLine = lazy(`^\s*(?:-\s+)?["']?([A-Za-z_][\w.-]*)["']?\s*[:=](.*)$`)
	item    = lazy("[^\\s,\\[\\]\"'`{}()]+")
)

// lists reads the listed settings of a file in YAML, TOML, INI or JSON, as far as lines tell: what is behind a key and below it up to
// the next. Each item has its line.
func lists(text string) map[string]map[string]int {
	found := map[string]map[string]int{}
	key, n, deep := "", 0, 0
	for raw := range strings.Lines(text) {
		n++
		raw = clip(strings.TrimRight(raw, "\r\n"))
		if isComment(raw) || strings.TrimSpace(raw) == "" {
			continue
		}
		rest := raw
		if m := keyLine.FindStringSubmatch(raw); m != nil {
			// Below per-file-ignores stand the files, as keys.
			if strings.Contains(key, "per") && indent(raw) > deep || strings.HasPrefix(m[1], "_") {
				rest = m[2]
			} else {
				key, rest, deep = m[1], m[2], indent(raw)
			}
		} else if trimmed := strings.TrimSpace(raw); strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]") &&
			indent(raw) == 0 {
			key = "" // a section
			if looser.MatchString(lastPart(trimmed)) {
				key, deep = lastPart(trimmed), -1
			}
			continue
		}
		if !looser.MatchString(key) && !stricter.MatchString(key) {
			continue
		}
		if i := strings.Index(rest, " #"); i >= 0 {
			rest = rest[:i]
		}
		if found[key] == nil {
			found[key] = map[string]int{}
		}
		for _, one := range item.FindAllString(rest, 200) {
			if one != "-" && one != "=" {
				found[key][one] = n
			}
		}
	}
	return found
}

func lastPart(section string) string {
	section = strings.Trim(section, "[]")
	return section[strings.LastIndexByte(section, '.')+1:]
}

func compareSwitches(before, after string, add adder) {
	old, rules := map[string]int{}, map[string]bool{}
	for raw := range strings.Lines(before) {
		for _, s := range switches.FindAllString(clip(raw), 20) {
			old[s]++
		}
		if rule := group(off, clip(raw)); rule != "" {
			rules[rule] = true
		}
	}
	n := 0
	for raw := range strings.Lines(after) {
		n++
		raw = clip(raw)
		if isComment(raw) {
			continue
		}
		if rule := group(off, raw); rule != "" && !rules[rule] {
			add(n, "the rule %s is off or only warns now", quote(rule))
		}
		for _, s := range switches.FindAllString(raw, 20) {
			if old[s]--; old[s] < 0 {
				add(n, "less is judged: %s", quote(raw))
				break
			}
		}
	}
}
