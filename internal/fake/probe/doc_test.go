//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write down what was reached, and the table of docs/security.md")

const page = "../../../docs/security.md"

// configuration is a way in which ralph is run.
type configuration struct {
	sandbox string
	job     bool   // ralph action, else ralph run
	user    string // root, or one without rights; in a job root's agents are somebody else
	layout  string // of the runner's directories
}

func (c configuration) String() string {
	kind := "run"
	if c.job {
		kind = "job"
	}
	return kind + " " + c.sandbox + " " + c.user
}

// configurations are all of them. Root can try each; others can try their own.
var configurations = func() (all []configuration) {
	for _, sandbox := range []string{"off", "landlock", "bwrap"} {
		all = append(all, configuration{sandbox, false, "root", ""}, configuration{sandbox, false, "user", ""},
			configuration{sandbox, true, "root", "container"}, configuration{sandbox, true, "user", "self-hosted"})
	}
	return all
}()

// columns are those of the table.
var columns = []string{"none", "none, the agent another user", "landlock", "landlock, the agent another user", "bwrap",
	"bwrap, the agent another user"}

func (c configuration) column() string {
	title := strings.Replace(c.sandbox, "off", "none", 1)
	if c.job && c.user == "root" {
		title += ", the agent another user"
	}
	return title
}

// rows are the groups of the probes, in their order.
func rows() (all []string) {
	for _, p := range probes {
		if !slices.Contains(all, p.group) && p.group != works {
			all = append(all, p.group)
		}
	}
	return all
}

// cell says who reaches something of a group, in a column: no, as root, agent, yes.
func (f facts) cell(group, column string) string {
	roles, users, of := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range configurations {
		if c.column() != column {
			continue
		}
		of[c.user] = true
		for _, p := range probes {
			if p.group != group {
				continue
			}
			for _, role := range f[c.String()][p.String()] {
				roles[role], users[c.user] = true, true
			}
		}
	}
	if len(roles) == 0 {
		return "no"
	}
	said := "**yes**"
	if len(roles) < 5 {
		var names []string
		for _, role := range []string{"agent", "reviewer", "check", "setup"} {
			if roles[role] {
				names = append(names, role)
			}
		}
		said = "**" + strings.Join(names, ", ") + "**"
	}
	if len(users) < len(of) && users["root"] {
		said += " as root"
	}
	return said
}

// table is what docs/security.md says of what can be reached.
func (f facts) table(where string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Found on %s, by %d probes, each tried by setup, agent, hook, check and reviewer and by an orphan "+
		"of each.\n\n",
		where, len(probes))
	b.WriteString("| what a process tries |")
	for _, c := range columns {
		b.WriteString(" " + c + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, group := range rows() {
		b.WriteString("| " + group + " |")
		for _, c := range columns {
			b.WriteString(" " + f.cell(group, c) + " |")
		}
		b.WriteString("\n")
	}
	for _, sandbox := range []string{"off", "landlock", "bwrap"} {
		fmt.Fprintf(&b, "\nWhat \"yes\" is, in %s:\n\n", strings.Replace(sandbox, "off", "none", 1))
		for _, group := range rows() {
			if names := f.names(group, sandbox); len(names) > 0 {
				line := "- " + group + ": "
				if sandbox != "off" {
					line += strings.Join(names, "; ") + ". "
				}
				why := reasons[sandbox][group]
				b.WriteString(line + strings.ToUpper(why[:min(1, len(why))]) + why[min(1, len(why)):] + "\n")
			}
		}
	}
	return b.String()
}

// names are the probes of a group that reach something in a sandbox.
func (f facts) names(group, sandbox string) (names []string) {
	for _, p := range probes {
		if p.group == group && slices.ContainsFunc(configurations, func(c configuration) bool {
			return c.sandbox == sandbox && len(f[c.String()][p.String()]) > 0
		}) {
			names = append(names, p.name)
		}
	}
	return names
}

const (
	begins = "<!-- what the probe reaches: written by go test -tags e2e ./internal/fake/probe -update -->\n"
	ends   = "<!-- end of what the probe reaches -->\n"
)

// TestSecuritySaysWhatIsReached: the page has the table of what the probe reaches, with a reason for everything.
func TestSecuritySaysWhatIsReached(t *testing.T) {
	known, where := readFacts(t)
	text := must[[]byte](t)(os.ReadFile(page))
	before, rest, ok := strings.Cut(string(text), begins)
	is, after, ok2 := strings.Cut(rest, ends)
	if !ok || !ok2 {
		t.Fatalf("%s lacks %q", page, begins)
	}
	for _, sandbox := range []string{"off", "landlock", "bwrap"} {
		for _, group := range rows() {
			if names := known.names(group, sandbox); len(names) > 0 && reasons[sandbox][group] == "" {
				t.Errorf("reasons_test.go does not say why, in %s, somebody reaches %s: %q", sandbox, group, names)
			} else if len(names) == 0 && reasons[sandbox][group] != "" {
				t.Errorf("reasons_test.go says why, in %s, somebody reaches %s, and nobody does", sandbox, group)
			}
		}
	}
	want := "\n" + known.table(where) + "\n"
	if *update {
		noError(t, os.WriteFile(page, []byte(before+begins+want+ends+after), 0o644))
	} else if is != want {
		t.Errorf("%s is not what the probe reaches: run go test -tags e2e ./internal/fake/probe -update", page)
	}
}
