package internal_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSuperviseDocumentNamesEveryFlag: the table of docs/supervise.md has the flags of docs/cli.md, with their defaults.
func TestSuperviseDocumentNamesEveryFlag(t *testing.T) {
	var documented, there []string
	for _, row := range table(t, document(t, "../docs/supervise.md"), "flag", "default", "meaning") {
		documented = append(documented, row[0]+" "+strings.Replace(row[1], "none", "`0s`", 1))
	}
	_, part, _ := strings.Cut(document(t, "../docs/cli.md"), "\n## ralph supervise\n")
	part, _, _ = strings.Cut(part, "\n## ")
	for _, row := range table(t, part, "flag or argument", "default", "meaning") {
		if name := regexp.MustCompile("^`(--[a-z-]+)").FindStringSubmatch(row[0]); name != nil {
			there = append(there, "`"+name[1]+"` "+row[1])
		}
	}
	slices.Sort(documented)
	slices.Sort(there)
	if len(there) < 5 || !slices.Equal(documented, there) {
		t.Errorf("docs/supervise.md has the flags %q, docs/cli.md %q", documented, there)
	}
}
