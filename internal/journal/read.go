package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Read reads records. whole is how many bytes they take; an unfinished last line is left out of both. Any other line
// that is not a record is an error that names it; then the records are those before it.
func Read(r io.Reader) (records []loop.Record, whole int64, err error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(lines)
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
		whole += int64(len(line))
	}
}

// readLine reads a line with its end. Of one that is longer than maxLine it keeps no more than that, and looks only
// whether it ends: then the error is errLong, and io.EOF otherwise, as of any line that no one finished.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for long := false; ; {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err
		case long:
			return nil, errLong
		default:
			return line, nil
		}
	}
}

var errLong = errors.New("the line is too long")

// maxLine bounds one record: outputs in it are bounded by loop.OutputBytes, so a longer line is not ours.
const maxLine = 4 << 20

var errNotPlain = errors.New("is not a regular file")

// plain opens a file to read, when it is one: opening a pipe that someone left in its place would wait forever.
func plain(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w: remove it", name, errNotPlain)
	}
	return os.Open(name)
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
