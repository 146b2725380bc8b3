package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Find is the state of the run in dir when it is one of a task; ok is false when it is another's, or there is none. Of
// a run of another task only the first record is read.
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
	if name == "" {
		return Find(dir, task)
	}
	known, err := readSeal(name)
	switch {
	case err != nil:
		return s, false, err
	case known == nil:
		return findUnsealed(dir, name, task)
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

// findUnsealed finds a run without a seal, which is to be believed only where there are no seals at all.
func findUnsealed(dir, name, task string) (s loop.State, ok bool, err error) {
	s, ok, err = Find(dir, task)
	if !ok || err != nil {
		return s, ok, err
	}
	if _, err := os.Lstat(filepath.Dir(name)); err != nil {
		return s, true, nil //nolint:nilerr // nobody has sealed anything here
	}
	return loop.State{}, false, &TamperedError{Run: filepath.Base(dir), Unknown: true, Over: over(s)}
}
