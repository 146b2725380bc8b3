package failure

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
)

// testNames gathers the tests that an output names, with how each ended.
type testNames struct {
	named map[string]byte // 'p', 'f' or 's', by name; of a test that is named twice, the worse
	bytes int
	cut   bool
	open  []string // of go test: those whose package has not been named
	last  string   // the line before, for results on two lines
}

// names tells the names; nil when none were read.
func (n *testNames) names() *loop.TestNames {
	if len(n.named) == 0 && !n.cut {
		return nil
	}
	names := &loop.TestNames{Cut: n.cut}
	for _, name := range slices.Sorted(maps.Keys(n.named)) {
		how := n.named[name]
		name = strings.TrimPrefix(name, "\t") // of a package that no one named
		switch how {
		case 'f':
			names.Failed = append(names.Failed, name)
		case 's':
			names.Skipped = append(names.Skipped, name)
		default:
			names.Passed = append(names.Passed, name)
		}
	}
	return names
}

// add keeps a test.
func (n *testNames) add(name string, how byte) {
	name = strings.Trim(name, " ")
	if name == "" || len(name) > mostMessage {
		n.cut = n.cut || name != ""
		return
	}
	if n.named == nil {
		n.named = map[string]byte{}
	}
	old, there := n.named[name]
	if !there && (len(n.named) >= loop.MaxTestNames || n.bytes+len(name) > loop.TestNamesBytes) {
		n.cut = true
		return
	}
	if !there {
		n.bytes += len(name)
	}
	if !there || how == 'f' || old == 's' {
		n.named[name] = how
	}
}

// outcome reads a word or a mark of a test runner; 0: it says nothing of how a test ended.
func outcome(word string) byte {
	switch strings.ToLower(word) {
	case "pass", "passed", "ok", "✓", "✔", "√", "xfail", "xpass", "expected failure", ".":
		return 'p'
	case "fail", "failed", "error", "✕", "✗", "✖", "×", "✘", "***failed", "unexpected success", "f", "e":
		return 'f'
	case "skip", "skipped", "ignored", "○", "◌", "﹣", "↓", "✎", "-", "***skipped", "***not run", "s", "pending":
		return 's'
	}
	return 0
}

// namedBy matches the lines by which runners name one test: the group "name", and the group "how" that outcome reads.
var namedBy = regex.SetOf(
	lazy(`^(?P<name>\S+::.+?) (?P<how>PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)\b`),                                // pytest -v
	lazy(`^(?P<how>PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR) (?P<name>\S+::.+?)(?: - .*)?$`),                       // pytest -rA
	lazy(`^(?P<name>\w+ \([\w.]+\)) \.\.\. (?P<how>ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b`), // unittest -v
	lazy(`^test (?P<name>.+?) \.\.\. (?P<how>ok|FAILED|ignored)\b`),                                               // cargo test
	lazy(`^ +(?P<how>PASS|FAIL|SKIP) \[ *[\d.]+s\] (?:\(.*?\) )?(?P<name>.+)$`),                                   // cargo-nextest
	lazy(`^ *\d+/\d+ Test +#\d+: (?P<name>\S+) \.+ *(?P<how>Passed|\*\*\*Failed|\*\*\*Skipped|\*\*\*Not Run)`),
	lazy(`^  (?P<how>Passed|Failed|Skipped) (?P<name>[\w.+]+(?:\(.*\))?)(?: \[.*\])?$`), // dotnet test
	lazy(`^(?P<name>[\w.$]+(?: > .+?)+) (?P<how>PASSED|FAILED|SKIPPED)$`),               // gradle
	lazy(`^(?P<name>[\w:]+#test_\S+) = [\d.]+ s = (?P<how>[.FES])$`),                    // minitest -v
	lazy(`^#\s+(?P<how>Failed) test '(?P<name>.+)'$`),                                   // Test::More
	lazy(`^\s*(?P<how>[✓✔√✕✗✖×✘○◌﹣↓✎]) (?:skipped |todo )?(?P<name>.+?)(?: \(?[\d.]+ ?m?s\)?)?(?: # (?:SKIP|TODO).*)?$`),
)

var (
	namedGo      = lazy(`^ *--- (PASS|FAIL|SKIP): (\S+)`)
	namedPackage = lazy(`^(?:ok  |FAIL)\t(\S+)`)
	namedDoc     = lazy(`^.* \.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b`)
	namedUnitTop = lazy(`^\w+ \([\w.]+\)$`)
	namedTAP     = lazy(`^ *(not )?ok \d+(?: -)?(?: ([^#\s].*?))?(?:\s+# ((?i)skip|todo)\b.*)?$`)
	fileOfTests  = lazy(`\(\d+ tests?\b|^\d+ \w+$`)
)

// line reads one line.
func (n *testNames) line(s string) {
	before := n.last
	n.last = s
	switch {
	case strings.Contains(s, "--- "):
		if m := namedGo.FindStringSubmatch(s); m != nil {
			n.add("\t"+m[2], outcome(m[1]))
			if len(n.open) < loop.MaxTestNames {
				n.open = append(n.open, m[2])
			}
		}
	case len(n.open) > 0 && strings.Contains(s, "\t"):
		if m := namedPackage.FindStringSubmatch(s); m != nil {
			n.inPackage(m[1])
		}
	case strings.HasPrefix(s, `{"`):
		n.event(s)
	case strings.Contains(s, " ... ") && namedUnitTop.MatchString(before):
		if m := namedDoc.FindStringSubmatch(s); m != nil {
			n.add(before, outcome(m[1]))
		}
	case strings.Contains(s, "ok "):
		if m := namedTAP.FindStringSubmatch(s); m != nil {
			n.add(m[2], pointOutcome(m[1], m[3]))
		}
	default:
		n.plain(s)
	}
}

// pointOutcome is how a point of TAP ended, by its "not " and its directive.
func pointOutcome(not, directive string) byte {
	switch {
	case directive != "":
		return 's'
	case not != "":
		return 'f'
	}
	return 'p'
}

// inPackage gives the tests that go test has named to their package, whose line comes after theirs.
func (n *testNames) inPackage(name string) {
	for _, test := range n.open {
		if how, ok := n.named["\t"+test]; ok {
			delete(n.named, "\t"+test)
			n.bytes -= len(test) + 1
			n.add(name+"\t"+test, how)
		}
	}
	n.open = nil
}

// event reads a line of go test -json.
func (n *testNames) event(s string) {
	e, ok := readEvent(s)
	if how := outcome(e.Action); ok && e.Test != "" && how != 0 {
		n.add(e.Package+"\t"+e.Test, how)
	}
}

// plain reads what one line tells alone.
func (n *testNames) plain(s string) {
	by := namedBy.First(s)
	if by == nil {
		return
	}
	m, names := by.FindStringSubmatch(s), by.Regexp()
	name, how := m[names.SubexpIndex("name")], outcome(m[names.SubexpIndex("how")])
	if how != 0 && !fileOfTests.MatchString(name) {
		n.add(name, how)
	}
}
