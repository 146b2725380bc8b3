package lease

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// A run of the bot is held by a lease on its remote: the ref refs/ralph/leases/<task>, at a commit without parents
// whose one file says who holds it and until when. A ref that does not exist is a run that no one holds. A process that
// moves it names the commit that it is at now, so of two one gets it. Nothing but git is needed for it, and a renewal
// leaves no history behind.

// How long leases last.
const (
	Time = 5 * time.Minute // what a process takes, and takes again before it is over
	// longTime is a server's: no one looks at it in between, since the server says by itself who shall stop.
	longTime = 27 * time.Minute
	longest  = 10 * time.Minute // what a lease is believed that cannot be read, from the date of its commit on
	// longestRead is what any other lease is believed, whatever it says.
	longestRead = 30 * time.Minute
	Slack       = 30 * time.Second // for clocks that differ: a lease may be taken over so long after its end
)

// Lease is who holds a task's run. Every text in it is plain, on one line and short, but it may be anyone's who can
// push. Run and Owner are words that mark nothing up; show the others as the texts of strangers.
type Lease struct {
	Task   string    `json:"task"`              // "issue-42"
	Run    string    `json:"run,omitempty"`     // "20261121-053000-7f3a"; "" until the holder knows which run it is
	Owner  string    `json:"owner"`             // "workflow run 77, attempt 1"
	RunURL string    `json:"run_url,omitempty"` // an address of http or https, or ""
	Taken  time.Time `json:"taken_at"`
	Until  time.Time `json:"until"`          // when it ends unless it is renewed
	Stop   *Stop     `json:"stop,omitempty"` // someone asked the holder to stop; nil: no one
	// Unreadable says why its text cannot be read, in a few words; "" when it can. Such a lease is held by who knows whom
	// until the longest such lease is over.
	Unreadable string `json:"-"`

	key string // of the process that holds it: what tells two of the same name apart
	sha string // its commit; "" for none
}

// Stop is the wish that a run stops.
type Stop struct {
	By  string    `json:"by"`            // a login; "" when no one knows
	Why string    `json:"why,omitempty"` // what goes before the name: "asked to stop", "issue closed"; "" is the former
	At  time.Time `json:"at"`            // when
}

func (s Stop) String() string {
	return cmp.Or(s.Why, "asked to stop") + " by " + cmp.Or(s.By, "somebody")
}

// Ends is from when on another process may take the lease over.
func (l Lease) Ends() time.Time { return l.Until.Add(Slack) }

// Alive reports whether someone holds the run at a time.
func (l Lease) Alive(at time.Time) bool { return l.sha != "" && at.Before(l.Ends()) }

// Who names the holder for a sentence.
func (l Lease) Who() string {
	switch {
	case l.Unreadable != "":
		return "a process whose lease cannot be read: " + l.Unreadable
	case l.Owner == "":
		return "another process"
	}
	return l.Owner
}

// HeldError says that another process holds the run. Until when no one knows: it renews its lease while it works.
type HeldError struct{ Lease Lease }

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is already running (%s)", e.Lease.Task, e.Lease.Who())
}

// LostError says that a lease is no longer the holder's: it must stop at once and write nothing more. Now is who has
// it, with no Task when no one has.
type LostError struct {
	Task string
	Now  Lease
}

func (e *LostError) Error() string {
	if e.Now.Task == "" {
		return fmt.Sprintf("this process no longer holds %s: its lease was removed from the remote; ask again to resume",
			e.Task)
	}
	return fmt.Sprintf("this process no longer holds %s: %s has taken it over; see its status there",
		e.Task, e.Now.Who())
}

// refs is where the leases are, each at the name of its task.
const refs = "refs/ralph/leases/"

// Ref is where the lease is on the remote: for a push that gives it back together with something else. The zero
// RemoteRef for no lease.
func (l Lease) Ref() git.RemoteRef {
	if l.sha == "" {
		return git.RemoteRef{}
	}
	return git.RemoteRef{Name: refs + l.Task, Commit: l.sha}
}

// fileName is the only file of a lease's commit.
const fileName = "lease.json"

// How much of a lease is read at all.
const (
	maxFile = 4 << 10
	maxText = 120 // runes of one of its texts
	maxURL  = 500
)

// fileText is the file's content. Another version is another shape.
type fileText struct {
	Version int    `json:"version"`
	Key     string `json:"key"`
	Lease
}

const version = 1

// text is the file of a lease.
func (l Lease) text() ([]byte, error) {
	text, err := json.MarshalIndent(fileText{version, l.key, l.clean()}, "", "  ")
	return append(text, '\n'), err
}

// clean is a lease with texts as they may be shown.
func (l Lease) clean() Lease {
	l.Run, l.Owner, l.RunURL = nameText(l.Run), nameText(l.Owner), webAddress(l.RunURL)
	l.Taken, l.Until = l.Taken.UTC(), l.Until.UTC()
	if l.Stop != nil {
		l.Stop = &Stop{loginText(l.Stop.By), plainText(l.Stop.Why), l.Stop.At.UTC()}
	}
	return l
}

// read makes a lease of what the remote has, which may be anything. No lease is believed for longer than longestRead
// after its commit's date, and none at all when that lies too far ahead: it would hold the run forever.
func read(task string, f git.RefFile, now time.Time) Lease {
	l, why := parse(task, f.Content)
	l.sha = f.Commit
	if l.Unreadable = why; why != "" {
		l.Until = f.Date.Add(longest)
	} else if end := f.Date.Add(longestRead); l.Until.After(end) {
		l.Until = end
	}
	if f.Date.IsZero() || f.Date.After(now.Add(longest)) {
		l.Until = time.Time{}
	}
	return l
}

// parse reads the file, or says in a few words why it cannot.
func parse(task string, text []byte) (l Lease, why string) {
	var t fileText
	unread := Lease{Task: task}
	from := json.NewDecoder(bytes.NewReader(text))
	from.DisallowUnknownFields()
	err := from.Decode(&t)
	_, more := from.Token()
	switch {
	case text == nil:
		return unread, fmt.Sprintf("it has no file %s of at most %d bytes", fileName, maxFile)
	case err != nil, !errors.Is(more, io.EOF), len(t.Key) > maxText: // with a wish to stop such a key would be too large
		return unread, "it is not written as ralph writes it"
	case t.Version != version:
		return unread, "another version of ralph wrote it"
	case t.Task != task:
		return unread, "it is of another task"
	case t.Key == "" || t.Until.IsZero():
		return unread, "it does not say whose it is and until when"
	}
	l = t.clean()
	l.key = t.Key
	if _, err := l.text(); err != nil { // a wish to stop could not be added: a year that JSON has no form for
		return unread, "it is not written as ralph writes it"
	}
	return l, ""
}

// plainText is a short text on one line, without what a terminal obeys or no one sees.
func plainText(s string) string {
	return safetext.Shorten(safetext.OneLine(only(s, func(r rune) bool {
		return r != utf8.RuneError && (unicode.IsPrint(r) || r == '\n' || r == '\t')
	})), maxText)
}

// nameText is a plain text of nothing but words: it goes into answers to people, and cannot mention, link or mark
// anything up there.
func nameText(s string) string {
	return plainText(only(s, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ,-()…\n\t", r)
	}))
}

// loginText is what can be a login.
func loginText(s string) string {
	return plainText(only(s, func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_[]…", r)
	}))
}

// only is a text without the characters that do not fit.
func only(s string, fits func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if fits(r) {
			return r
		}
		return -1
	}, s)
}

// webAddress is an address that may be shown as a link, or nothing.
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxURL || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}
