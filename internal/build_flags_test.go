package internal

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Whoever builds ralph, builds the same: the flags that make it small stand in four files.
func TestBuildsHaveTheSameFlags(t *testing.T) {
	flag := regexp.MustCompile(`(-trimpath|-s -w) `)
	flags := func(file string) (found []string) {
		text, err := os.ReadFile("../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if !strings.Contains(line, "main.version=") {
				continue
			}
			for _, m := range flag.FindAllStringSubmatch(line, -1) {
				found = append(found, m[1])
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
	text, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range want {
		if !strings.Contains(string(text), f) {
			t.Errorf(".goreleaser.yaml does not build with %q", f)
		}
	}
}
