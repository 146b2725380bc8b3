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
	line, err, read := []byte(nil), error(nil), make(chan struct{})
	go func() { // it outlives ctx, but not the process
		defer close(read)
		line, err = d.in.ReadSlice('\n')
	}()
	select {
	case <-ctx.Done():
		d.Err = ErrAborted
	case <-read:
		switch {
		case ctx.Err() != nil, errors.Is(err, io.EOF):
			d.Err = ErrAborted
		case err != nil:
			d.Err = fmt.Errorf("reading an answer: %w", err)
		default:
			return strings.TrimSpace(string(line))
		}
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
