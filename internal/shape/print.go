package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"text/tabwriter"
)

// shown is how many names of a kind are listed.
const shown = 40

// print shows every room, and below what is beyond its bar, the worst first.
func print(out io.Writer, found measured) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "lines\tin a circle\tlong lines\tnumbers\texported\troom")
	for _, room := range worst(found.figures["room lines"]) {
		long := 0
		for file, n := range found.figures["long lines"] {
			if path.Dir(file) == room {
				long += n
			}
		}
		exported := 0
		for name, n := range found.figures["exported but internal"] {
			if roomOf(name) == room {
				exported += n
			}
		}
		fmt.Fprintf(table, "%d\t%d\t%d\t%d\t%d\t%s\n",
			found.figures["room lines"][room], found.figures["files in a circle"][room], long,
			found.figures["requirement numbers"][room], exported, room)
	}
	table.Flush()
	for _, bar := range bars {
		if bar.kind == "room lines" || bar.kind == "files in a circle" || bar.kind == "requirement numbers" {
			continue // the table shows them
		}
		var beyond []string
		for _, name := range worst(found.figures[bar.kind]) {
			n := found.figures[bar.kind][name]
			switch {
			case n <= bar.most:
			case bar.kind == "exported but internal":
				beyond = append(beyond, name)
			default:
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
	fmt.Fprintf(out, "\nproduction lines %d, comment:code %.2f, lines over 120 characters %.1f %%\n",
		found.total.Lines, found.total.Comments, 100*found.total.Long)
}

// worst are the names with the largest numbers first.
func worst(by map[string]int) []string {
	return slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
}
