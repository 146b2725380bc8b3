package diffscan

import (
	"context"
	"strings"
)

// Bounds of what is compared: a change may be made to keep us busy.
const (
	maxSuites = 400    // files of tests
	maxTests  = 20_000 // tests in all of them

	maxLost = 200 // tests that are gone and looked for elsewhere; those beyond are called deleted
)

// suites are the files of tests that differ, as they were and as they are.
type suites struct{ pairs []pairOf }

// pairOf is one file of tests in both commits; one of them may be empty.
type pairOf struct {
	file     string
	old, new suite
	was, is  bool            // there
	oldLine  map[string]bool // lines, trimmed
	added    string          // the lines that are new, without comments
	table    bool            // there is a loop over cases among them
}

// suites reads the tests that differ. unread counts those that are beyond the limit.
func (d *Change) suites(ctx context.Context) (s suites, unread int, err error) {
	tests := 0
	for _, name := range d.Names {
		l := languageOf(name)
		f := d.byName[name]
		if l == nil || !l.path.MatchString(name) || foreign.MatchString(name) || fixtures.MatchString(name) || f != nil &&
			f.modeOnly {
			continue
		}
		if len(s.pairs) == maxSuites || tests > maxTests {
			unread++
			continue
		}
		p, err := d.pair(ctx, l, name)
		if err != nil {
			return s, unread, err
		}
		tests += len(p.old.tests) + len(p.new.tests)
		s.pairs = append(s.pairs, p)
	}
	return s, unread, nil
}

func (d *Change) pair(ctx context.Context, l *language, name string) (p pairOf, err error) {
	before, was, err := d.before(ctx, name)
	if err != nil {
		return p, err
	}
	after, is, err := d.after(ctx, name)
	if err != nil {
		return p, err
	}
	p = pairOf{file: name, was: was, is: is, old: l.suiteOf(name, before), new: l.suiteOf(name, after),
		oldLine: map[string]bool{}}
	for text := range strings.Lines(before) {
		p.oldLine[strings.TrimSpace(text)] = true
	}
	var added strings.Builder
	for text := range strings.Lines(after) {
		if code := strings.TrimSpace(text); !p.oldLine[code] && !strings.HasPrefix(code, "//") &&
			!strings.HasPrefix(code, "#") {
			added.WriteString(text)
		}
	}
	p.added = added.String()
	p.table = tables.MatchString(p.added)
	return p, nil
}

var (
	tables = lazy(
		`\bfor\b.*\brange\b|parametrize|\.each\b|#\[case|#\[values|@(?:Value|Csv|Method|Enum)Source|\[(?:InlineData|TestCase|DataRow)\b|[dD]ataProvider|->with\(|\bsubTest\(|\.each do\b|\bfor\b.*\bof\b`)
	literals = lazy(`"[^"\s]*"|'[^'\s]*'|\b\d+(?:\.\d+)?\b`)
)
