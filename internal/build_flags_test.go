package internal_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Whoever builds ralph, builds the same: the flags that make it small stand in four files.
func TestBuildsHaveTheSameFlags(t *testing.T) {
	flags := func(file string) (found []string) {
		for line := range strings.Lines(document(t, "../"+file)) {
			if strings.Contains(line, "main.version=") {
				found = append(found, regexp.MustCompile(`-trimpath|-s -w `).FindAllString(line, -1)...)
			}
		}
		return found
	}
	want := flags("Makefile")
	if len(want) != 2 {
		t.Fatalf("the Makefile builds with %q", want)
	}
	for _, file := range []string{"Dockerfile", "host/binary.sh"} {
		if got := flags(file); !slices.Equal(got, want) {
			t.Errorf("%s builds with %q, the Makefile with %q", file, got, want)
		}
	}
	for _, f := range want {
		if !strings.Contains(document(t, "../.goreleaser.yaml"), f) {
			t.Errorf(".goreleaser.yaml does not build with %q", f)
		}
	}
}
