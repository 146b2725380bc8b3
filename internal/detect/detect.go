// Package detect reads off the files of a repository how it is checked and set up, and off the output of a failed check
// which tool is not installed. It runs nothing and opens nothing.
package detect

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/regex"
)

type pattern = regex.Pattern

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }

// Check is a check that the repository itself shows.
type Check struct {
	Command  string // "make test"
	Why      string // "Makefile has a target test": names the file, and in it what shows the check
	Severity string // config.Hard; config.Soft for a tool of which only the configuration was seen
	stage    stage
}

// Step is a command that makes a fresh checkout ready for its checks, and why.
type Step struct {
	Command string // "npm ci"
	Why     string // "package-lock.json is there"
	locked  bool   // a file names the exact versions to install
}

// Result is what the top of a repository shows.
type Result struct {
	Checks []Check  // the quickest first
	Setup  []Step   // what installs the dependencies, one for each kind of project
	Notes  []string // sentences: which file shows nothing though it seems to, and why
}

// Guardrail is the detected check as settings would name it, completed.
func (d Check) Guardrail() config.Guardrail {
	return config.Guardrail{Command: d.Command, Severity: d.Severity}.Complete()
}

// Tests reports whether the check tests, or is what the owner has named for that.
func (d Check) Tests() bool { return d.stage == atTest && d.Severity == config.Hard }

// stage says when a check runs: what is quick comes first, of all kinds of projects together.
type stage int

const (
	atFormat stage = iota
	atLint
	atTypes
	atBuild
	atTest
)

// topFiles is the names at the top of a repository, with the contents of those that Files names. Contents are hostile: no
// word of them becomes part of a command line that safeName does not let through.
type topFiles map[string][]byte

func (d *Result) add(more Result) {
	d.Checks = append(d.Checks, more.Checks...)
	d.Setup = append(d.Setup, more.Setup...)
	d.Notes = append(d.Notes, more.Notes...)
}

// hard adds a check that builds, that tests, or that the owner has given a name. Like soft, locked and installs it adds
// nothing when nothing shows it, which an empty why says, and reports whether it has added something.
func (d *Result) hard(at stage, command, why string) bool {
	return d.check(Check{command, why, config.Hard, at})
}

// soft adds a tool of which only the configuration is there. Which version of it is meant, and whether the repository
// passes it, no one has said: it warns.
func (d *Result) soft(at stage, command, why string) bool {
	return d.check(Check{command, why, config.Soft, at})
}

// named adds the first of the names that ok is true of: as the last word of a command, and of what shows it.
func (d *Result) named(at stage, command, why string, names []string, ok func(name string) bool) bool {
	i := slices.IndexFunc(names, ok)
	return i >= 0 && d.hard(at, command+names[i], why+names[i])
}

func (d *Result) check(c Check) bool {
	if c.Why != "" {
		d.Checks = append(d.Checks, c)
	}
	return c.Why != ""
}

// locked adds what installs exactly what a lock file says.
func (d *Result) locked(command, why string) bool { return d.step(Step{command, why, true}) }

// installs adds what installs what a manifest asks for.
func (d *Result) installs(command, why string) bool { return d.step(Step{command, why, false}) }

func (d *Result) step(s Step) bool {
	if s.Why != "" {
		d.Setup = append(d.Setup, s)
	}
	return s.Why != ""
}

func (d *Result) note(sentence string) { d.Notes = append(d.Notes, sentence) }

// first is the first of the names that exists; "" none.
func (s topFiles) first(names ...string) string {
	for _, name := range names {
		if _, ok := s[name]; ok {
			return name
		}
	}
	return ""
}

func (s topFiles) has(name string) bool { _, ok := s[name]; return ok }

// there is what the first of the names that exists shows: "go.mod is there"; "" none exists.
func (s topFiles) there(names ...string) string { return shows(s.first(names...), "is there") }

// both is what a name shows together with the first of others: "pom.xml and mvnw are there"; "" when either is missing.
func (s topFiles) both(beside string, names ...string) string {
	if !s.has(beside) {
		return ""
	}
	return shows(s.first(names...), "and "+beside+" are there")
}

// shows is what a file shows; "" without one.
func shows(name, what string) string {
	if name == "" {
		return ""
	}
	return name + " " + what
}

// ending are the names that end so, sorted.
func (s topFiles) ending(suffixes ...string) []string {
	var found []string
	for name := range s {
		if slices.ContainsFunc(suffixes,
			func(suffix string) bool { return len(name) > len(suffix) && strings.HasSuffix(name, suffix) }) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// says is what a file shows whose content matches: "Gemfile names rails"; "" when it does not match.
func (s topFiles) says(name string, p *pattern, what string) string {
	if !p.MatchString(string(s[name])) {
		return ""
	}
	return shows(name, what)
}

var wholeName = lazy(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,79}$`)

// safeName reports whether a name out of a repository may be in a command line: no option, no way out of the
// repository, nothing that a shell understands.
func safeName(name string) bool { return wholeName.MatchString(name) && !strings.Contains(name, "..") }
