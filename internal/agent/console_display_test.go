package agent

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestShown: of a turn its beginning is shown, one line says where the rest is, and how it ended is shown again.
func TestShown(t *testing.T) {
	var got bytes.Buffer
	s := &display{to: &got, log: "/run/agent_1.log"}
	for i := range 100_000 {
		fmt.Fprintf(s, "line %06d, of which there are far too many to be read by anyone\n", i)
	}
	s.end()
	fmt.Fprintln(s, "how it ended")
	const rest = "[... the rest is not shown here; the output is in agent_1.log ...]\nhow it ended\n"
	if begin, ok := strings.CutSuffix(got.String(), rest); !ok || len(begin) > shownBytes || len(begin) < shownBytes-100 ||
		strings.Count(begin, "line ") != strings.Count(begin, "\n") {
		t.Errorf("%d bytes, which end with %q", got.Len(), got.String()[got.Len()-200:])
	}
}
