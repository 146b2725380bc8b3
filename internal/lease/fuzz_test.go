package lease

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/git"
)

// FuzzLease: whatever a remote has in the place of a lease, it holds nobody up for long, it names nobody who marks
// anything up, and what could be read can be written down again and reads the same: a wish to stop is written so.
func FuzzLease(f *testing.F) {
	now := time.Date(2026, 11, 21, 5, 30, 0, 0, time.UTC)
	ours, err := Lease{Task: "issue-42", Run: "20261121-053000-7f3a", Owner: "workflow run 77, attempt 1",
		RunURL: "https://example.com/a?b=c#d", Taken: now, Until: now.Add(Time), key: "K",
		Stop: &Stop{By: "alice", Why: "asked to stop", At: now}}.text()
	if err != nil {
		f.Fatal(err)
	}
	head := `{"version":1,"task":"issue-42","owner":"@bob <b>","key":"K","until":"`
	for _, text := range []string{string(ours), "", "{}", head + `9999-12-31T23:59:59Z"}`,
		head + `9999-12-31T23:59:59-23:59"}`, head + `2026-11-21T05:31:00Z","taken_at":"0000-01-01T00:00:00+23:59"}`,
		strings.ReplaceAll(head, "@bob", strings.Repeat("x y", 60)) + `2026-11-21T05:31:00Z","stop":{"by":"` +
			strings.Repeat("b", 130) + `"}}`,
		strings.ReplaceAll(head, `"K"`, `"`+strings.Repeat("K", 3800)+`"`) + `2026-11-21T05:31:00Z"}`,
		head + `2026-11-21T05:31:00Z","run_url":"http://a/\u202e"}`, head + `2026-11-21T05:31:00Z"}{}`} {
		f.Add([]byte(text), int64(0))
		f.Add([]byte(text), int64(1<<40))
	}
	f.Fuzz(func(t *testing.T, text []byte, ago int64) {
		file := git.RefFile{Commit: "c", Content: text, Date: now.Add(-time.Duration(ago))}
		l := read("issue-42", file, now)
		if l.Until.After(file.Date.Add(longestRead)) && !l.Until.IsZero() || l.Until.After(now.Add(2*longestRead)) {
			t.Errorf("it is believed until %s: %q", l.Until, text)
		}
		if l.Task != "issue-42" || strings.ContainsAny(l.Owner+l.Run, "@<>[]*_`#|~&/\n") {
			t.Errorf("%q of %q is of %q", l.Run, l.Task, l.Owner)
		}
		for _, s := range []string{l.Owner, l.Run, l.RunURL, l.Who()} {
			if utf8.RuneCountInString(s) > maxURL || !utf8.ValidString(s) || strings.ContainsAny(s, "\n\x1b") {
				t.Errorf("%q is no short text", s)
			}
		}
		if l.Unreadable != "" {
			if l.key != "" || l.Owner != "" {
				t.Errorf("nobody can read whose it is, and it is of %q", l.Owner)
			}
			return
		}
		if l.Until.IsZero() {
			l.Until = now
		}
		again, err := l.text()
		if err != nil || len(again) > maxFile {
			t.Fatalf("%q cannot be written down again, as %d bytes: %v", text, len(again), err)
		}
		same, why := parse("issue-42", again)
		same.sha = l.sha
		if why != "" || !reflect.DeepEqual(same, l) {
			t.Errorf("%+v\nreads %+v, %s", l, same, why)
		}
	})
}
