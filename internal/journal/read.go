package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

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
