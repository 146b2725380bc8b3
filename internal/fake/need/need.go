// Package need skips tests on machines without what they need, and fails them where it has to be there.
package need

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Program returns the path of the first of names that is installed. If none is, it skips t, or fails t if
// RALPH_TEST_NEEDS has one of names.
func Program(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, names...)
	return ""
}

// That skips t unless ok, or fails t if RALPH_TEST_NEEDS has what: a feature of the machine, such as "root" or "landlock".
func That(t testing.TB, what string, ok bool) {
	t.Helper()
	if !ok {
		missing(t, what)
	}
}

// Condition is the condition "need:NAME" of a story: it reports whether the program NAME is installed. If RALPH_TEST_NEEDS
// has NAME, it reports true, so that the story fails without it.
func Condition(condition string) (holds, known bool) {
	name, ok := strings.CutPrefix(condition, "need:")
	if !ok {
		return false, false
	}
	_, err := exec.LookPath(name)
	return err == nil || required(name), true
}

// missing ends t. The reason that it gives is what internal/fake/suite lists.
func missing(t testing.TB, names ...string) {
	t.Helper()
	what := strings.Join(names, " or ")
	if slices.ContainsFunc(names, required) {
		t.Fatalf("needs %s: not installed, but RALPH_TEST_NEEDS requires it", what)
	}
	t.Skip("needs " + what)
}

// required reports whether RALPH_TEST_NEEDS, names separated by spaces, has name.
func required(name string) bool {
	return slices.Contains(strings.Fields(os.Getenv("RALPH_TEST_NEEDS")), name)
}
