package work

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// How large a message may be, in bytes: an order holds a payload of GitHub's, a record what an agent has said.
const (
	MostRecord = 16 << 20
	mostOrder  = 40 << 20
)

// ErrTooLarge is of a message that is larger than it may be; what follows it cannot be read.
var ErrTooLarge = errors.New("a message on the job's socket is too large")

// Reader reads messages, one JSON object a line.
type Reader struct {
	from *bufio.Reader
	most int
}

// NewReader reads messages of at most so many bytes.
func NewReader(from io.Reader, most int) *Reader {
	return &Reader{bufio.NewReaderSize(from, 64<<10), most}
}

// Read reads the next message into to. At the end it is io.EOF.
func (r *Reader) Read(to any) error {
	var line []byte
	for {
		part, err := r.from.ReadSlice('\n')
		if len(line)+len(part) > r.most {
			return ErrTooLarge
		}
		line = append(line, part...)
		switch {
		case err == nil:
			if err := json.Unmarshal(line, to); err != nil {
				return fmt.Errorf("reading a message on the job's socket: %w", err)
			}
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0: // whoever wrote it was killed
			return io.EOF
		default:
			return err
		}
	}
}

// Encode is a message as it is sent.
func Encode(message any) ([]byte, error) {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	err := to.Encode(message)
	return b.Bytes(), err
}

// Sender sends messages in their order, without making anybody wait for whoever reads them. It is safe for concurrent
// use.
type Sender struct {
	mu      sync.Mutex
	changed *sync.Cond
	waiting [][]byte
	held    int // bytes of output among them
	dropped int // bytes of output that found no room
	closed  bool
	err     error
	done    chan struct{}
}

// mostHeld bounds the output that waits for a reader.
const mostHeld = 1 << 20

// NewSender sends what it is given to a writer until Close.
func NewSender(to io.Writer) *Sender {
	s := &Sender{done: make(chan struct{})}
	s.changed = sync.NewCond(&s.mu)
	go s.write(to)
	return s
}

// Send sends a message. What cannot be sent any more is dropped: Close says so.
func (s *Sender) Send(message any) {
	line, err := Encode(message)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.err = errors.Join(s.err, err)
		return
	}
	s.put(line)
}

func (s *Sender) put(line []byte) {
	if !s.closed && s.err == nil {
		s.waiting = append(s.waiting, line)
		s.changed.Signal()
	}
}

// Output sends a piece of the log. Where the reader is too slow for it, it is left out, and said so.
func (s *Sender) Output(text string) {
	line, err := Encode(ToServer{Output: text})
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held+len(line) > mostHeld {
		s.dropped += len(text)
		return
	}
	s.held += len(line)
	s.put(line)
	if s.dropped > 0 {
		said, _ := Encode(ToServer{Output: fmt.Sprintf("… %d bytes are left out here\n", s.dropped)})
		s.put(said)
		s.dropped = 0
	}
}

// Close waits until all was sent, or could not be.
func (s *Sender) Close() error {
	s.mu.Lock()
	s.closed = true
	s.changed.Signal()
	s.mu.Unlock()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Sender) write(to io.Writer) {
	defer close(s.done)
	for {
		s.mu.Lock()
		for len(s.waiting) == 0 && !s.closed {
			s.changed.Wait()
		}
		lines := s.waiting
		s.waiting, s.held = nil, 0
		over := len(lines) == 0
		s.mu.Unlock()
		if over {
			return
		}
		for _, line := range lines {
			if _, err := to.Write(line); err != nil {
				s.mu.Lock()
				s.err = errors.Join(s.err, err)
				s.mu.Unlock()
				return
			}
		}
	}
}

// Session sends messages over one connection after another. What Send was given goes over each of them, from the first
// message on: the other side may have heard none of it, and takes no harm from hearing it again. It is safe for
// concurrent use.
type Session struct {
	mu   sync.Mutex
	to   *Sender // nil: there was no connection yet
	kept []any
}

// Attach makes a connection the one that messages go over.
func (s *Session) Attach(to io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.to != nil {
		go s.to.Close() // its connection has ended, or does soon
	}
	s.to = NewSender(to)
	for _, message := range repeated(s.kept) {
		s.to.Send(message)
	}
}

// Send sends a message now, or over the next connection.
func (s *Session) Send(message any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, message)
	if s.to != nil {
		s.to.Send(message)
	}
}

// Pass sends what the other side can do without, if it can be sent now.
func (s *Session) Pass(message ToServer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.to == nil:
	case message.Output != "":
		s.to.Output(message.Output)
	default:
		s.to.Send(message)
	}
}

// Close waits until all was sent, or could not be.
func (s *Session) Close() error {
	s.mu.Lock()
	to := s.to
	s.mu.Unlock()
	if to == nil {
		return nil
	}
	return to.Close()
}

// repeated are messages that are sent once more. What began, and is told again with its records, has these by now.
func repeated(kept []any) (out []any) {
	began := -1
	for _, message := range kept {
		if m, ok := message.(ToServer); ok && m.Begun != nil {
			again := *m.Begun
			message, began = ToServer{Begun: &again}, len(out)
		} else if ok && m.Record != nil && began >= 0 {
			b := out[began].(ToServer).Begun
			b.Records = max(b.Records, m.Record.Number)
		}
		out = append(out, message)
	}
	return out
}
