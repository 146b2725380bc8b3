// Package safetext makes foreign text harmless, and cuts, counts and quotes text.
package safetext

import (
	"fmt"
	"strings"
)

// FewNames names at most five paths, and counts the rest.
func FewNames(names []string) string {
	if len(names) <= 5 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), len(names)-5)
}

func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// MostNames is how many stories a sentence names.
const MostNames = 10

func FewOf(ids []string) string {
	if more := len(ids) - MostNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:MostNames], ", "), more)
	}
	return strings.Join(ids, ", ")
}

func IsAre(n int) string { return Plural(n, "is", "are") }

func WasWere(n int) string { return Plural(n, "was", "were") }

func ItThem(n int) string { return Plural(n, "it", "them") }

func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
