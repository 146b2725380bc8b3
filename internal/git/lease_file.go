package git

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// leaseFile is the only file of a lease's commit.
const leaseFile = "lease.json"

// How much of a lease is read at all.
const (
	maxLease       = 4 << 10
	maxLeaseCommit = 64 << 10 // with a signature
	maxLeaseText   = 120      // runes of one of its texts
	maxLeaseURL    = 500
)

// leaseText is the file's content. Another version is another shape.
type leaseText struct {
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

const leaseVersion = 1

// text is the file of a lease.
func (l Lease) text() ([]byte, error) {
	t := leaseText{leaseVersion, l.Task, nameText(l.Run), nameText(l.Owner), webAddress(l.RunURL), l.key, l.Taken.UTC(), l.Until.UTC(), nil}
	if l.Stop != nil {
		t.Stop = &stopText{loginText(l.Stop.By), plainText(l.Stop.Why), l.Stop.At.UTC()}
	}
	text, err := json.MarshalIndent(t, "", "  ")
	return append(text, '\n'), err
}

// readLease makes a lease of what the remote has, which may be anything. date is the commit's, the zero time when it has none. No lease
// is believed for longer than LongestLease from then on, and none at all when that lies too far ahead: it would hold the run for ever.
func readLease(task, sha string, text []byte, date, now time.Time) Lease {
	l, why := parseLease(task, text)
	l.sha = sha
	end := date.Add(LongestLease)
	if l.Unreadable = why; why != "" || l.Until.After(end) {
		l.Until = end
	}
	if date.IsZero() || date.After(now.Add(LongestLease)) {
		l.Until = time.Time{}
	}
	return l
}

// parseLease reads the file, or says in a few words why it cannot.
func parseLease(task string, text []byte) (l Lease, why string) {
	var t leaseText
	unread := Lease{Task: task}
	if text == nil {
		return unread, fmt.Sprintf("it has no file %s of at most %d bytes", leaseFile, maxLease)
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
	case t.Version != leaseVersion:
		return unread, "another version of ralph wrote it"
	case t.Task != task:
		return unread, "it is of another task"
	case t.Key == "" || t.Until.IsZero():
		return unread, "it does not say whose it is and until when"
	}
	l = Lease{Task: task, Run: nameText(t.Run), Owner: nameText(t.Owner), RunURL: webAddress(t.RunURL), key: t.Key, Taken: t.Taken, Until: t.Until}
	if t.Stop != nil {
		l.Stop = &Stop{By: loginText(t.Stop.By), Why: plainText(t.Stop.Why), At: t.Stop.At}
	}
	return l, ""
}

// plainText is a short text on one line, without what a terminal obeys or nobody sees.
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
		if n++; n > maxLeaseText {
			return strings.TrimSpace(b.String()) + "…"
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// nameText is a plain text of words alone: it goes into answers to people, and cannot mention, link or mark anything up there.
func nameText(s string) string {
	return plainText(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ,-()\n\t", r) {
			return r
		}
		return -1
	}, s))
}

// loginText is what can be a login.
func loginText(s string) string {
	return plainText(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_[]", r)) {
			return r
		}
		return -1
	}, s))
}

// webAddress is an address that may be shown as a link, or nothing.
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxLeaseURL || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

// leases reads commits that are here as the leases of their tasks. What is too large is not even taken into memory.
func (d door) leases(ctx context.Context, at map[string]string, now time.Time) (map[string]Lease, error) {
	var ask strings.Builder
	var tasks []string
	for task, sha := range at {
		tasks = append(tasks, task)
		fmt.Fprintf(&ask, "%s^{commit}\n%s:%s\n", sha, sha, leaseFile)
	}
	if len(tasks) == 0 {
		return map[string]Lease{}, nil
	}
	out, _, err := d.run(ctx, call{args: []string{"cat-file", "--batch-check=%(objecttype) %(objectname) %(objectsize)"}, in: strings.NewReader(ask.String())})
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if err != nil || len(lines) != 2*len(tasks) {
		return nil, errors.Join(fmt.Errorf("reading leases: git answered with %d lines", len(lines)), err)
	}
	all := map[string]Lease{}
	for i, task := range tasks {
		commit, err := d.small(ctx, lines[2*i], "commit", maxLeaseCommit)
		if err != nil {
			return nil, err
		}
		text, err := d.small(ctx, lines[2*i+1], "blob", maxLease)
		if err != nil {
			return nil, err
		}
		all[task] = readLease(task, at[task], text, commitDate(commit), now)
	}
	return all, nil
}

// small is the content of an object of a type when it is small enough, else nil; about is a line of cat-file's check.
func (d door) small(ctx context.Context, about, kind string, most int) ([]byte, error) {
	f := fields(about)
	if len(f) != 3 || f[0] != kind {
		return nil, nil
	}
	if size, err := strconv.Atoi(f[2]); err != nil || size > most {
		return nil, nil //nolint:nilerr // as good as not there
	}
	out, err := d.out(ctx, "cat-file", kind, f[1])
	if err != nil {
		return nil, fmt.Errorf("reading a lease: %w", err)
	}
	return []byte(out), nil
}

// commitDate is when a commit was made, as it says itself.
func commitDate(raw []byte) time.Time {
	for line := range strings.Lines(string(raw)) {
		rest, ok := strings.CutPrefix(line, "committer ")
		if !ok {
			if line == "\n" {
				break
			}
			continue
		}
		f := fields(rest[strings.LastIndexByte(rest, '>')+1:])
		if len(f) != 2 {
			break
		}
		if at, err := strconv.ParseInt(f[0], 10, 64); err == nil && at > 0 && at < 1<<40 {
			return time.Unix(at, 0)
		}
	}
	return time.Time{}
}
