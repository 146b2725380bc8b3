package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Bounds of a layer's text. No settings that a person wrote come near them; they bound what a hostile text costs.
const (
	mostText     = 1 << 20
	mostBrackets = 10_000
	mostProblems = 50 // reported of one layer
	mostKeys     = 10 // listed in one problem
)

// root is a whole settings file.
var root = sync.OnceValue(func() *Setting {
	schema := Setting{Key: "$schema", Summary: "Where an editor finds this schema; ralph ignores it."}
	return &Setting{Kind: Object, Keys: append([]Setting{schema}, Table()...)}
})

// violations holds a value against the table: one sentence a problem, in the order of their keys.
func violations(name string, value any) []string {
	var found []string
	root().check(value, nil, func(_ []string, problem string) bool {
		found = append(found, name+": "+problem)
		return len(found) < mostProblems
	})
	sort.Strings(found)
	return slices.Compact(found)
}

// reportFunc is given each problem, with the place it is at; when it returns false, the check ends.
type reportFunc func(at []string, problem string) bool

// check holds a value, as decoded makes them, against a row. What has the wrong type is not looked at any further. That
// it says what the JSON schema says of the same row is a test's business: a validator of all of JSON Schema takes
// longer to start than a hook may take.
func (s *Setting) check(value any, at []string, tell reportFunc) bool {
	wrong := func(format string, args ...any) bool {
		return tell(at, keyPath(at)+" "+fmt.Sprintf(format, args...))
	}
	if !s.fits(value) {
		if value == nil { // some tools take null for "as below"
			return wrong("is null; must be %s. To use the default, remove the key.", s.allowed())
		}
		must := s.allowed()
		if example := s.around(value); example != "" && s.Allowed == "" {
			must += ", such as " + example
		}
		return wrong("is %s; must be %s.", show(value), must)
	}
	switch v := value.(type) {
	case map[string]any:
		return s.checkKeys(v, at, tell, wrong)
	case []any:
		return s.checkEntries(v, at, tell, wrong)
	case string:
		if n := utf8.RuneCountInString(v); s.MaxLen > 0 && n > s.MaxLen &&
			!wrong("has %d characters; must be at most %d.", n, s.MaxLen) {
			return false
		}
		if s.Pattern != nil && !s.Pattern.MatchString(v) {
			if s.Allowed == "" {
				return wrong("is %s; it must not be empty.", show(v))
			}
			return wrong("is %s; must be %s.", show(v), s.allowed())
		}
	}
	return true
}

// fits reports whether a value is of a row's kind and in its range.
func (s *Setting) fits(value any) bool {
	switch s.Kind {
	case Object:
		return is[map[string]any](value)
	case List:
		return is[[]any](value)
	case Boolean:
		return is[bool](value)
	case Integer, Number:
		n, ok := value.(float64)
		return ok && n >= s.Min && n <= s.Max && (s.Kind == Number || n == math.Trunc(n))
	}
	text, ok := value.(string)
	switch {
	case !ok:
		return false
	case s.Choices != nil:
		return slices.Contains(s.Choices, text)
	case s.Kind == Duration24:
		return isDuration(text)
	case s.Kind == Path:
		return isInside(text)
	}
	return true
}

// allowed describes the values that fits and the pattern accept.
func (s *Setting) allowed() string {
	switch {
	case s.Allowed != "":
		return s.Allowed
	case s.Choices != nil:
		return choices(s.Choices)
	}
	switch s.Kind {
	case Object:
		return "an object"
	case List:
		return "a list"
	case Boolean:
		return "true or false"
	case Integer:
		return fmt.Sprintf("a whole number from %s to %s", number(s.Min), number(s.Max))
	case Number:
		return fmt.Sprintf("a number from %s to %s", number(s.Min), number(s.Max))
	case Duration24:
		return `a time up to 24h, such as "90s", "10m" or "1h30m"`
	}
	return "a text in quotes"
}

// around is a value in the list, or as the command of the object, that the row wants; "" if it is neither.
func (s *Setting) around(value any) string {
	switch {
	case s.Kind == List && s.Entry.fits(value):
		return "[" + show(value) + "]"
	case s.Kind == List:
		if entry := s.Entry.around(value); entry != "" {
			return "[" + entry + "]"
		}
	case s.Kind == Object:
		i := slices.IndexFunc(s.Keys, func(row Setting) bool { return row.Key == "command" && row.fits(value) })
		if i >= 0 {
			return fmt.Sprintf("{%q: %s}", s.Keys[i].Key, show(value))
		}
	}
	return ""
}

