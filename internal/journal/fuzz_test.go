package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// threeRecords are a journal's text, each line a record.
func threeRecords(t testing.TB) (lines []string) {
	t.Helper()
	at := time.Date(2026, 11, 21, 5, 30, 0, 0, time.UTC)
	for _, r := range []loop.Record{
		{Type: loop.Started, At: at, Start: &loop.Start{Run: "r", Task: "issue-42", Branch: "ralph/issue-42"}},
		{Type: loop.TurnBegun, At: at, Iteration: 1, Mode: loop.Implement},
		{Type: loop.Ended, At: at, End: &loop.End{Outcome: loop.Capped, Reason: "enough"}},
	} {
		line, err := encode(r)
		noError(t, err)
		lines = append(lines, string(line))
	}
	return lines
}

// FuzzRead: whatever stands in a journal, no record comes of it that is not a whole line there, what was read reads the
// same again and adds up to a state, and no end hides the records before it.
func FuzzRead(f *testing.F) {
	lines := threeRecords(f)
	whole := strings.Join(lines, "")
	for _, text := range append(lines, "", "{}\n", "null\n", "\x00\x00\n", `{"type":"turned"}`+"\n",
		`{"type":"turn begun","iteration":-1}`+"\n", strings.TrimSpace(lines[1]), lines[0][:9]+lines[1]) {
		f.Add(text, uint16(len(lines[0])))
	}
	f.Fuzz(func(t *testing.T, text string, cut uint16) {
		records, n, err := Read(strings.NewReader(text))
		if n < 0 || n > int64(len(text)) || strings.Count(text[:n], "\n") != len(records) ||
			n > 0 && text[n-1] != '\n' {
			t.Fatalf("%d records of %d bytes: %q", len(records), n, text)
		}
		if err == nil && strings.Contains(text[n:], "\n") {
			t.Errorf("a line is skipped: %q", text[n:])
		}
		again, m, err := Read(strings.NewReader(text[:n]))
		if err != nil || m != n || !reflect.DeepEqual(again, records) {
			t.Errorf("read again: %d records of %d bytes, %v", len(again), m, err)
		}
		loop.Fold(records)

		kept := whole[:int(cut)%(len(whole)+1)]
		kept = kept[:strings.LastIndexByte(kept, '\n')+1]
		records, n, _ = Read(strings.NewReader(kept + text))
		if n < int64(len(kept)) || len(records) < strings.Count(kept, "\n") || (kept + text)[:len(kept)] != kept {
			t.Errorf("after %d whole bytes and %q: %d records of %d bytes", len(kept), text, len(records), n)
		}
	})
}

// FuzzSealed: a journal that its seal vouches for is one that ralph has written, whatever the journal and the end of
// the seal have become; and what was synced is in it.
func FuzzSealed(f *testing.F) {
	lines := threeRecords(f)
	whole := strings.Join(lines, "")
	seal := sealOf(f, lines)
	f.Add(uint16(0), "", uint16(0), "", "b")
	f.Add(uint16(3), lines[1], uint16(9), "\x00\x00\x00", "b")
	f.Add(uint16(len(lines[2])), lines[2][:9], uint16(0), "", "c")
	f.Add(uint16(len(lines[2])), strings.Replace(lines[2], "enough", "plenty", 1), uint16(30), "1234567812345678 {}\n", "")
	f.Add(uint16(len(lines[2])), strings.Replace(lines[2], "enough", "plenty", 1), uint16(0), "", "b")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, lost uint16, end string, torn uint16, sealEnd, boot string) {
		journal := whole[:len(whole)-min(int(lost), len(whole))] + end
		text := seal[:len(seal)-min(int(torn), len(seal))] + sealEnd
		name := filepath.Join(dir, "seal")
		noError(t, os.WriteFile(name, []byte(text), 0o600))
		known, err := readSeal(name)
		if err != nil {
			return
		}
		good, cut, err := known.check([]byte(journal), name, boot)
		if err != nil {
			return
		}
		if !strings.HasPrefix(whole, string(good)) || !strings.HasPrefix(journal, string(good)) {
			t.Errorf("%q is taken for what ralph has written", good)
		}
		if cut == "" && len(good) < len(journal) {
			t.Errorf("%q is cut off in silence", journal[len(good):])
		}
		if len(text) >= len(seal) && torn == 0 && len(good) < len(lines[0]+lines[1]) {
			t.Errorf("what was on the disk is lost: %q", good)
		}
	})
}

// sealOf is the seal of a journal, of which all but the last line was synced.
func sealOf(t testing.TB, lines []string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "seals", "r")
	var s seal
	noError(t, s.begin(name, nil, nil, "b"))
	for i, line := range lines {
		done, err := s.announce([]byte(line), loop.State{})
		noError(t, err)
		if done(); i == len(lines)-2 {
			noError(t, s.write(entry{Is: synced, mark: s.now}))
		}
	}
	noError(t, s.close())
	text, err := os.ReadFile(name)
	noError(t, err)
	return string(text)
}

// FuzzBus: each message of a bus is a line of it, and whatever stands there, what is posted next arrives, and once.
func FuzzBus(f *testing.F) {
	for _, on := range []string{"", `{"type":"a"}` + "\n", `{"type":"a`, "\x00\n", "null\n[]\n{}\n",
		`{"type":"a b"}` + "\n", `{"type":"a","from":"x"}` + "\n"} {
		f.Add(on, "wait", "a\nb\u2028\x00", 7)
	}
	f.Fuzz(func(t *testing.T, on, kind, text string, from int) {
		lines := bytes.Count([]byte(on), []byte("\n"))
		seen := 0
		at, err := readMessages(strings.NewReader(on), 0, MaxMessage, func(m Message, line []byte) error {
			seen++
			var same Message
			if err := json.Unmarshal(line, &same); err != nil || !reflect.DeepEqual(m, same) || m.Valid() != nil ||
				!strings.Contains(on, string(line)+"\n") || bytes.IndexByte(line, '\n') >= 0 {
				t.Errorf("%q of %q is %+v", line, on, m)
			}
			return nil
		})
		if err != nil || seen > lines || at != int64(strings.LastIndexByte(on, '\n')+1) {
			t.Fatalf("%d messages of %d lines, to %d, %v", seen, lines, at, err)
		}
		posted := Message{At: time.Unix(1, 0).UTC(), Type: kind, Text: text, From: from}
		line, err := posted.line()
		if (err == nil) != (posted.Valid() == nil && len(line) <= MaxMessage) {
			t.Fatalf("%+v: %v", posted, err)
		}
		if err != nil {
			return
		}
		next := on
		if next != "" && !strings.HasSuffix(next, "\n") { // as AppendLine does
			next += "\n"
		}
		posted.Text = strings.ToValidUTF8(text, "\uFFFD")
		var got []Message
		_, err = readMessages(bufio.NewReader(strings.NewReader((next + string(line))[at:])), at, MaxMessage,
			func(m Message, _ []byte) error {
				got = append(got, m)
				return nil
			})
		if err != nil || len(got) == 0 || len(got) > 2 || got[len(got)-1].Type != kind || got[len(got)-1].From != from ||
			len(strings.ToValidUTF8(got[len(got)-1].Text, "")) < len(strings.ToValidUTF8(text, "")) {
			t.Errorf("posted %+v, read %+v, %v", posted, got, err)
		}
	})
}
