package lease

import (
	"bytes"
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
)

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
	Version int       `json:"version"`
	Task    string    `json:"task"`
	Run     string    `json:"run,omitempty"`
	Owner   string    `json:"owner"`
	RunURL  string    `json:"run_url,omitempty"`
	Key     string    `json:"key"`
	Taken   time.Time `json:"taken_at"`
	Until   time.Time `json:"until"`
	Stop    *stopText `json:"stop,omitempty"`
}

type stopText struct {
	By  string    `json:"by"`
	Why string    `json:"why,omitempty"`
	At  time.Time `json:"at"`
}

const version = 1

// text is the file of a lease.
func (l Lease) text() ([]byte, error) {
	t := fileText{
		Version: version, Task: l.Task, Run: nameText(l.Run), Owner: nameText(l.Owner), RunURL: webAddress(l.RunURL),
		Key: l.key, Taken: l.Taken.UTC(), Until: l.Until.UTC(),
	}
	if l.Stop != nil {
		t.Stop = &stopText{loginText(l.Stop.By), plainText(l.Stop.Why), l.Stop.At.UTC()}
	}
	text, err := json.MarshalIndent(t, "", "  ")
	return append(text, '\n'), err
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
	if text == nil {
		return unread, fmt.Sprintf("it has no file %s of at most %d bytes", fileName, maxFile)
	}
	from := json.NewDecoder(bytes.NewReader(text))
	from.DisallowUnknownFields()
	if err := from.Decode(&t); err != nil {
		return unread, "it is not written as ralph writes it"
	}
	if _, err := from.Token(); !errors.Is(err, io.EOF) {
		return unread, "it is not written as ralph writes it"
	}
	switch {
	case t.Version != version:
		return unread, "another version of ralph wrote it"
	case t.Task != task:
		return unread, "it is of another task"
	case t.Key == "" || t.Until.IsZero():
		return unread, "it does not say whose it is and until when"
	case len(t.Key) > maxText: // with a wish to stop it would be too large to be read
		return unread, "it is not written as ralph writes it"
	}
	l = Lease{
		Task: task, Run: nameText(t.Run), Owner: nameText(t.Owner), RunURL: webAddress(t.RunURL),
		key: t.Key, Taken: t.Taken.UTC(), Until: t.Until.UTC(),
	}
	if t.Stop != nil {
		l.Stop = &Stop{By: loginText(t.Stop.By), Why: plainText(t.Stop.Why), At: t.Stop.At.UTC()}
	}
	if _, err := l.text(); err != nil { // a wish to stop could not be added: a year that JSON has no form for
		return unread, "it is not written as ralph writes it"
	}
	return l, ""
}

// plainText is a short text on one line, without what a terminal obeys or no one sees.
func plainText(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if r == '\n' || r == '\t' {
			r = ' '
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			continue
		}
		if n++; n > maxText {
			return strings.TrimSpace(b.String()) + "…"
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// nameText is a plain text of nothing but words: it goes into answers to people, and cannot mention, link or mark
// anything up there.
func nameText(s string) string {
	return plainText(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ,-()…\n\t", r) {
			return r
		}
		return -1
	}, s))
}

// loginText is what can be a login.
func loginText(s string) string {
	return plainText(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_[]…", r) {
			return r
		}
		return -1
	}, s))
}

// webAddress is an address that may be shown as a link, or nothing.
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxURL || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}
