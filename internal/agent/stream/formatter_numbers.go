package stream

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// tally is what a turn took, where "in" is all that the model read, from the cache or not: "cost: $5.76", "tokens: 1.2M
// in (850K cached) / 45K out", "tools: 58", "errors: 4", "time: 6m7s".
func tally(t loop.Turn) []string {
	var parts []string
	u := t.Usage
	if u.CostUSD > 0 {
		parts = append(parts, "cost: "+dollars(u.CostUSD))
	}
	if u.Input+u.CacheRead+u.CacheWrite+u.Output > 0 {
		cached := ""
		if u.CacheRead > 0 {
			cached = " (" + brief(u.CacheRead) + " cached)"
		}
		parts = append(parts, "tokens: "+brief(u.Input+u.CacheRead+u.CacheWrite)+" in"+cached+" / "+brief(u.Output)+" out")
	}
	if t.Tools > 0 {
		parts = append(parts, fmt.Sprintf("tools: %d", t.Tools))
	}
	if t.ToolErrors > 0 {
		parts = append(parts, fmt.Sprintf("errors: %d", t.ToolErrors))
	}
	if t.Duration > 0 {
		parts = append(parts, "time: "+briefly(t.Duration))
	}
	return parts
}

// brief writes a count in at most five characters: "999", "45K", "1.2M".
func brief(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	v := float64(n)
	for _, unit := range []string{"K", "M", "B"} {
		v /= 1000
		tenths := math.Round(v*10) / 10
		switch {
		case tenths < 100:
			return strconv.FormatFloat(tenths, 'f', -1, 64) + unit
		case math.Round(v) < 1000 || unit == "B":
			return strconv.FormatFloat(math.Round(v), 'f', 0, 64) + unit
		}
	}
	return "" // not reached
}

// dollars has two decimals, and below a cent up to four digits that say something.
func dollars(usd float64) string {
	switch {
	case usd >= 0.01:
		return fmt.Sprintf("$%.2f", usd)
	case usd < 0.0001:
		return "<$0.0001"
	}
	digits := 3 - int(math.Floor(math.Log10(usd)))
	return "$" + strings.TrimRight(strconv.FormatFloat(usd, 'f', digits, 64), "0")
}

// briefly is a duration as precise as people want it: "420ms", "3.2s", "6m7s".
func briefly(d time.Duration) string {
	switch {
	case d < time.Second:
		d = max(d.Round(time.Millisecond), time.Millisecond)
	case d < 10*time.Second:
		d = d.Round(100 * time.Millisecond)
	default:
		d = d.Round(time.Second)
	}
	return d.String()
}
