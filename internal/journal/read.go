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
	"path"
	"syscall"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Read reads records. whole is how many bytes they take; an unfinished last line is left out of both. Any other line
// that is not a record is an error that names it; then the records are those before it.
func Read(r io.Reader) (records []loop.Record, whole int64, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, size, err := readLine(lines, maxLine)
		switch {
		case errors.Is(err, io.EOF):
			return records, whole, nil
		case errors.Is(err, errLong):
			return records, whole, fmt.Errorf("line %d is longer than %d bytes", n, maxLine)
		case err != nil:
			return records, whole, err
		}
		var rec loop.Record
		if err := json.Unmarshal(line, &rec); err != nil {
			return records, whole, fmt.Errorf("line %d is not a record: %w", n, err)
		}
		if err := rec.Valid(); err != nil {
			return records, whole, fmt.Errorf("line %d: %w", n, err)
		}
		records = append(records, rec)
		whole += size
	}
}

// readLine reads a line with its end; size is its length in bytes. If the line is longer than most, it keeps that many
// bytes and looks only for the end: if there is one, the error is errLong, otherwise io.EOF, as for any unfinished line.
func readLine(r *bufio.Reader, most int) (line []byte, size int64, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if size += int64(len(part)); size <= int64(most) {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, size, err
		case size > int64(most):
			return nil, size, errLong
		default:
			return line, size, nil
		}
	}
}

var errLong = errors.New("the line is too long")

// maxLine bounds one record: outputs in it are bounded by loop.OutputBytes, so a longer line is not ours.
const maxLine = 4 << 20

var errNotPlain = errors.New("is not a regular file; remove it")

// openIn opens a plain file of a directory, making the directories on the way to a new one. Neither a link that leads
// out of the directory nor a pipe that would keep us waiting is opened: what runs there may have put it there.
func openIn(dir, name string, flag int, mode fs.FileMode) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if above := path.Dir(name); flag&os.O_CREATE != 0 && above != "." {
		if err := root.MkdirAll(above, 0o755); err != nil {
			return nil, err
		}
	}
	return openPlain(root, name, flag, mode)
}

func openPlain(root *os.Root, name string, flag int, mode fs.FileMode) (*os.File, error) {
	return onlyPlain(root.OpenFile(name, flag|syscall.O_NONBLOCK, mode))
}

// onlyPlain is an opened file, if it is a plain one.
func onlyPlain(file *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s %w", file.Name(), errNotPlain)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// plain opens a file to read, when it is one: a pipe that someone left in its place would be waited for forever.
func plain(name string) (*os.File, error) {
	return onlyPlain(os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

// read is the text of a plain file.
func read(name string) ([]byte, error) {
	file, err := plain(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// File is the journal's name in a run's directory and in the run record.
const File = "journal.jsonl"

// tornAt reports whether nothing in a journal is a record from here on: its end did not reach the disk whole, and is
// cut off when the run continues.
func tornAt(file *os.File, at, size int64) bool {
	rest, err := io.ReadAll(io.NewSectionReader(file, at, min(size-at, 2*maxLine)))
	return err == nil && at > 0 && torn(rest)
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
