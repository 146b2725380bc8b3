package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
)

// shown is how many names of a kind are listed.
const shown = 40

// print shows what is beyond its bar, the worst first.
func print(out io.Writer, found figures) {
	for _, bar := range bars {
		var beyond []string
		for _, name := range worst(found[bar.kind]) {
			if n := found[bar.kind][name]; n > bar.most {
				beyond = append(beyond, fmt.Sprintf("%d %s", n, name))
			}
		}
		fmt.Fprintf(out, "\n%s over %d: %d\n", bar.kind, bar.most, len(beyond))
		for i, line := range beyond {
			if i == shown {
				fmt.Fprintf(out, "  … and %d more\n", len(beyond)-i)
				break
			}
			fmt.Fprintln(out, "  "+line)
		}
	}
}

// worst are the names with the largest numbers first.
func worst(by map[string]int) []string {
	return slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
}
