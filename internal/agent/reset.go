package agent

import (
	"cmp"
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
	clock  = `(\d{1,2})(?::(\d\d))?(?::\d\d)?\s*([ap]\.?m\.?)?(?:[\s,]*(?:\(([^()]{1,40})\)|(` + zone + `)))?`
	zone   = `[A-Z][a-z_]+/[\w/+-]+|(?:UTC|GMT)(?:\s?[+-]\d{1,2}(?::?\d\d)?)?|[+-]\d\d:?\d\d\b|` +
		`(?-i:[A-Z]{2,5})\b`
	weekdays = `(today|tomorrow|(?:sun|mon|fri)(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|sat(?:urday)?)`
)

var (
	aSpan = lazy(`(?i)\b(?:in|after|for|retry-?after|retrydelay)\b["':= ]{1,4}(\d+(?:[.,]\d+)?\s*` + units +
		`\b(?:[\s,]*(?:and\s+)?\d+(?:[.,]\d+)?\s*` + units + `\b)*)`)
	aJoined = lazy(`(?i)\b(?:in|after|for)\s+((?:\d+(?:\.\d+)?(?:ms|d|h|m|s)){2,})`) // "6h12m", "1m30.5s"
	aPart   = lazy(`(?i)(\d+(?:[.,]\d+)?)\s*` + units + `?`)
	aHeader = lazy(`(?i)retry[- _]?after["':= ]{1,4}(\d{1,7}(?:\.\d+)?)\b`) // seconds
	aStamp  = lazy(`\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(Z|UTC|[+-]\d\d:?\d\d)?`)
	aDay    = lazy(`(?i)\b(?:on|until|resets|after)\s+(\d{4}-\d\d-\d\d)(?:\s+at\s+(\d\d:\d\d))?(?:\s*(UTC))?`)
	anEpoch = lazy(`(?i)(?:\||resets?_?at["':= ]{1,4}|reset["':= ]{1,4})(1\d{9})(\d{3})?\b`)
	aDate   = lazy(`(?i)\b(?:resets?|try again|available|until|on|at)(?:\s+(?:at|on))?\s+` + months +
		`\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?(?:,?\s+(?:at\s+)?` + clock + `)?`)
	aWeekday = lazy(`(?i)\b(?:resets?|try again|available|until|on|at)(?:\s+(?:at|on))?(?:\s+next)?\s+` + weekdays +
		`\b\.?(?:,?\s+(?:at\s+)?` + clock + `)?`)
	aClock    = lazy(`(?i)\b(?:resets?|try again|available(?: again)?|until|retry)(?:\s+at)?\s+` + clock)
	monthName = map[string]time.Month{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8,
		"sep": 9, "oct": 10, "nov": 11, "dec": 12}
)

