package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// table is the results as Markdown: a table of the harnesses, then one of the classes.
func table(all []result) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| loop | false done | honest refused | honest, waits for a person | turns after the right one | turns of a hopeless agent | time of a run |")
	fmt.Fprintln(&b, "|---|--:|--:|--:|--:|--:|--:|")
	for _, name := range names(all) {
		of := where(all, func(r result) bool { return r.Harness == name })
		honest := where(of, func(r result) bool {
			return strings.HasPrefix(r.Behavior, "honest") || strings.HasPrefix(r.Behavior, "slow")
		})
		late := where(of, func(r result) bool { return wasRight(r) > 0 && r.Turns >= wasRight(r) })
		spent := where(of, func(r result) bool { return slices.Contains(hopeless, r.Behavior) })
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", name,
			rate(of, func(r result) bool { return r.Done && !r.Right }),
			rate(honest, func(r result) bool { return !r.Done && !r.Asks }),
			rate(honest, func(r result) bool { return r.Asks }),
			spread(late, "%.0f", func(r result) float64 { return float64(r.Turns - wasRight(r)) }),
			spread(spent, "%.0f", func(r result) float64 { return float64(r.Turns) }),
			spread(of, "%.1f s", func(r result) float64 { return r.Seconds }))
	}
	fmt.Fprintf(&b, "\n| class: called done, of those falsely in bold, of all runs; turns | %s |\n|---|%s\n", strings.Join(names(all), " | "),
		strings.Repeat("--:|", len(names(all))))
	for _, v := range behaviors {
		fmt.Fprintf(&b, "| %s |", v.name)
		for _, name := range names(all) {
			of := where(all, func(r result) bool { return r.Harness == name && r.Behavior == v.name })
			done := where(of, func(r result) bool { return r.Done })
			lies := where(done, func(r result) bool { return !r.Right })
			said := fmt.Sprint(len(done))
			if len(lies) > 0 {
				said += fmt.Sprintf(", **%d**", len(lies))
			}
			fmt.Fprintf(&b, " %s of %d; %s |", said, len(of), spread(of, "%.0f", func(r result) float64 { return float64(r.Turns) }))
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

// wasRight is the turn that left the right result, 0 for none.
func wasRight(r result) int {
	for _, v := range behaviors {
		if v.name == r.Behavior {
			return v.right
		}
	}
	return 0
}

func where(all []result, is func(result) bool) (some []result) {
	for _, r := range all {
		if is(r) {
			some = append(some, r)
		}
	}
	return some
}

// rate is how many results are so, and Wilson's interval for 95 %.
func rate(all []result, is func(result) bool) string {
	n, k := len(all), len(where(all, is))
	if n == 0 {
		return "–"
	}
	low, high := wilson(k, n)
	return fmt.Sprintf("%d of %d (%.1f–%.1f %%)", k, n, 100*low, 100*high)
}

// wilson is the interval that holds the rate behind k of n with 95 %.
func wilson(k, n int) (low, high float64) {
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, middle-half), min(1, middle+half)
}

// spread is the median of what is measured, and the largest.
func spread(all []result, format string, measured func(result) float64) string {
	if len(all) == 0 {
		return "–"
	}
	var values []float64
	for _, r := range all {
		values = append(values, measured(r))
	}
	slices.Sort(values)
	middle, most := values[len(values)/2], values[len(values)-1]
	if middle == most {
		return fmt.Sprintf(format, middle)
	}
	return fmt.Sprintf(format+", at most "+format, middle, most)
}
