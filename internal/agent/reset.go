package agent

import (
	"strconv"
	"strings"
	"time"
)

// mostWait is how far ahead a reset is believed. The longest windows of providers are a week.
const mostWait = 14 * 24 * time.Hour

// justNow is how long ago a time of day may be for "it is over already" instead of "the same time tomorrow".
const justNow = 15 * time.Minute

const (
	units  = `(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)`
	months = `(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*`
	clock  = `(\d{1,2})(?::(\d\d))?(?::\d\d)?\s*([ap]\.?m\.?)?(?:\s*\(?((?:[A-Z][A-Za-z_]+/[A-Za-z_/+-]+|UTC|GMT))\)?)?`
)

var (
	aSpan = lazy(`(?i)\b(?:in|after|for|retry-?after|retrydelay)\b["':= ]{1,4}(\d+(?:[.,]\d+)?\s*` + units +
		`\b(?:[\s,]*(?:and\s+)?\d+(?:[.,]\d+)?\s*` + units + `\b)*)`)
	aJoined = lazy(`(?i)\b(?:in|after|for)\s+((?:\d+(?:\.\d+)?(?:ms|d|h|m|s)){2,})`) // "6h12m", "1m30.5s"
	aPart   = lazy(`(?i)(\d+(?:[.,]\d+)?)\s*` + units)
	aHeader = lazy(`(?i)retry[- _]?after["':= ]{1,4}(\d{1,7}(?:\.\d+)?)\b`) // seconds
	aStamp  = lazy(`\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(Z|UTC|[+-]\d\d:?\d\d)?`)
	aDay    = lazy(`(?i)\b(?:on|until|resets|after)\s+(\d{4}-\d\d-\d\d)(?:\s+at\s+(\d\d:\d\d))?(?:\s*(UTC))?`)
	anEpoch = lazy(`(?i)(?:\||resets?_?at["':= ]{1,4}|reset["':= ]{1,4})(1\d{9})(\d{3})?\b`)
	aDate   = lazy(`(?i)\b(?:resets?|try again|available|until|on|at)(?:\s+(?:at|on))?\s+` + months +
		`\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?(?:,?\s+(?:at\s+)?` + clock + `)?`)
	aClock    = lazy(`(?i)\b(?:resets?|try again|available(?: again)?|until|retry)(?:\s+at)?\s+` + clock)
	monthName = map[string]time.Month{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8,
		"sep": 9, "oct": 10, "nov": 11, "dec": 12}
)

