package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// dialogue asks questions on a terminal, a line each. After its first error it asks nothing more, and every answer is empty.
type dialogue struct {
	in  *bufio.Reader
	out io.Writer
	err error
}

// mostAnswer bounds a line.
const mostAnswer = 64 << 10

func newDialogue(in io.Reader, out io.Writer) *dialogue {
	return &dialogue{in: bufio.NewReaderSize(in, mostAnswer), out: out}
}

func (d *dialogue) say(line string) {
	if _, err := fmt.Fprintln(d.out, line); err != nil && d.err == nil {
		d.err = err
	}
}

// ask prints the question and waits for a line, which it trims. The end of the answers, or of ctx, is ErrAborted: also in the middle
// of a line, since nobody has sent that.
func (d *dialogue) ask(ctx context.Context, question string) string {
	if d.err != nil {
		return ""
	}
	if _, d.err = io.WriteString(d.out, question); d.err != nil {
		return ""
	}
	line := make(chan string, 1)
	failed := make(chan error, 1)
	go func() { // it outlives ctx, but not the process
		text, err := d.in.ReadSlice('\n')
		if err != nil {
			failed <- err
			return
		}
		line <- string(text)
	}()
	select {
	case <-ctx.Done():
		d.err = ErrAborted
	case err := <-failed:
		d.err = fmt.Errorf("reading an answer: %w", err)
		if errors.Is(err, io.EOF) {
			d.err = ErrAborted
		}
	case answer := <-line:
		if ctx.Err() == nil {
			return strings.TrimSpace(answer)
		}
		d.err = ErrAborted
	}
	_, _ = io.WriteString(d.out, "\n") // what follows begins on a line of its own
	return ""
}

// until asks again until the answer is accepted; accept returns it as it counts, or else what is wrong with it.
func (d *dialogue) until(ctx context.Context, question string, accept func(string) (answer, wrong string)) string {
	for {
		answer, wrong := accept(d.ask(ctx, question))
		if d.err != nil || wrong == "" {
			return answer
		}
		d.say(wrong)
	}
}

// yes asks a question whose answer is no unless it is y or yes.
func (d *dialogue) yes(ctx context.Context, question string) bool {
	answer := strings.ToLower(d.ask(ctx, question))
	return answer == "y" || answer == "yes"
}
