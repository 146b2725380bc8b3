package agent

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestShown(t *testing.T) {
	var got bytes.Buffer
	s := newDisplay(&got, "/run/agent_1.log")
	for i := range 100_000 {
		fmt.Fprintf(s, "line %06d, of which there are far too many to be read by anybody\n", i)
	}
	s.end()
	lines := strings.Split(strings.TrimSuffix(got.String(), "\n"), "\n")
	if got.Len() > shownBytes+shownEndBytes+200 || !strings.HasPrefix(lines[0], "line 000000,") ||
		!strings.HasPrefix(lines[len(lines)-1], "line 099999,") {
		t.Fatalf("%d bytes, from %q to %q", got.Len(), lines[0], lines[len(lines)-1])
	}
	left, told := 100_000-(len(lines)-1), ""
	for i, line := range lines {
		if strings.HasPrefix(line, "[... ") {
			told = line
		} else if !strings.HasPrefix(line, "line ") {
			t.Errorf("line %d is %q", i, line)
		}
	}
	if want := fmt.Sprintf("[... %d lines (", left); !strings.HasPrefix(told, want) ||
		!strings.HasSuffix(told, " not shown here; the output is in agent_1.log ...]") {
		t.Errorf("told %q, want %q", told, want)
	}
	got.Reset()
	fmt.Fprintln(s, "how it ended")
	s.end()
	if got.String() != "how it ended\n" {
		t.Errorf("after the end: %q", got.String())
	}
}
