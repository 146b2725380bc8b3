package safetext

import (
	"fmt"
	"time"
)

// Duration formats a length of time in at most two units, as in "1m 35s"; below ten seconds with a tenth.
func Duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0s"
	case d < 10*time.Second-50*time.Millisecond && d%time.Second != 0:
		return fmt.Sprintf("%.1fs", max(d.Seconds(), 0.1))
	}
	d = d.Round(time.Second)
	switch rest := d % time.Hour; {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", d/time.Minute, d%time.Minute/time.Second)
	case rest < time.Minute:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dh %02dm", d/time.Hour, rest/time.Minute)
	}
}
