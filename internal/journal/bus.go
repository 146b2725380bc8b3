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
	"regexp"
	"sync"
	"time"
)

// BusFile is the message bus of a task directory: one message a line, only ever appended to, by any process.
const BusFile = ".ralph/bus.jsonl"

// MaxMessage is how many bytes the line of a message may take, its end included.
const MaxMessage = 64 << 10

// Message is one line of the bus.
type Message struct {
	At   time.Time `json:"at"`
	Type string    `json:"type"` // a word, see messageType: "wait_without_restart"
	Text string    `json:"text"`
	From int       `json:"from"` // the process that says it; anyone can write any number
}

var messageType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`) })

// Valid says what is wrong with a message; nil when it can be posted.
func (m Message) Valid() error {
	if !messageType().MatchString(m.Type) {
		return fmt.Errorf("the type of the message is %.80q; must be one word of 1 to 64 letters, digits, dots, dashes "+
			"and underscores", m.Type)
	}
	return nil
}

// Post appends a message to the bus of a task directory in one write, so that processes never mix their lines. A line
// that someone did not finish costs no message but its own.
func Post(dir string, m Message) error {
	line, err := m.line()
	if err != nil {
		return err
	}
	return AppendLine(dir, BusFile, string(line))
}

// AppendLine appends a line, its end included, to a file of dir in one write. A line there that has no end is ended
// first.
func AppendLine(dir, name, line string) error {
	file, err := openIn(dir, name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	defer file.Close()
	if unfinished(file) {
		line = "\n" + line
	}
	if _, err := file.WriteString(line); err != nil {
		return fmt.Errorf("writing to %s: %w", name, err)
	}
	return nil
}

func (m Message) line() ([]byte, error) {
	if err := m.Valid(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		return nil, fmt.Errorf("writing a message: %w", err)
	}
	if b.Len() > MaxMessage {
		return nil, fmt.Errorf("the message takes %d bytes, %d are allowed: write it to a file and post the name of the file",
			b.Len(), MaxMessage)
	}
	return b.Bytes(), nil
}

// unfinished reports whether the last line has no end.
func unfinished(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = file.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// BusEnd is where the bus ends now, in bytes: what is posted from here on is read by ReadBus from there.
func BusEnd(dir string) (int64, error) {
	file, size, err := openBus(dir)
	_ = file.Close() // of none it is an error
	return size, err
}

// openBus opens the bus of a task directory, with its length in bytes; nil without a bus.
func openBus(dir string) (file *os.File, size int64, err error) {
	file, err = openIn(dir, BusFile, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("opening the message bus: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("reading the message bus: %w", err), file.Close())
	}
	return file, info.Size(), nil
}

// ReadBus hands on each message from an offset in bytes, with its line without the end, and returns where to read on.
// It holds one line at a time. Lines that are no messages are skipped; one without an end is left for the next
// time. A bus that has become shorter than the offset is another one, and read from its beginning. No bus is an empty
// one.
func ReadBus(dir string, from int64, each func(m Message, line []byte) error) (next int64, err error) {
	file, size, err := openBus(dir)
	if err != nil {
		return from, err
	}
	if file == nil {
		return 0, nil
	}
	defer file.Close()
	if size < from {
		from = 0
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return from, fmt.Errorf("reading the message bus: %w", err)
	}
	there := size - from
	return readMessages(io.LimitReader(file, there), from, int(min(there, MaxMessage)), each)
}

// readMessages reads with a buffer of a size that the longest message there can have.
func readMessages(r io.Reader, at int64, size int, each func(Message, []byte) error) (next int64, err error) {
	lines := bufio.NewReaderSize(r, size)
	for {
		line, length, err := readLine(lines, MaxMessage)
		if errors.Is(err, io.EOF) {
			return at, nil
		}
		if err != nil && !errors.Is(err, errLong) {
			return at, fmt.Errorf("reading the message bus: %w", err)
		}
		at += length
		var m Message
		line = bytes.TrimSuffix(line, []byte("\n"))
		if json.Unmarshal(line, &m) == nil && m.Valid() == nil {
			if err := each(m, line); err != nil {
				return at, err
			}
		}
	}
}
