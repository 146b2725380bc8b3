package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"

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
	// Boot names the time since the machine was started, of an opened entry; empty where the system does not tell.
	Boot string `json:"boot,omitempty"`
	// What the run is, in the first announced entry that knows.
	Task   string `json:"task,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Over says of an announced entry that the run has ended, and is not taken up again unless someone asks for it.
	Over bool `json:"over,omitempty"`
}

// entryKind names what an entry says.
type entryKind string

const (
	opened    entryKind = "opened"    // a process opened the journal, as it is here: what was announced beyond counts no more
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
	why    error // why there is none
}

// Unsealed says why a journal that was to be sealed is not: its seal could not be written. nil: it is, or was not to
// be.
func (j *Journal) Unsealed() error { return j.seal.why }

// begin continues with a seal, or makes one when there is none.
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

// over reports whether a run has ended and is not taken up again unless someone asks for it.
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
