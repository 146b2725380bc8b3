package engine

import (
	"context"
	"path"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/regex"
)

var (
	identifier = regex.Lazy(`^[\p{L}_$][\p{L}\p{N}_$]*$`)
	// defines matches a line that defines something, in any of the languages that have a word for it; the last group is
	// its name.
	defines = regex.Lazy(
		`(?:^|[\s(;{])(?:#define|func|function\*?|type|class|def|const|static|var|let|fn|struct|interface|enum|trait|impl|mod|module|record|protocol|extension|sub)\s+(?:\([^()]*\)\s*)?(?:mut\s+|self\.)?([\p{L}_$][\p{L}\p{N}_$]*)`,
	)
	// assigns matches a line that gives a name its value.
	assigns = regex.Lazy(
		`^\s*(?:export\s+|self\.|this\.|module\.exports\.|exports\.)?([\p{L}_$][\p{L}\p{N}_$]*)\s*(?::=|:[^=]*=|=)(?:[^=]|$)`,
	)
	// definers are the words with which most definitions begin.
	definers = []string{
		"func", "function", "type", "class", "def", "const", "fn", "struct", "interface", "enum", "trait", "module",
		"define",
	}
)

// symbol is what of a name could be defined somewhere: of "calc.Plus" and "crate::calc::Plus" it is Plus. Empty:
// nothing.
func symbol(name string) string {
	name = name[strings.LastIndexAny(name, `./:\#>*)`)+1:]
	if len(name) < 2 || len(name) > 100 || !identifier.MatchString(name) {
		return ""
	}
	return name
}

// definitions adds the places that define a name, and says which names have any.
func (l *search) definitions(ctx context.Context, names []string) (map[string]bool, error) {
	of := map[string]string{} // symbol → name
	var words []string
	for _, name := range names {
		if sym := symbol(name); sym != "" && of[sym] == "" {
			of[sym] = name
			words = append(words, sym)
		}
	}
	if len(words) == 0 {
		return nil, nil
	}
	hits, err := l.tree.Grep(ctx, l.commit, words)
	if err != nil {
		return nil, err
	}
	found, shown := map[string]bool{}, map[string]int{}
	for _, hit := range hits {
		sym := defined(hit.Text)
		if name := of[sym]; name != "" && l.known[hit.Path] {
			found[name] = true
			if shown[sym]++; shown[sym] <= 2 {
				l.add(around(hit, "defines "+sym))
			}
		}
	}
	return found, nil
}

// defined is the name that a line defines; empty when it defines none.
func defined(line string) string {
	text := strings.TrimSpace(line)
	for _, comment := range []string{"//", "#", "*", "/*", "--", ";"} {
		if len(line) > 1000 || strings.HasPrefix(text, comment) && !strings.HasPrefix(text, "#define ") {
			return ""
		}
	}
	for _, pattern := range []*regex.Pattern{defines, assigns} {
		if m := pattern.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

func around(hit git.Hit, why string) place {
	return place{hit.Path, max(hit.Line-3, 1), hit.Line + ofDefined, why}
}

// nearest adds, for names that are nowhere, what is called almost the same: one file and one definition each.
func (l *search) nearest(ctx context.Context, names []string) error {
	if len(names) == 0 || len(l.places) >= mostShown {
		return nil
	}
	hits, err := l.tree.Grep(ctx, l.commit, definers)
	if err != nil {
		return err
	}
	for _, name := range names {
		if file := l.nearestFile(name); file != "" {
			l.add(place{file, 1, ofNamed, "is named almost like " + name})
		}
		sym := symbol(name)
		best, at := 3, git.Hit{}
		for _, hit := range hits {
			if other := defined(hit.Text); sym != "" && l.known[hit.Path] &&
				distance(sym, other) < min(best, len(sym)/2+1) {
				best, at = distance(sym, other), hit
			}
		}
		if at.Path != "" {
			l.add(around(at, "defines "+defined(at.Text)+", almost "+sym))
		}
	}
	return nil
}

func (l *search) nearestFile(name string) string {
	name = path.Base(strings.NewReplacer("::", "/", "\\", "/").Replace(name))
	stem := strings.TrimSuffix(name, path.Ext(name))
	found, best := "", 3
	for _, file := range l.files {
		base := path.Base(file)
		d := min(
			distance(name, base), distance(stem, strings.TrimSuffix(base, path.Ext(base))),
			distance(name, strings.TrimSuffix(base, path.Ext(base))),
		)
		if d < min(best, len(stem)/2+1) {
			found, best = file, d
		}
	}
	return found
}

// distance is how many letters must be added, removed or replaced to make one name of the other, whatever their case; 3
// stands for more.
func distance(a, b string) int {
	if more := len(a) - len(b); more > 8 || more < -8 || len(a) > 400 { // bytes: a letter has four at most
		return 3
	}
	return min(levenshtein.Distance(strings.ToLower(a), strings.ToLower(b), nil), 3)
}
