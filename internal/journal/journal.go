// Package journal stores the records of a run, one JSON object a line, and reads them back. It also keeps two runs out
// of one directory.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ralph-loop/ralph/internal/loop"
)

// File is the journal's name in a run's directory and in the run record.
const File = "journal.jsonl"

// maxLine bounds one record: outputs in it are bounded by loop.OutputBytes, so a longer line is not ours.
const maxLine = 4 << 20

// Journal is an open journal. It is not safe for use by several goroutines.
type Journal struct {
	name  string // the file's
	real  string // its directory, without links on the way
	cut   string // see Cut
	state loop.State
	// raw is the whole text, which the run record carries: what is in the file, an agent of our own user could have
	// changed.
	raw    []byte
	forget bool

	mu   sync.Mutex // guards what follows from a sync in the background
	file *os.File
	size int64 // of whole records in it
	seal seal
	sync syncing
}

// Open opens the journal in dir, creating both when absent. An end that a killed process did not finish is cut off, and
// Cut says so.
func Open(dir string) (*Journal, error) {
	raw, err := read(filepath.Join(dir, File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	good, cut, err := whole(raw, filepath.Base(dir))
	if err != nil {
		return nil, err
	}
	return take(dir, good, cut)
}

// take opens the journal in dir for a text that it begins with. What follows the text is cut off.
func take(dir string, raw []byte, cut string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the run's directory: %w", err)
	}
	name := filepath.Join(dir, File)
	records, size, err := Read(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("reading the journal %s: %w", name, err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	if err := file.Truncate(size); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", errors.Join(err, file.Close()))
	}
	return &Journal{file: file, name: name, real: real, cut: cut, size: size, state: loop.Fold(records), raw: raw[:size]},
		nil
}

// Cut says in one sentence that the end of the journal was cut off when it was opened; empty: nothing was.
func (j *Journal) Cut() string { return j.cut }

// Import makes dir hold a journal that came from elsewhere: the run record of another machine.
func Import(dir string, raw []byte) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the run's directory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, File), raw, 0o644); err != nil {
		return nil, fmt.Errorf("writing the journal: %w", err)
	}
	return Open(dir)
}

var errLong = errors.New("the line is too long")

// Append writes one record and returns the state after it. It reaches the operating system in one write: a process that
// dies right after has recorded it, one that dies before has not. What a full disk took only a part of is taken back.
// Sync puts it on the disk.
func (j *Journal) Append(rec loop.Record) (loop.State, error) {
	line, err := encode(rec)
	if err != nil {
		return j.state, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.sync.failed != nil {
		return j.state, j.sync.failed
	}
	if err := j.restoreFile(); err != nil {
		return j.state, fmt.Errorf("keeping the journal: %w", err)
	}
	after := j.state.With(rec)
	done, err := j.seal.announce(line, after)
	if err != nil {
		return j.state, err
	}
	if _, err := j.file.WriteAt(line, j.size); err != nil {
		return j.state, errors.Join(fmt.Errorf("writing a %s record: %w", rec.Type, err), j.file.Truncate(j.size))
	}
	done()
	j.size += int64(len(line))
	if !j.forget {
		j.raw = append(j.raw, line...)
	}
	j.state = after
	return j.state, nil
}

// State is what the records add up to.
func (j *Journal) State() loop.State { return j.state }

// Forget says that no one will ask for the text: a run without a run record, however long, need not hold it.
func (j *Journal) Forget() { j.raw, j.forget = nil, true }

// Bytes is the journal's text, for the run record. The caller must not change it.
func (j *Journal) Bytes() []byte { return j.raw }

// BytesWith is what the text will be after one more record, which is not written.
func (j *Journal) BytesWith(rec loop.Record) ([]byte, error) {
	line, err := encode(rec)
	return append(j.raw[:len(j.raw):len(j.raw)], line...), err
}

func encode(rec loop.Record) ([]byte, error) {
	line, err := json.Marshal(rec)
	if err != nil {
		return nil, fmt.Errorf("writing a %s record: %w", rec.Type, err)
	}
	return append(line, '\n'), nil
}
