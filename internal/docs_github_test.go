package internal_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestExampleOfReplayIsTheScripts: what docs/github.md shows of ralph action --dry-run is what its script holds the
// program against.
func TestExampleOfReplayIsTheScripts(t *testing.T) {
	shown := regexp.MustCompile("(?ms)^<!-- (testdata/scripts/\\S+): (\\S+) -->\n\n```\n(.*?)^```$").FindStringSubmatch(
		document(t, "../docs/github.md"))
	if shown == nil {
		t.Fatal("docs/github.md shows no example of a script")
	}
	_, want, _ := strings.Cut(document(t, "../"+shown[1]), "\n-- "+shown[2]+" --\n")
	want, _, _ = strings.Cut(want, "\n-- ")
	if strings.TrimSpace(shown[3]) != strings.TrimSpace(want) {
		t.Errorf("docs/github.md shows\n%s, and %s has\n%s", shown[3], shown[1], want)
	}
}
