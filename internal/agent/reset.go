package agent

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	inSeconds = regexp.MustCompile(`(?i)(?:retry|try again|resets?|available)[^.\n]{0,30}?\b(?:in|after)\s+(\d+(?:\.\d+)?)\s*(ms|s|sec|secs|seconds?|m|min|minutes?|h|hours?)\b`)
	atStamp   = regexp.MustCompile(`\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))`)
	atEpoch   = regexp.MustCompile(`\|(\d{10})\b`)
	atClock   = regexp.MustCompile(`(?i)\b(?:resets?|try again)(?:\s+at)?\s+(\d{1,2})(?::(\d\d))?\s*(am|pm)?(?:\s*\(([A-Za-z_/+-]+)\))?`)
)

// resetTime is when a usage limit ends, as far as the agent's own words tell; zero when they do not. A time of day is the next one
// after now.
func resetTime(said string, now time.Time) time.Time {
	if m := atStamp.FindStringSubmatch(said); m != nil {
		if at, err := time.Parse(time.RFC3339, m[1]); err == nil {
			return at.UTC()
		}
	}
	if m := atEpoch.FindStringSubmatch(said); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64)
		return time.Unix(seconds, 0).UTC()
	}
	if m := inSeconds.FindStringSubmatch(said); m != nil {
		return now.Add(span(m[1], m[2])).UTC()
	}
	if m := atClock.FindStringSubmatch(said); m != nil && (m[2] != "" || m[3] != "") {
		return nextClock(m, now)
	}
	return time.Time{}
}

func span(number, unit string) time.Duration {
	n, _ := strconv.ParseFloat(number, 64)
	each := time.Second
	switch unit = strings.ToLower(unit); {
	case unit == "ms":
		each = time.Millisecond
	case strings.HasPrefix(unit, "m"):
		each = time.Minute
	case strings.HasPrefix(unit, "h"):
		each = time.Hour
	}
	return time.Duration(n * float64(each))
}

// nextClock is the next time of day "4am (UTC)" or "5:26 AM" after now; without a zone, where we are.
func nextClock(m []string, now time.Time) time.Time {
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	switch half := strings.ToLower(m[3]); {
	case half == "pm" && hour < 12:
		hour += 12
	case half == "am" && hour == 12:
		hour = 0
	}
	if hour > 23 || minute > 59 {
		return time.Time{}
	}
	zone := now.Location()
	if m[4] != "" {
		if named, err := time.LoadLocation(m[4]); err == nil {
			zone = named
		}
	}
	here := now.In(zone)
	at := time.Date(here.Year(), here.Month(), here.Day(), hour, minute, 0, 0, zone)
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at.UTC()
}
