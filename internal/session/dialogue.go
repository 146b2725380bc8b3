package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Dialogue asks questions on a terminal, a line each. After its first error it asks nothing more, and every answer is
// empty.
type Dialogue struct {
	in  *bufio.Reader
	out io.Writer
	Err error
}

// mostAnswer bounds a line.
const mostAnswer = 64 << 10

func NewDialogue(in io.Reader, out io.Writer) *Dialogue {
	return &Dialogue{in: bufio.NewReaderSize(in, mostAnswer), out: out}
}

func (d *Dialogue) Say(line string) {
	if _, err := fmt.Fprintln(d.out, line); err != nil && d.Err == nil {
		d.Err = err
	}
}

// Ask prints the question and waits for a line, which it trims. The end of the answers, or of ctx, is ErrAborted: also
// in the middle of a line, because no one has sent that.
func (d *Dialogue) Ask(ctx context.Context, question string) string {
	if d.Err != nil {
		return ""
	}
	if _, d.Err = io.WriteString(d.out, question); d.Err != nil {
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
		d.Err = ErrAborted
	case err := <-failed:
		d.Err = fmt.Errorf("reading an answer: %w", err)
		if errors.Is(err, io.EOF) {
			d.Err = ErrAborted
		}
	case answer := <-line:
		if ctx.Err() == nil {
			return strings.TrimSpace(answer)
		}
		d.Err = ErrAborted
	}
	_, _ = io.WriteString(d.out, "\n") // what follows begins on a line of its own
	return ""
}

// Until asks again until the answer is accepted; accept returns it as it counts, or else what is wrong with it.
func (d *Dialogue) Until(ctx context.Context, question string, accept func(string) (answer, wrong string)) string {
	for {
		answer, wrong := accept(d.Ask(ctx, question))
		if d.Err != nil || wrong == "" {
			return answer
		}
		d.Say(wrong)
	}
}

// Yes asks a question whose answer is no unless it is y or yes.
func (d *Dialogue) Yes(ctx context.Context, question string) bool {
	answer := strings.ToLower(d.Ask(ctx, question))
	return answer == "y" || answer == "yes"
}

// ErrAborted is what Run returns when the answers ended early, by Ctrl+C or by Ctrl+D. Nothing is written then.
var ErrAborted = errors.New("aborted; nothing is written")
