package agent

import (
	"testing"
	"time"
)

func TestResetTime(t *testing.T) {
	here, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 3, 20, 0, 0, time.UTC).In(here) // Friday evening, 22:20
	for said, want := range map[string]string{
		"You've hit your 5-hour limit · resets 4am (UTC)":          "2026-11-21T04:00:00Z",
		"You've hit your limit · resets 3:30pm (America/New_York)": "2026-11-21T20:30:00Z",
		"You've hit your usage limit. Try again at 5:26 AM.":       "2026-11-21T10:26:00Z", // here, where it says no zone
		"resets at 11:59 p.m.":                                     "2026-11-21T04:59:00Z",
		"resets 12am (UTC)":                                        "2026-11-22T00:00:00Z",
		"resets 16:00 UTC":                                         "2026-11-21T16:00:00Z",
		"resets 1pm (GMT-03:30)":                                   "2026-11-21T16:30:00Z",
		"resets 1pm +0530":                                         "2026-11-21T07:30:00Z",
		"resets 9pm PST":                                           "2026-11-21T05:00:00Z",
		"resets 9pm (JST)":                                         "2026-11-22T03:00:00Z", // wherever that is
		"resets 9pm (Mars/Olympus)":                                "2026-11-22T03:00:00Z", // wherever that is
		"resets 9pm (local time)":                                  "2026-11-22T02:00:00Z",
		"limit on monthly plans, try again in 2 hours":             "2026-11-21T05:20:00Z",
		"resets Mon 10:00am (UTC)":                                 "2026-11-23T10:00:00Z",
		"resets Fri 9pm (America/New_York)":                        "2026-11-28T02:00:00Z",
		"try again on Tuesday at 3 PM PST":                         "2026-11-24T23:00:00Z",
		"try again tomorrow at 9 am (UTC)":                         "2026-11-22T09:00:00Z",
		"Your quota will reset after 4h28m20s.":                    "2026-11-21T07:48:20Z",
		"resets 3:15am (UTC)":                                      "", // five minutes ago: over, not tomorrow
		"resets 2am (UTC)":                                         "2026-11-22T02:00:00Z",
		"Weekly limit reached ∙ resets Nov 24, 9am (UTC)":          "2026-11-24T09:00:00Z",
		"Try again at Nov 25th, 2026 5:26 AM.":                     "2026-11-25T10:26:00Z",
		"resets December 1":                                        "2026-12-01T05:00:00Z",
		"You will regain access on 2026-12-01 at 00:00 UTC.":       "2026-12-01T00:00:00Z",
		"Claude AI usage limit reached|1795233600":                 "2026-11-21T04:00:00Z",
		`{"resets_at":1795233600}`:                                 "2026-11-21T04:00:00Z",
		"reset after 2026-11-21T05:00:00Z":                         "2026-11-21T05:00:00Z",
		"2026-11-21T03:19:59Z ERROR limit, try again in 20m":       "2026-11-21T03:40:00Z",
		"Please try again in 1.5s.":                                "2026-11-21T03:20:02Z", // never too early
		"Please try again in 0,5 sec":                              "2026-11-21T03:20:01Z",
		"Please try again in 6h12m.":                               "2026-11-21T09:32:00Z",
		"Please try again in 1m30.5s.":                             "2026-11-21T03:21:31Z",
		"Try again in 3 days 4 hours 5 minutes.":                   "2026-11-24T07:25:00Z",
		"Retry-After: 7200":                                        "2026-11-21T05:20:00Z",
		`"retryDelay": "34s"`:                                      "2026-11-21T03:20:34Z",
		"Rate limit reached for gpt in organization org on tokens per min. Limit: 30000.": "",
		"try again later":           "",
		"resets 25:00":              "",
		"resets 13pm":               "",
		"resets Nov 45, 9am":        "", // December 15, too far away
		"limit reached|1763712000":  "", // a year ago
		"try again in 99999999999h": "",
		"2026-13-45T99:99:99Z":      "",
		"":                          "",
	} {
		got := ""
		if at := resetTime(said, now); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// TestResetTimeThatIsOver: what is over a moment ago is over just after midnight, too, and a fraction of a second does
// not bring a reset before now.
func TestResetTimeThatIsOver(t *testing.T) {
	midnight := time.Date(2026, 11, 21, 0, 5, 0, 0, time.UTC)
	for said, want := range map[string]string{
		"resets 11:55pm (UTC)": "", // ten minutes ago
		"resets 11:45pm (UTC)": "2026-11-21T23:45:00Z",
		"resets 12:10am (UTC)": "2026-11-21T00:10:00Z",
		"resets 12am (UTC)":    "",
	} {
		got := ""
		if at := resetTime(said, midnight); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	now := time.Date(2026, 11, 21, 3, 20, 0, 900_000_000, time.UTC)
	if at := resetTime("reset after 2026-11-21T03:20:00.95Z, try again in 50ms", now); at.Before(now) {
		t.Errorf("%s is before %s", at, now)
	}
}

func FuzzResetTime(f *testing.F) {
	f.Add("resets Nov 24, 9am (UTC) in 3 days 2h 2026-11-21T05:00:00Z |1795233600")
	now := time.Date(2026, 11, 21, 3, 20, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, said string) {
		if at := resetTime(said, now); !at.IsZero() && (at.Before(now) || at.Sub(now) > mostWait) {
			t.Errorf("%q: %s", said, at)
		}
	})
}
