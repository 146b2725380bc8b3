package failure

import "testing"

// TestTimes: however a tool writes down when it was, it is left out, zone and all.
func TestTimes(t *testing.T) {
	want := Read("stored at 2026-11-21T19:41:08Z: no such user").Explain()
	for _, at := range []string{
		"2027-01-02 03:04:05", "2027-01-02 03:04:05.123456+09:00", "2027-01-02 03:04:05 -0300", "2027-01-02 03:04:05,123",
		"2027-01-02 03:04:05 JST",
		"2026-11-21 19:41:08.123 +0900 JST m=+0.003", "2026-11-21 16:18:32.9 -0300 -03 m=+0.012",
		"2026-11-21T19:41:08+01:00[Europe/Berlin]", "2026-11-21 19:41:08 America/Sao_Paulo",
		"Sat Nov 21 19:41:08 UTC 2026", "Sat Nov 21 19:41:08 JST 2026", "Sun Jul 12 09:01:02 CEST 2026",
		"Sat Nov 21 19:41:08 -03 2026", "Sat Nov 21 07:41:08 PM CET 2026", "Sat 21 Nov 2026 07:41:08 PM UTC",
		"Sat, 21 Nov 2026 18:49:00 GMT", "Saturday, 21-Nov-26 18:49:00 GMT", "Sat, 21 Nov 2026 18:49:00 +0000",
		"Nov 21 19:41:08", "21 November 2026 19:41", "November 21, 2026 at 7:41 PM",
		"Sat Nov 21 2026 19:41:08 GMT+0900 (Japan Standard Time)",
		"Sat Nov 21 2026 19:41:08 GMT+0000 (Coordinated Universal Time)", "11/21/2026, 7:41:08 PM",
		"11/21/2026, 7:41:08\u202fPM", "21.11.2026 19:41:08",
		"21/Nov/2026:19:41:08 +0000", "21/Nov/2026 19:41:08", "20261121T194108Z", "19:41:08.123",
		"19:41:08 CET", "7:41 PM",
	} {
		if got := Read("stored at " + at + ": no such user").Explain(); got != want {
			t.Errorf("%s leaves %q", at, got)
		}
	}
	if got, want := Read("stored at 1795286940: no such user").Explain(),
		Read("stored at 1795286940123: no such user").Explain(); got != want {
		t.Errorf("seconds leave %q, milliseconds %q", got, want)
	}
}

// TestNoTimes: what only resembles a time stays.
func TestNoTimes(t *testing.T) {
	for _, line := range []string{"Mark 3 of Decimal 12", "May I have 3", "12:00:00 WARN no", "version 1.2.2026",
		"want 3:1, got 2:1", "want 12/3/4"} {
		if got := Read(line).Explain(); got != line && got != "<time> "+line[len("12:00:00 "):] &&
			got != line[len("12:00:00 "):] {
			t.Errorf("%q becomes %q", line, got)
		}
	}
}