// resetTime is when a usage limit ends, as far as the agent's own words tell; zero when they do not, or tell nonsense:
// what is past, or further away than any limit. A time of day is the next one after now, where the words name no zone
// in now's.
func resetTime(said string, now time.Time) time.Time {
	said = plainer.Replace(said)
	for _, read := range []func(string, time.Time) time.Time{epoch, stamped, dated, spanned, clocked} {
		if at := soon(read(said, now), now); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// soon drops a time that is past or too far away.
func soon(at, now time.Time) time.Time {
	if !at.After(now) || at.Sub(now) > mostWait {
		return time.Time{}
	}
	return at.Add(time.Second - 1).UTC().Truncate(time.Second) // a fraction is rounded up, so that nobody comes too early
}

// stamped reads "2026-12-01T04:00:00Z" and "on 2026-12-01 at 00:00 UTC".
func stamped(said string, now time.Time) time.Time {
	for _, m := range aStamp.FindAllStringSubmatch(said, -1) {
		if at := day(m[1], m[2], m[3], now); at.After(now) { // others are when a line was logged
			return at
		}
	}
	if m := aDay.FindStringSubmatch(said); m != nil {
		return day(m[1], m[2], m[3], now)
	}
	return time.Time{}
}

func day(date, hour, zone string, now time.Time) time.Time {
	if hour == "" {
		hour = "00:00"
	}
	if len(hour) == len("00:00") {
		hour += ":00"
	}
	where := now.Location()
	switch zone = strings.ToUpper(strings.ReplaceAll(zone, ":", "")); {
	case zone == "Z", zone == "UTC":
		where = time.UTC
	case zone != "":
		at, _ := time.Parse("2006-01-02 15:04:05-0700", date+" "+hour+zone)
		return at
	}
	at, _ := time.ParseInLocation("2006-01-02 15:04:05", date+" "+hour, where)
	return at
}

// epoch reads "limit reached|1763712000", in seconds or milliseconds.
func epoch(said string, _ time.Time) time.Time {
	if m := anEpoch.FindStringSubmatch(said); m != nil {
		return time.Unix(int64(number(m[1])), 0)
	}
	return time.Time{}
}

// dated reads "resets Nov 24, 9am (UTC)" and "try again at Nov 25th, 2026 5:26 AM".
func dated(said string, now time.Time) time.Time {
	m := aDate.FindStringSubmatch(said)
	if m == nil {
		return time.Time{}
	}
	hour, minute, zone, ok := timeOfDay(m[4:], now)
	if !ok {
		return time.Time{}
	}
	here, month := now.In(zone), monthName[strings.ToLower(m[1])[:3]]
	year := here.Year()
	if m[3] != "" {
		year = number(m[3])
	} else if month < here.Month()-6 {
		year++
	}
	return time.Date(year, month, number(m[2]), hour, minute, 0, 0, zone)
}

// spanned reads "retry after 30 seconds", "try again in 6h12m", "retry-after: 30", "in 3 days 4 hours".
func spanned(said string, now time.Time) time.Time {
	said = strings.TrimSpace(said)
	if m := aJoined.FindStringSubmatch(said); m != nil {
		return now.Add(span(m[1]))
	}
	if m := aSpan.FindStringSubmatch(said); m != nil {
		return now.Add(span(m[1]))
	}
	if m := aHeader.FindStringSubmatch(said); m != nil {
		return now.Add(span(m[1] + "s"))
	}
	return time.Time{}
}

// span adds up "1 day 2.5 hours", "1m30s". It is rounded up to a second, so that nobody comes too early.
func span(text string) time.Duration {
	var sum float64
	for _, m := range aPart.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
		sum += n * seconds(strings.ToLower(m[2]))
	}
	if sum > 2*mostWait.Seconds() {
		sum = 2 * mostWait.Seconds()
	}
	return (time.Duration(sum*float64(time.Second)) + time.Second - 1).Truncate(time.Second)
}

func seconds(unit string) float64 {
	switch {
	case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "mil"):
		return 1e-3
	case unit[0] == 'm':
		return 60
	case unit[0] == 'h':
		return 3600
	case unit[0] == 'd':
		return 86400
	}
	return 1
}

// clocked reads "resets 4am (UTC)", "try again at 5:26 AM", "resets 16:00".
func clocked(said string, now time.Time) time.Time {
	m := aClock.FindStringSubmatch(said)
	if m == nil || m[2] == "" && m[3] == "" {
		return time.Time{}
	}
	hour, minute, zone, ok := timeOfDay(m[1:], now)
	if !ok {
		return time.Time{}
	}
	here := now.In(zone)
	at := time.Date(here.Year(), here.Month(), here.Day(), hour, minute, 0, 0, zone)
	if at.Before(now.Add(-justNow)) {
		return time.Date(here.Year(), here.Month(), here.Day()+1, hour, minute, 0, 0, zone)
	}
	// just after midnight, "11:55 pm" is over already, too
	yesterday := time.Date(here.Year(), here.Month(), here.Day()-1, hour, minute, 0, 0, zone)
	if !yesterday.Before(now.Add(-justNow)) {
		return yesterday
	}
	return at
}

// timeOfDay reads the groups of clock. Nothing at all is midnight; a zone that nobody knows is here.
func timeOfDay(m []string, now time.Time) (hour, minute int, zone *time.Location, ok bool) {
	hour, minute = number(m[0]), number(m[1])
	if half := strings.ToLower(m[2]); half != "" {
		if hour < 1 || hour > 12 {
			return 0, 0, nil, false
		}
		if hour %= 12; half[0] == 'p' {
			hour += 12
		}
	}
	zone = now.Location()
	if named, err := time.LoadLocation(m[3]); m[3] != "" && err == nil {
		zone = named
	}
	return hour, minute, zone, hour < 24 && minute < 60
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
