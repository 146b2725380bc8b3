package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/loop"
)

func chained(before, object []byte) []byte {
	sum := sha256.New()
	sum.Write(before)
	sum.Write(object)
	return sum.Sum(nil)
}

// TamperedError says that a journal is not what ralph has written.
type TamperedError struct {
	Run     string // the name of its directory
	Branch  string // where its work is; empty when the seal knows of none
	Missing bool   // there is no journal, or an empty one
	Unknown bool   // ralph has no seal of it, though it has those of other runs
	Over    bool   // the run had ended, and is not taken up again unless someone asks for it
}

func (e *TamperedError) Error() string {
	again := "start fresh with --fresh"
	if e.Missing {
		again = "put it back, or start fresh with --fresh"
	}
	if e.Branch == "" {
		return fmt.Sprintf("%s, so the run cannot continue: %s", e.What(), again)
	}
	return fmt.Sprintf("%s; its work is on branch %s: %s", e.What(), e.Branch, again)
}

// What is the fact alone, without what follows from it.
func (e *TamperedError) What() string {
	what := "was changed by something other than ralph"
	if e.Missing {
		what = "is missing or empty, though ralph had written to it"
	}
	return fmt.Sprintf("the journal of run %s %s", e.Run, what)
}

// sealed is what a seal says.
type sealed struct {
	// marks are what the journal may be, shortest first. It may not be shorter than the first of them, which was on the
	// disk.
	marks  []mark
	boot   string // since which start of the machine the last process wrote
	task   string // of the run; empty when nothing was announced yet
	branch string
	over   bool // the run had ended

	size  int64  // of the whole entries
	chain []byte // the hash over them
	torn  bool   // something follows them that is no entry
}

// empty is the mark of an empty journal.
var empty = mark{0, hex.EncodeToString(sha256.New().Sum(nil))}

// readSeal is what a seal says; nil when there is none.
func readSeal(name string) (*sealed, error) {
	text, err := read(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal's seal: %w", err)
	}
	s := &sealed{marks: []mark{empty}}
	for line := range bytes.Lines(text) {
		if !s.add(line) {
			s.torn = true
			break
		}
	}
	return s, nil
}

// add takes the next line of a seal; it is false when that is no entry.
func (s *sealed) add(line []byte) bool {
	said, object, found := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	chain := chained(s.chain, object)
	var e entry
	if !found || !bytes.HasSuffix(line, []byte("\n")) || string(said) != hex.EncodeToString(chain[:chainBytes]) ||
		json.Unmarshal(object, &e) != nil {
		return false
	}
	s.size, s.chain = s.size+int64(len(line)), chain
	if e.Task != "" {
		s.task, s.branch = e.Task, e.Branch
	}
	switch e.Is {
	case synced:
		if e.Bytes >= s.marks[0].Bytes {
			s.marks = slices.DeleteFunc(s.marks, func(m mark) bool { return m.Bytes <= e.Bytes })
			s.marks = slices.Insert(s.marks, 0, e.mark)
		}
		return true
	case opened:
		s.boot = e.Boot
	case announced:
		s.over = e.Over
	}
	s.next(e.mark)
	return true
}

// next says what the journal may be now. What was announced before and is not shorter did not come to be.
func (s *sealed) next(m mark) {
	floor := s.marks[0]
	s.marks = slices.DeleteFunc(s.marks, func(known mark) bool { return known.Bytes >= m.Bytes })
	if len(s.marks) == 0 {
		s.marks = []mark{floor}
	}
	if m.Bytes > floor.Bytes {
		s.marks = append(s.marks, m)
	}
}

