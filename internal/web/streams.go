package web

import (
	"context"
	"sync"
)

// How many streams there may be.
const (
	mostStreams  = 2000
	mostOfPerson = 30
)

// stream is one page that is followed live.
type stream struct {
	login, token string
	cancel       context.CancelFunc
}

// streams are all that are open in this process.
type streams struct {
	mu  sync.Mutex
	all map[*stream]bool
}

func newStreams() *streams { return &streams{all: map[*stream]bool{}} }

func (s *streams) begin(ctx context.Context, login, token string) (context.Context, *stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	st := &stream{login, token, cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	own := 0
	for other := range s.all {
		if other.login == login {
			own++
		}
	}
	if len(s.all) >= mostStreams || own >= mostOfPerson {
		cancel()
		return nil, nil, errBusy
	}
	s.all[st] = true
	return ctx, st, nil
}

func (s *streams) done(st *stream) {
	st.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, st)
}

// end ends those that match.
func (s *streams) end(matches func(*stream) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.all {
		if matches(st) {
			st.cancel()
		}
	}
}

func (s *streams) endAll() { s.end(func(*stream) bool { return true }) }
