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
	"syscall"
)

// A journal in a working tree lies where an agent can write. Its seal lies where the agent cannot: a file that says what the journal is
// before and after the append that is going on. What does not match it is nobody's word.

// TamperedError says that a journal is not what ralph has written.
type TamperedError struct {
	Run    string // the name of its directory
	Branch string // "" when the seal knows none
}

func (e *TamperedError) Error() string {
	if e.Branch == "" {
		return fmt.Sprintf("the journal of run %s was changed by something other than ralph, so the run cannot go on: begin afresh", e.Run)
	}
	return fmt.Sprintf("the journal of run %s was changed by something other than ralph; its work is on branch %s: begin afresh with --fresh", e.Run, e.Branch)
}

// mark is what a journal is at one moment.
type mark struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// sealed is what a seal's file holds, filled up to sealBytes with spaces. It is overwritten in its place, by one write that a dying process
// cannot leave half done. (A new file for each append, renamed over the old one, costs milliseconds where the file system then waits for the
// disk.) The state comes first and has always seven letters, to be overwritten alone.
type sealed struct {
	State  string `json:"state"`
	Before mark   `json:"before"`
	After  mark   `json:"after"`
	Branch string `json:"branch,omitempty"`
}

// sealBytes is the size of a seal.
const sealBytes = 1024

// The states of a seal: an append is going on, and it is done.
const (
	pending = "pending"
	written = "written"
	stateAt = int64(len(`{"state":"`))
)

// seal keeps a journal's seal. The zero value seals nothing.
type seal struct {
	file *os.File // nil seals nothing
	now  mark
	sum  hash.Hash // of the journal so far
	why  error     // why there is none
}

// OpenSealed is Open for a journal that others can write to. name is the seal's file, in a directory that holds the seals of all runs beside
// this one and that no agent can write to. The error is a *TamperedError when the journal is not as the last append left it: changed, cut,
// removed, or put there by something else while the others are sealed. A journal without a seal is taken where there are no seals at all: it
// came from elsewhere, or is older. Reading alone does not ask for the seal.
func OpenSealed(dir, name string) (*Journal, error) {
	if name == "" {
		return Open(dir)
	}
	raw, err := read(filepath.Join(dir, File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	known, err := readSeal(name)
	if err != nil {
		return nil, err
	}
	raw = raw[:bytes.LastIndexByte(raw, '\n')+1]
	if !known.holds(raw, name) {
		return nil, &TamperedError{Run: filepath.Base(dir), Branch: known.branch()}
	}
	j, err := take(dir, raw)
	if err != nil {
		return nil, err
	}
	j.seal.sum = sha256.New()
	j.seal.sum.Write(raw)
	j.seal.now = markOf(j.seal.sum, j.size)
	if j.seal.why = j.seal.begin(name, known); j.seal.why != nil && known != nil {
		return nil, errors.Join(j.seal.why, j.Close())
	}
	return j, nil
}

// Unsealed says why a journal that was to be sealed is not: its seal could not be written. nil: it is, or was not to be.
func (j *Journal) Unsealed() error { return j.seal.why }

// readSeal is what a seal says; nil when there is none.
func readSeal(name string) (*sealed, error) {
	text, err := read(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal's seal: %w", err)
	}
	var s sealed
	if err := json.Unmarshal(text, &s); err != nil || s.State != pending && s.State != written {
		return nil, fmt.Errorf("the journal's seal %s is damaged: if you trust the journal, remove the seal; else begin afresh with --fresh", name)
	}
	return &s, nil
}

func (s *sealed) branch() string {
	if s == nil {
		return ""
	}
	return s.Branch
}

// holds reports whether a journal is what the seal says. Without a seal only an empty one is, where there are seals of others.
func (s *sealed) holds(raw []byte, name string) bool {
	if s == nil {
		_, err := os.Lstat(filepath.Dir(name))
		return len(raw) == 0 || err != nil
	}
	sum := sha256.Sum256(raw)
	is := mark{int64(len(raw)), hex.EncodeToString(sum[:])}
	return is == s.After || s.State == pending && is == s.Before
}

func markOf(sum hash.Hash, size int64) mark {
	return mark{size, hex.EncodeToString(sum.Sum(nil))}
}

// begin seals what there is, in a new file when there is none.
func (s *seal) begin(name string, known *sealed) error {
	text, err := sealed{State: written, Before: s.now, After: s.now, Branch: known.branch()}.text()
	if err == nil && known == nil {
		err = s.create(name, text)
	}
	if err == nil {
		s.file, err = os.OpenFile(name, os.O_WRONLY, 0)
	}
	if err == nil {
		_, err = s.file.WriteAt(text, 0)
	}
	if err != nil {
		return fmt.Errorf("sealing the journal: %w", err)
	}
	return nil
}

// create makes the file in one step.
func (s *seal) create(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func (s sealed) text() ([]byte, error) {
	text, err := json.Marshal(s)
	if len(text) >= sealBytes { // the longest branch that there can be fits; what does not is not worth a run
		s.Branch = ""
		text, err = json.Marshal(s)
	}
	return append(text, bytes.Repeat([]byte(" "), sealBytes-len(text))...), err
}

// announce seals what the journal is going to be with one more line, and returns what to do once it is.
func (s *seal) announce(line []byte, branch string) (done func() error, err error) {
	if s.file == nil {
		return func() error { return nil }, nil
	}
	sum, err := s.sum.(hash.Cloner).Clone()
	if err != nil {
		return nil, err
	}
	sum.Write(line)
	after := markOf(sum, s.now.Bytes+int64(len(line)))
	text, err := sealed{State: pending, Before: s.now, After: after, Branch: branch}.text()
	if err == nil {
		_, err = s.file.WriteAt(text, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("sealing the journal: %w", err)
	}
	return func() error {
		s.sum, s.now = sum, after
		if _, err := s.file.WriteAt([]byte(written), stateAt); err != nil { // from now on the journal may not be the one before
			return fmt.Errorf("sealing the journal: %w", err)
		}
		return nil
	}, nil
}

func (s *seal) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