// check returns the beginning of a journal that its seal vouches for, and a sentence when that is not all that was
// written. name is the seal's file, boot the present start of the machine. The error is a *TamperedError when the
// journal is not what ralph has written. Without a seal only an empty journal passes where there are seals of others.
func (s *sealed) check(raw []byte, name, boot string) (good []byte, cut string, err error) {
	run := filepath.Base(name)
	if s == nil {
		if _, err := os.Lstat(filepath.Dir(name)); err == nil && len(raw) > 0 {
			return nil, "", &TamperedError{Run: run, Unknown: true}
		}
		return whole(raw, run)
	}
	tampered := &TamperedError{Run: run, Branch: s.branch, Over: s.over, Missing: len(bytes.TrimLeft(raw, "\x00")) == 0}
	best := s.longest(raw)
	if best < 0 || s.marks[best].Bytes == 0 && s.hadRecords(boot) {
		return nil, "", tampered
	}
	good, rest := raw[:s.marks[best].Bytes], raw[s.marks[best].Bytes:]
	if s.size == 0 && hasTurn(rest) {
		return nil, "", fmt.Errorf("the journal's seal %s is damaged: if you trust the journal, remove the seal; else "+
			"start fresh with --fresh", name)
	}
	if beginsWithRecord(rest) && !s.mayBeBehind(boot) {
		return nil, "", tampered
	}
	if len(rest) > 0 || best < len(s.marks)-1 {
		cut = cutSentence(run, good, len(rest))
	}
	return good, cut, nil
}

// longest is the index of the longest mark that a journal begins with; -1 when it does not even begin with the first.
func (s *sealed) longest(raw []byte) (best int) {
	best = -1
	sum, at := sha256.New(), int64(0)
	for i, m := range s.marks {
		if m.Bytes > int64(len(raw)) {
			break
		}
		sum.Write(raw[at:m.Bytes])
		at = m.Bytes
		if hex.EncodeToString(sum.Sum(nil)) == m.SHA256 {
			best = i
		} else if i == 0 {
			return -1
		}
	}
	return best
}

// hadRecords reports whether a journal of which nothing is left was more than that: something was synced, or a second
// record was announced since the machine was started, so that the first had been written.
func (s *sealed) hadRecords(boot string) bool {
	return s.marks[0].Bytes > 0 || len(s.marks) > 2 && !s.mayBeBehind(boot)
}

// mayBeBehind reports whether the journal may hold records that the seal does not tell of: the seal's last entries may
// have been lost with the machine's power. While the machine runs that cannot be.
func (s *sealed) mayBeBehind(boot string) bool {
	return s.torn || s.boot == "" || boot == "" || s.boot != boot
}

// whole is the beginning of a journal without a seal that consists of records, and a sentence when an end follows that
// did not reach the disk whole. Anything else that follows is an error.
func whole(raw []byte, run string) (good []byte, cut string, err error) {
	_, n, err := Read(bytes.NewReader(raw))
	good, rest := raw[:n], raw[n:]
	if err != nil && (n == 0 || !torn(rest)) {
		return nil, "", fmt.Errorf("reading the journal of run %s: %w", run, err)
	}
	if len(rest) > 0 {
		cut = cutSentence(run, good, len(rest))
	}
	return good, cut, nil
}

// torn reports whether no line of a text can be a record, whichever ralph wrote it: each is unfinished or garbage.
func torn(text []byte) bool {
	for line := range bytes.Lines(text) {
		if beginsWithRecord(line) {
			return false
		}
	}
	return true
}

// beginsWithRecord reports whether a text begins with what can be a record.
func beginsWithRecord(text []byte) bool {
	line, _, ended := bytes.Cut(text, []byte("\n"))
	return ended && bytes.HasPrefix(line, []byte("{")) && json.Valid(line)
}

// hasTurn reports whether an agent's turn has ended in a journal.
func hasTurn(raw []byte) bool {
	records, _, _ := Read(bytes.NewReader(raw))
	return slices.ContainsFunc(records, func(r loop.Record) bool { return r.Type == loop.Turned })
}

// cutSentence tells what happened to the end of a journal.
func cutSentence(run string, good []byte, lost int) string {
	return fmt.Sprintf("the end of the journal of run %s had not reached the disk whole (a loss of power, or a full "+
		"disk?): %d bytes are cut off, and the run continues after its record %d",
		run, lost, bytes.Count(good, []byte("\n")))
}