// resetTime is when a usage limit ends, as far as the agent's own words tell; zero when they do not, or tell nonsense:
// what is past, or further away than any limit. A time of day is the next one after now, in now's zone if the words name
// none. If it is not clear which zone they name, it is the latest that it can be.
func resetTime(said string, now time.Time) time.Time {
	said = plainer.Replace(said)
	for _, read := range []func(string, time.Time) time.Time{epoch, stamped, dated, weekday, spanned, clocked} {
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
	return at.Add(time.Second - 1).UTC().Truncate(time.Second) // a fraction is rounded up, so that no one comes too early
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
	said := date + " " + cmp.Or(hour, "00:00")
	if len(said) == len("2006-01-02 15:04") {
		said += ":00"
	}
	switch zone = strings.ReplaceAll(strings.ToUpper(zone), ":", ""); zone {
	case "":
		at, _ := time.ParseInLocation("2006-01-02 15:04:05", said, now.Location())
		return at
	case "Z", "UTC":
		zone = "+0000"
	}
	at, _ := time.Parse("2006-01-02 15:04:05-0700", said+zone)
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
	month := monthName[strings.ToLower(m[1])[:3]]
	return latest(m[4:], now, func(here time.Time, hour, minute int) time.Time {
		year := here.Year()
		if m[3] != "" {
			year = number(m[3])
		} else if month < here.Month()-6 {
			year++
		}
		return time.Date(year, month, number(m[2]), hour, minute, 0, 0, here.Location())
	})
}

// weekday reads "resets Mon 10:00am (UTC)" and "try again tomorrow at 9 am".
func weekday(said string, now time.Time) time.Time {
	m := aWeekday.FindStringSubmatch(said)
	if m == nil {
		return time.Time{}
	}
	name := strings.ToLower(m[1])
	return latest(m[2:], now, func(here time.Time, hour, minute int) time.Time {
		days := strings.Index("sunmontuewedthufrisat", name[:3])/3 - int(here.Weekday())
		switch {
		case name == "today" || name == "tomorrow":
			days = len(name) / len("tomorrow")
		case days < 0:
			days += 7
		}
		at := time.Date(here.Year(), here.Month(), here.Day()+days, hour, minute, 0, 0, here.Location())
		if name != "today" && at.Before(here) {
			at = at.AddDate(0, 0, 7)
		}
		return at
	})
}

// spanned reads "retry after 30 seconds", "try again in 6h12m", "retry-after: 30", "in 3 days 4 hours".
func spanned(said string, now time.Time) time.Time {
	for _, told := range []*pattern{aJoined, aSpan, aHeader} {
		if m := told.FindStringSubmatch(said); m != nil {
			return now.Add(span(m[1]))
		}
	}
	return time.Time{}
}

// span adds up "1 day 2.5 hours", "1m30s". It is rounded up to a second, so that no one comes too early.
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

// seconds are those of a unit; none is a second.
func seconds(unit string) float64 {
	switch {
	case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "mil"):
		return 1e-3
	case strings.HasPrefix(unit, "m"):
		return 60
	case strings.HasPrefix(unit, "h"):
		return 3600
	case strings.HasPrefix(unit, "d"):
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
	return latest(m[1:], now, func(here time.Time, hour, minute int) time.Time {
		day := func(n int) time.Time {
			return time.Date(here.Year(), here.Month(), here.Day()+n, hour, minute, 0, 0, here.Location())
		}
		switch over := here.Add(-justNow); {
		case day(0).Before(over):
			return day(1)
		case !day(-1).Before(over): // just after midnight, "11:55 pm" is over already, too
			return day(-1)
		}
		return day(0)
	})
}

// latest reads the groups of clock, of which none at all is midnight, and makes a time of them in each zone that they may
// mean; the zero time if they are no time of day.
func latest(m []string, now time.Time, at func(here time.Time, hour, minute int) time.Time) (last time.Time) {
	hour, minute := number(m[0]), number(m[1])
	if half := strings.ToLower(m[2]); half != "" {
		if hour < 1 || hour > 12 {
			return time.Time{}
		}
		if hour %= 12; half[0] == 'p' {
			hour += 12
		}
	}
	if hour > 23 || minute > 59 {
		return time.Time{}
	}
	var where []*time.Location
	if one := zoneCalled(cmp.Or(m[3], m[4]), now.Location()); one != nil {
		where = append(where, one)
	} else if m[3] == "" && !strings.HasSuffix(m[4], "T") {
		where = append(where, now.Location()) // a bare word that is no zone
	} else {
		for offset := -12; offset <= 14; offset++ { // it can be any
			where = append(where, time.FixedZone("", offset*3600))
		}
	}
	for _, zone := range where {
		if t := at(now.In(zone), hour, minute); t.After(last) {
			last = t
		}
	}
	return last
}

// americanZones are offsets in hours; the system's database has most of them under no name.
var americanZones = map[string]int{"PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4}

var anOffset = lazy(`(?i)^(?:UTC|GMT)?\s?([+-])(\d{1,2})(?::?(\d\d))?$`)

// zoneCalled is the zone of a name; nil if it is unknown. An empty name is here.
func zoneCalled(name string, here *time.Location) *time.Location {
	name = strings.TrimSpace(name)
	if name == "" || strings.Contains(strings.ToLower(name), "local") {
		return here
	}
	if hours, ok := americanZones[name]; ok {
		return time.FixedZone("", hours*3600)
	}
	if m := anOffset.FindStringSubmatch(name); m != nil {
		seconds := number(m[2])*3600 + number(m[3])*60
		if m[1] == "-" {
			seconds = -seconds
		}
		return time.FixedZone("", seconds)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}