func (s *Setting) checkKeys(object map[string]any, at []string, tell reportFunc, wrong func(string, ...any) bool) bool {
	if s.Keys == nil {
		return true
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		row := s.key(key)
		if row == nil && !tell(at, s.unknown(at, key)) ||
			row != nil && !row.check(object[key], append(slices.Clone(at), key), tell) {
			return false
		}
	}
	for _, row := range s.Keys {
		if _, there := object[row.Key]; row.Required && !there && !wrong("lacks %s, which must be there.", row.Key) {
			return false
		}
	}
	return true
}

// key is the row of a key, or nil.
func (s *Setting) key(name string) *Setting {
	i := slices.IndexFunc(s.Keys, func(row Setting) bool { return row.Key == name })
	if i < 0 {
		return nil
	}
	return &s.Keys[i]
}

// names are the keys of an object, but that of its schema.
func (s *Setting) names() (names []string) {
	for _, row := range s.Keys {
		if row.Key != "$schema" {
			names = append(names, row.Key)
		}
	}
	return names
}

func (s *Setting) checkEntries(entries []any, at []string, tell reportFunc, wrong func(string, ...any) bool) bool {
	n := len(entries)
	if s.MaxLen > 0 && n > s.MaxLen && !wrong("has %d entries; must be at most %d.", n, s.MaxLen) ||
		s.Distinct && n == 0 && !wrong("has no entries; leave the key out, or name at least one.") ||
		s.Distinct && repeats(entries) && !wrong("names an entry twice; each must be there once.") {
		return false
	}
	for i, entry := range entries {
		if !s.Entry.check(entry, append(slices.Clone(at), strconv.Itoa(i)), tell) {
			return false
		}
	}
	return true
}

func is[T any](value any) bool { _, ok := value.(T); return ok }

func repeats(entries []any) bool {
	seen := map[string]bool{}
	for _, entry := range entries {
		text, err := json.Marshal(entry)
		if err != nil || seen[string(text)] {
			return true
		}
		seen[string(text)] = true
	}
	return false
}

// number writes a bound as JSON does, without an exponent.
func number(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

// isDuration accepts "10m": a positive duration as Go writes it, at most a day.
func isDuration(text string) bool {
	d, err := time.ParseDuration(text)
	return err == nil && d > 0 && d <= 24*time.Hour
}

// isInside accepts the path of a file in the repository, and nothing: no way leads out, none into .git.
func isInside(text string) bool {
	if text == "" {
		return true
	}
	clean := path.Clean(text)
	return !path.IsAbs(text) && clean != "." && clean != ".." && !strings.HasPrefix(clean, "../") &&
		!strings.ContainsAny(text, "\\\x00") && !strings.EqualFold(strings.SplitN(clean, "/", 2)[0], ".git")
}

// unknown is the problem of a key that does not exist: what it may have been meant to be, or what there is.
func (s *Setting) unknown(at []string, key string) string {
	allowed := s.names()
	slices.Sort(allowed)
	problem := keyPath(append(slices.Clone(at), key)) + " is an unknown key"
	if best := safetext.Nearest(key, allowed); best != "" {
		return problem + ". Did you mean " + best + "?"
	}
	if paths := elsewhere(key); len(paths) > 0 {
		return problem + ". Did you mean " + either(paths) + "?"
	}
	if len(allowed) > mostKeys {
		return problem + "; ralph settings schema lists the keys."
	}
	return problem + "; must be one of " + safetext.Listed(allowed) + "."
}

// ordinary keys are written as they are, others in quotes and shortened.
var ordinary = lazy(`^[A-Za-z0-9_$-]{1,60}$`)

// keyPath writes a place as people do: guardrails[0].command.
func keyPath(location []string) string {
	var b strings.Builder
	for _, step := range location {
		if _, err := strconv.Atoi(step); err == nil {
			b.WriteString("[" + step + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		if !ordinary.MatchString(step) {
			step = show(step)
		}
		b.WriteString(step)
	}
	if b.Len() == 0 {
		return "the whole"
	}
	return b.String()
}

// show writes a value as it is in the file, shortened, and without what is named as a secret: problems are posted.
func show(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "something else"
	}
	return safetext.Shorten(Redact(string(text)), 80)
}

func choices(values []string) string {
	return either(safetext.Map(values, func(value string) string { return show(value) }))
}

// either is "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	return strings.TrimPrefix(strings.Join(words[:last], ", ")+" or ", " or ") + words[last]
}

// elsewhere are the paths of the keys of a name in other objects: agent.idleTimeout.
func elsewhere(key string) (paths []string) {
	var look func(at []string, rows []Setting)
	look = func(at []string, rows []Setting) {
		for _, row := range rows {
			path := append(slices.Clone(at), row.Key)
			if row.Key == key {
				paths = append(paths, keyPath(path))
			}
			look(path, row.Keys)
		}
	}
	look(nil, root().Keys)
	return paths
}
