package work

import (
	"io"
	"sync"
)

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
