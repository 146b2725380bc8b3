package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/live"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

func isTerminal(w io.Writer) bool {
	file, ok := safetext.Raw(w).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// columns is how wide a terminal is; 0 for anything else.
func columns(w io.Writer) int {
	if file, ok := safetext.Raw(w).(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// shared is a terminal with two independent writers: the notices of signals, and a block at its bottom.
type shared struct {
	mu    sync.Mutex
	to    io.Writer
	block *live.Block // nil: none
}

// Write implements io.Writer.
func (s *shared) Write(p []byte) (int, error) {
	if b := s.shown(); b != nil {
		return b.Write(p)
	}
	return s.to.Write(p)
}

func (s *shared) set(b *live.Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.block = b
}

func (s *shared) shown() *live.Block {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.block
}

// leave restores the terminal, whatever else continues.
func (s *shared) leave() {
	if b := s.shown(); b != nil {
		b.Leave()
	}
}

// until is a reader that ends with ctx, also while it waits for what does not come. An abandoned read can still take a
// byte, so nothing reads after it.
type until struct {
	ctx context.Context
	io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	type result struct {
		n   int
		err error
	}
	read, buffer := make(chan result, 1), make([]byte, len(p))
	go func() {
		n, err := u.Reader.Read(buffer)
		read <- result{n, err}
	}()
	select {
	case <-u.ctx.Done():
		return 0, u.ctx.Err()
	case r := <-read:
		return copy(p, buffer[:r.n]), r.err
	}
}

// hangupDelay is how long a signal may take to arrive when the terminal at which we read has closed.
const hangupDelay = 200 * time.Millisecond

// askLine asks one question at a terminal. It ends with ctx.
func askLine(ctx context.Context, in *os.File, out io.Writer, question string) (string, error) {
	d := session.NewDialogue(in, out)
	answer := d.Ask(ctx, question)
	if d.Err != nil {
		select {
		case <-ctx.Done():
		case <-time.After(hangupDelay):
		}
	}
	return answer, d.Err
}

// readPrompt is all of standard input as a prompt, which may be as long as one in a file. It ends with ctx.
func readPrompt(ctx context.Context, in *os.File) (string, error) {
	if in == nil {
		return "", errors.New("--prompt-file is -, and there is no standard input")
	}
	return readText(ctx, in, standardInput, files.Max, "pipe the prompt in, or name a file")
}

const standardInput = "standard input"

// readText reads all of a text, which must not be empty or longer than most bytes; advice is what to do then.
func readText(ctx context.Context, from io.Reader, name string, most int64, advice string) (string, error) {
	text, err := io.ReadAll(io.LimitReader(until{ctx, from}, most+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading %s: %w", name, err)
	case int64(len(text)) > most:
		return "", fmt.Errorf("%s has more than %d MiB; %s", name, most>>20, advice)
	case strings.TrimSpace(string(text)) == "":
		return "", fmt.Errorf("%s is empty; %s", name, advice)
	}
	return string(text), nil
}
