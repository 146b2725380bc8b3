// Package journal stores the records of a run, one JSON object a line, and reads them back. It also keeps two runs out
// of one directory.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

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
func Open(dir string) (*Journal, error) { return OpenSealed(dir, "") }

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

// The agent works where the journal lies, and may remove or replace anything there: a "git clean -fdx" takes all that
// no commit holds. What is open stays open, so nothing of the journal is lost; and what is in its place is no one's
// word.

// restoreFile makes the file in the journal's place the one that is open. One that is gone is written again, unless its
// place now leads elsewhere.
func (j *Journal) restoreFile() error {
	mine, err := j.file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(j.name); err == nil && os.SameFile(mine, there) {
		return j.mend(mine.Size())
	}
	if err := j.checkLinks(); err != nil {
		return err
	}
	dir := filepath.Dir(j.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.Remove(j.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(j.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, io.NewSectionReader(j.file, 0, j.size)); err != nil {
		return errors.Join(err, file.Close())
	}
	old := j.file
	j.file, j.sync.upTo, j.sync.placed = file, 0, false
	return old.Close()
}

// fix writes the text again over one that has been cut or continued with: what is appended would else not be read as it
// was written.
func (j *Journal) mend(size int64) error {
	if size == j.size {
		return nil
	}
	j.sync.upTo = 0
	if j.forget { // no one has the text: what is missing shows when the journal is read again
		return j.file.Truncate(min(size, j.size))
	}
	_, err := j.file.WriteAt(j.raw, 0)
	return errors.Join(err, j.file.Truncate(j.size))
}

// checkLinks reports a link in the way to the journal that did not exist when it was opened.
func (j *Journal) checkLinks() error {
	dir := filepath.Dir(j.name)
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err != nil && at != filepath.Dir(at) {
			continue // it is gone, and so is what was in it
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(at, dir)
		if err == nil && filepath.Join(real, below) != j.real {
			err = fmt.Errorf("%s now leads to %s, and what is written there would be written elsewhere: take it away, then "+
				"begin again", at, real)
		}
		return err
	}
}

// syncing is what a journal knows of its way to the disk. The journal's mutex guards it.
type syncing struct {
	upTo   int64 // how many bytes of the journal are on the disk
	placed bool  // so are the names of the files
	failed error // why a sync in the background did not work: nothing can be appended after that

	work  sync.WaitGroup // what is running in the background
	hurry chan struct{}  // closed when that must stop pausing; nil: nothing pauses
	turn  sync.Mutex     // of the one that puts something on the disk
}

// Sync puts every record on the disk, and the seal after them. When it returns, no loss of power takes them back: what
// happens outside of this machine may rely on them. It does nothing when that is so already. A file system that cannot
// sync is no error.
func (j *Journal) Sync() error {
	j.wait()
	if j.sync.failed != nil {
		return j.sync.failed
	}
	return j.syncNow()
}

// SyncSoon begins a Sync after a pause, and does not wait for it. An error is returned by the next Append or Sync, and by
// Close.
func (j *Journal) SyncSoon(pause time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.sync.hurry == nil {
		j.sync.hurry = make(chan struct{})
	}
	hurry := j.sync.hurry
	j.sync.work.Go(func() {
		select {
		case <-time.After(pause):
		case <-hurry:
		}
		if err := j.syncNow(); err != nil {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.sync.failed = err
		}
	})
}

// wait waits for what is running in the background, which pauses no longer.
func (j *Journal) wait() {
	j.mu.Lock()
	if j.sync.hurry != nil {
		close(j.sync.hurry)
		j.sync.hurry = nil
	}
	j.mu.Unlock()
	j.sync.work.Wait()
}

// syncNow puts the journal on the disk, then an entry of the seal that says so, then the seal. In this order the seal
// never says of a record that was lost that it is on the disk. Only the entry is written under the mutex, so that
// no one waits for the disk who appends.
func (j *Journal) syncNow() error {
	j.sync.turn.Lock()
	defer j.sync.turn.Unlock()
	for {
		file, dirs, upTo := j.toSync()
		if file == nil {
			return nil
		}
		err := possible(file.Sync())
		for _, dir := range dirs {
			err = errors.Join(err, syncDir(dir))
		}
		seal, again, err := j.synced(file, upTo, err)
		if again {
			continue
		}
		if err == nil && seal != nil {
			err = possible(seal.Sync())
		}
		if err != nil {
			return fmt.Errorf("putting the journal on the disk: %w", err)
		}
		return nil
	}
}

// toSync says what has to be put on the disk: the file as it is, nil where all of it is there, and once after its
// creation the directories that name it and the seal.
func (j *Journal) toSync() (file *os.File, dirs []string, upTo mark) {
	j.mu.Lock()
	defer j.mu.Unlock()
	upTo.Bytes = j.size
	if j.seal.file != nil {
		upTo = j.seal.now
	}
	switch {
	case j.sync.placed && upTo.Bytes <= j.sync.upTo:
		return nil, nil, upTo
	case j.sync.placed:
		return j.file, nil, upTo
	}
	dir := filepath.Dir(j.name)
	dirs = []string{dir, filepath.Dir(dir)}
	if j.seal.file != nil {
		dir := filepath.Dir(j.seal.name)
		dirs = append(dirs, dir, filepath.Dir(dir))
	}
	return j.file, dirs, upTo
}

// synced keeps what has been put on the disk, and returns the seal that says so, to be put there too. again is true
// when the journal has got another file meanwhile, since its own was removed.
func (j *Journal) synced(file *os.File, upTo mark, err error) (seal *os.File, again bool, _ error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if file != j.file {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	j.sync.upTo, j.sync.placed = upTo.Bytes, true
	if j.seal.file == nil {
		return nil, false, nil
	}
	return j.seal.file, false, j.seal.write(entry{Is: synced, mark: upTo})
}

// Close waits for a sync in the background, and closes the files.
func (j *Journal) Close() error {
	j.wait()
	return errors.Join(j.sync.failed, j.file.Close(), j.seal.close())
}

// Discard closes the journal and removes it with its directory, and its seal: nothing has happened that is worth
// keeping.
func (j *Journal) Discard() error {
	sealed := j.seal.file != nil
	err := errors.Join(j.Close(), os.RemoveAll(filepath.Dir(j.name)))
	if sealed {
		err = errors.Join(err, os.Remove(j.seal.name))
	}
	return err
}

// syncDir puts the names in a directory on the disk. One that is gone has none, and Windows keeps them itself.
func syncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return possible(dir.Sync())
}

// possible is the error of a sync, unless the file system cannot sync.
func possible(err error) error {
	for _, cannot := range []error{syscall.EINVAL, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EROFS} {
		if errors.Is(err, cannot) {
			return nil
		}
	}
	return err
}

// OpenSealed is Open for a journal that others can write to. name is the seal's file, in a directory that holds the
// seals of all runs beside this one and that no agent can write to; with an empty name it is Open.
//
// What the journal holds beyond the last record that reached the disk is cut off, and Cut says so. The error is a
// *TamperedError when the journal is not what ralph has written: changed, shorter than what was synced, removed, or put
// there by something else while the others are sealed. A journal without a seal is taken where there are no seals at
// all: it came from elsewhere, or is older.
func OpenSealed(dir, name string) (*Journal, error) { return openSealed(dir, name, bootID()) }

func openSealed(dir, name, boot string) (*Journal, error) {
	raw, err := read(filepath.Join(dir, File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	known, err := readSeal(name)
	if err != nil {
		return nil, err
	}
	good, cut := []byte(nil), ""
	if name == "" {
		good, cut, err = whole(raw, filepath.Base(dir))
	} else {
		good, cut, err = known.check(raw, name, boot)
	}
	if err != nil {
		return nil, err
	}
	j, err := take(dir, good, cut)
	if err != nil || name == "" {
		return j, err
	}
	if j.seal.why = j.seal.begin(name, known, good, boot); j.seal.why != nil && known != nil {
		return nil, errors.Join(j.seal.why, j.Close())
	}
	return j, nil
}

// Unsealed says why a journal that was to be sealed is not: its seal could not be written. nil: it is, or was not to
// be.
func (j *Journal) Unsealed() error { return j.seal.why }

// Find is the state of the run in dir when it is one of a task; ok is false without one, or when it is another's. Of a
// run of another task only the first record is read.
func Find(dir, task string) (s loop.State, ok bool, err error) {
	file, err := plain(filepath.Join(dir, File))
	if err != nil {
		return s, false, nil //nolint:nilerr // a directory without a journal is no run
	}
	defer file.Close()
	line, err := bufio.NewReaderSize(io.LimitReader(file, maxLine), 64<<10).ReadBytes('\n')
	if err != nil {
		return s, false, nil //nolint:nilerr // a process that died before its first record was whole
	}
	var first loop.Record
	if err := json.Unmarshal(line, &first); err != nil || first.Start == nil || first.Start.Task != task {
		return s, false, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return s, false, err
	}
	records, size, err := Read(file)
	if err != nil {
		info, failed := file.Stat()
		if failed != nil || !tornAt(file, size, info.Size()) {
			return s, false, err
		}
	}
	return loop.Fold(records), true, nil
}

// FindSealed is Find for a journal that others can write to: the state is that of the records which the seal vouches
// for. name is the seal's file; with an empty name it is Find. It changes nothing. The error is a *TamperedError when
// the run is one of the task and its journal is not what ralph has written: changed, missing, or without a seal where
// there are seals of other runs.
func FindSealed(dir, name, task string) (s loop.State, ok bool, err error) {
	known, err := readSeal(name)
	switch {
	case err != nil:
		return s, false, err
	case known == nil: // which counts only where there are no seals at all
		s, ok, err = Find(dir, task)
		if _, failed := os.Lstat(filepath.Dir(name)); ok && err == nil && name != "" && failed == nil {
			return loop.State{}, false, &TamperedError{Run: filepath.Base(dir), Unknown: true, Over: over(s)}
		}
		return s, ok, err
	case known.task != "" && known.task != task:
		return s, false, nil
	case known.task == "": // nothing was announced in it
		if _, ok, err := Find(dir, task); !ok {
			return s, false, err
		}
	}
	raw, err := read(filepath.Join(dir, File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotPlain) {
		return s, false, err
	}
	good, _, err := known.check(raw, name, bootID())
	if err != nil {
		return s, false, err
	}
	records, _, err := Read(bytes.NewReader(good))
	if err == nil && len(records) == 0 {
		err = errors.New("none of its records has reached the disk")
	}
	return loop.Fold(records), err == nil, err
}
