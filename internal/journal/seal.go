package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/loop"
)

// A journal in a working tree is where an agent can write. Its seal is where the agent cannot: a file that says
// what the journal may hold. Like the journal it is only ever appended to, so that no loss of power can damage what
// reached the disk before. docs/internals/journal.md says what follows from that.
//
// Each line of a seal is an entry: the beginning of a SHA-256 over all entries up to this one, a space, and a JSON
// object. A line whose hash is wrong, and whatever comes after it, did not reach the disk whole.

// mark is what a journal is at one moment: how long, and the SHA-256 of it in hexadecimal.
type mark struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// entry is one line of a seal.
type entry struct {
	Is   entryKind `json:"is"`
	mark           // the journal
	// Boot names the time since the machine was started, of an opened entry; empty where the system has no name for it.
	Boot string `json:"boot,omitempty"`
	// What the run is, in the first announced entry that knows.
	Task   string `json:"task,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Over says of an announced entry that the run has ended, and is not resumed unless someone asks for it.
	Over bool `json:"over,omitempty"`
}

// entryKind names what an entry says.
type entryKind string

const (
	opened    entryKind = "opened"    // a process opened the journal, as it is here: what was announced beyond no longer counts
	announced entryKind = "announced" // the journal is going to be this, with one more record
	synced    entryKind = "synced"    // this much of the journal is on the disk
)

// line is the entry as it is written, and the hash over all entries with it. before is the hash over those before.
func (e entry) line(before []byte) (text, chain []byte, err error) {
	object, err := json.Marshal(e)
	if err != nil {
		return nil, nil, err
	}
	chain = chained(before, object)
	text = append(hex.AppendEncode(nil, chain[:chainBytes]), ' ')
	return append(append(text, object...), '\n'), chain, nil
}

// chainBytes is how many bytes of the hash are before an entry.
const chainBytes = 8

// seal writes a journal's seal. The zero value seals nothing.
type seal struct {
	name   string    // the file's
	file   *os.File  // nil seals nothing
	at     int64     // where the next entry goes
	chain  []byte    // the hash over the entries so far
	now    mark      // the journal
	sum    hash.Hash // of the journal
	task   string    // what the entries have said
	branch string
	why    error // why it is missing
}

// begin continues with a seal, or makes the first one.
func (s *seal) begin(name string, known *sealed, raw []byte, boot string) error {
	s.name, s.sum = name, sha256.New()
	s.sum.Write(raw)
	s.now = mark{int64(len(raw)), hex.EncodeToString(s.sum.Sum(nil))}
	err := s.openFile(name, known)
	if err == nil {
		err = s.write(entry{Is: opened, mark: s.now, Boot: boot, Task: s.task, Branch: s.branch})
	}
	if err != nil {
		err = errors.Join(err, s.close())
		if known == nil { // half a seal would be taken for a damaged one
			_ = os.Remove(name)
		}
		return fmt.Errorf("sealing the journal: %w", err)
	}
	return nil
}

// openFile opens the file where its last whole entry ends.
func (s *seal) openFile(name string, known *sealed) (err error) {
	if known == nil {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		s.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	}
	s.task, s.branch = known.task, known.branch
	s.at, s.chain = known.size, known.chain
	if s.file, err = os.OpenFile(name, os.O_RDWR, 0); err != nil {
		return err
	}
	return s.file.Truncate(s.at)
}

// write appends an entry.
func (s *seal) write(e entry) error {
	text, chain, err := e.line(s.chain)
	if err != nil {
		return err
	}
	if _, err := s.file.WriteAt(text, s.at); err != nil {
		return errors.Join(err, s.file.Truncate(s.at))
	}
	s.at, s.chain = s.at+int64(len(text)), chain
	return nil
}

// announce seals what the journal is going to be with one more line, and returns what to do once it is.
func (s *seal) announce(line []byte, after loop.State) (done func(), err error) {
	if s.file == nil {
		return func() {}, nil
	}
	sum, err := s.sum.(hash.Cloner).Clone()
	if err != nil {
		return nil, err
	}
	sum.Write(line)
	e := entry{Is: announced, mark: mark{s.now.Bytes + int64(len(line)), hex.EncodeToString(sum.Sum(nil))},
		Over: over(after)}
	if after.Start.Task != s.task || after.Start.Branch != s.branch {
		e.Task, e.Branch = after.Start.Task, after.Start.Branch
	}
	if err := s.write(e); err != nil {
		return nil, fmt.Errorf("sealing the journal: %w", err)
	}
	return func() { s.sum, s.now, s.task, s.branch = sum, e.mark, after.Start.Task, after.Start.Branch }, nil
}

// over reports whether a run has ended and is not resumed unless someone asks for it.
func over(s loop.State) bool {
	return s.End != nil && s.End.Outcome != loop.Interrupted && s.End.Outcome != loop.Waiting
}

func (s *seal) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

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
	Over    bool   // the run had ended, and is not resumed unless someone asks for it
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

// readSeal is what a seal says; nil without one, or for an empty name.
func readSeal(name string) (*sealed, error) {
	if name == "" {
		return nil, nil
	}
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

// mayBeBehind reports whether the journal may hold records that the seal does not have: the seal's last entries may
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
