package local

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// Lane is what shows one of several tasks that run at once.
type Lane struct {
	Watch session.Watch
	Live  io.Writer // takes what is counted down; nil: nobody shows that
	Over  func()    // the task has ended
}

// lane is where one of several tasks runs: all that it prints begins with its name, line by line.
type lane struct {
	one       *IssueRun
	ctx, hard context.Context
	over      func()
}

func (l *List) lane(ctx, hard context.Context, t task.Task) lane {
	one := l.IssueRun
	if l.Parallel <= 1 {
		return lane{&one, ctx, hard, func() {}}
	}
	steps := loop.StepsOf(ctx).Child(t.ID)
	shown := Lane{Over: func() {}}
	if l.Lanes != nil {
		shown = l.Lanes(t, steps)
	}
	lines := &named{name: t.ID, to: safetext.Coloured(l.Out)}
	one.Out, one.Live, one.Watch, one.Groups = safetext.NewConsole(lines), shown.Live, shown.Watch, nil
	if ask := l.Ask; ask != nil {
		one.Ask = func(question string) (string, error) {
			l.asking.Lock()
			defer l.asking.Unlock()
			return ask(question)
		}
	}
	if steps != nil {
		ctx, hard = loop.WithStepTracker(ctx, steps), loop.WithStepTracker(hard, steps)
	}
	return lane{&one, ctx, hard, func() {
		lines.end()
		shown.Over()
	}}
}

// named writes whole lines, each behind a name. It is safe for concurrent use.
type named struct {
	name string
	to   io.Writer

	mu   sync.Mutex
	part []byte // a line that has not ended
}

// Write implements io.Writer.
func (n *named) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.part = append(n.part, p...)
	end := bytes.LastIndexByte(n.part, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	whole := n.part[:end]
	n.part = append([]byte(nil), n.part[end:]...)
	return len(p), n.put(whole)
}

func (n *named) put(lines []byte) error {
	var out bytes.Buffer
	for line := range bytes.Lines(lines) {
		out.WriteString(n.name + " | ")
		out.Write(line)
	}
	_, err := n.to.Write(out.Bytes())
	return err
}

// end writes the last line, when nobody has ended it.
func (n *named) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.part) > 0 {
		_ = n.put(append(n.part, '\n')) // what cannot be shown is in the logs
		n.part = nil
	}
}
