package internal_test

import (
	"slices"
	"strings"
	"testing"
)

// TestSuperviseDocumentNamesEveryFlag: the table of docs/supervise.md has the flags of the command, with their
// defaults.
func TestSuperviseDocumentNamesEveryFlag(t *testing.T) {
	said := help(t, "supervise")
	there := flag.FindAllString(said, -1)
	var documented []string
	for _, row := range table(t, document(t, "../docs/supervise.md"), "flag", "default", "meaning") {
		documented = append(documented, strings.Trim(row[0], "`"))
		if value := strings.Trim(row[1], "`"); value != "none" && value != "." && !strings.Contains(said, "Default: "+value) {
			t.Errorf("docs/supervise.md: the default of %s is not %s", row[0], value)
		}
	}
	if len(there) < 6 {
		t.Fatalf("ralph supervise --help shows the flags %q", there)
	}
	for _, f := range there {
		if !slices.Contains(documented, f) && f != "--help" && f != "--version" {
			t.Errorf("docs/supervise.md does not name the flag %s", f)
		}
	}
	for _, f := range documented {
		if !slices.Contains(there, f) {
			t.Errorf("docs/supervise.md names the flag %s, which does not exist", f)
		}
	}
}
