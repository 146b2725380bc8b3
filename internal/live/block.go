package live

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

const (
	firstDrawn = time.Second            // how long the log waits for the first time
	stopWithin = 500 * time.Millisecond // how long a terminal that takes nothing may keep us from leaving it
)

// Block is the last lines of a terminal, drawn again and again, below what is written to it. It is an io.Writer of the
// log: whole lines go above the block at once, the rest of one when it ends. It is safe for concurrent use.
type Block struct {
	file    *os.File
	in      *os.File // the keyboard, whose keys are not shown meanwhile; nil: none
	environ []string
	rows    func(width, height int) []string

	mu   sync.Mutex
	part []byte      // of the log: a line that has not ended
	show *blockState // nil: the block is not shown, and the log goes straight to the terminal
}

// blockState is a block while it is shown.
type blockState struct {
	program *tea.Program
	first   chan struct{} // closed when it has been drawn once
	ended   chan struct{} // closed when the program has left the terminal
	echo    func()        // shows keys again
}

// New makes a block on a terminal that is not shown yet. rows makes its lines for a terminal's size, at most Most, as
// often as they are drawn, from any goroutine. environ is the environment, NAME=value each.
func New(file, in *os.File, environ []string, rows func(width, height int) []string) *Block {
	return &Block{file: file, in: in, environ: environ, rows: rows}
}

// Show shows the block, if it is not shown already.
func (b *Block) Show() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.show != nil {
		return
	}
	width, height := b.size()
	s := &blockState{first: make(chan struct{}), ended: make(chan struct{}), echo: quiet(b.in)}
	to := &firstDrawWriter{File: b.file, first: sync.OnceFunc(func() { close(s.first) })}
	s.program = tea.NewProgram(&model{rows: b.rows, width: width, height: height}, tea.WithInput(nil), tea.WithOutput(to),
		tea.WithoutSignalHandler(), tea.WithEnvironment(b.environ), tea.WithFPS(20))
	b.show = s
	go func() {
		defer close(s.ended)
		_, _ = s.program.Run() // where it ends by itself, the log continues without it
	}()
}

// Hide takes the block away, and leaves the terminal as it was. What is written from now on goes there as it is.
func (b *Block) Hide() {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.show
	if s == nil {
		return
	}
	if len(b.part) > 0 {
		b.above(b.part)
		b.part = nil
	}
	b.show = nil
	left := time.AfterFunc(stopWithin, s.program.Kill)
	defer left.Stop()
	go s.program.Send(stop{})
	select {
	case <-s.ended:
	case <-time.After(2 * stopWithin):
	}
	s.echo()
}

// Leave is Hide for a process that ends whatever holds it: it waits for no one who is writing.
func (b *Block) Leave() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Hide()
	}()
	select {
	case <-done:
	case <-time.After(3 * stopWithin):
	}
}

// Write implements io.Writer. It fails only where nothing of the block is shown.
func (b *Block) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.show == nil {
		return b.file.Write(p)
	}
	whole := bytes.LastIndexByte(p, '\n') + 1
	if whole == 0 {
		b.part = append(b.part, p...)
		return len(p), nil
	}
	b.above(append(b.part, p[:whole-1]...))
	b.part = append([]byte(nil), p[whole:]...)
	return len(p), nil
}

// above puts lines above the block. Never so many at once that the block would be among what scrolls away.
func (b *Block) above(text []byte) {
	s := b.show
	select {
	case <-s.first:
	case <-s.ended:
	case <-time.After(firstDrawn):
	}
	width, height := b.size()
	room := max(height-MaxRows(height)-1, 1)
	var lines []string
	taken := 0
	send := func() {
		if taken > 0 {
			s.program.Send(tea.Println(strings.Join(lines, "\n"))())
		}
		lines, taken = nil, 0
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		for _, piece := range fitted(line, width, room) {
			rows := 1 + max(ansi.StringWidth(piece)-1, 0)/width
			if taken+rows > room {
				send()
			}
			lines, taken = append(lines, piece), taken+rows
		}
	}
	send()
	select {
	case <-s.ended: // the terminal has gone, or the program has failed: nothing may be lost for that
		_, _ = b.file.Write(append(text, '\n'))
	default:
	}
}

// fitted is a line as it is where the terminal can be left to wrap it, so that it can be copied whole; else its rows.
func fitted(line string, width, room int) []string {
	line = strings.ReplaceAll(line, "\t", "        ")
	cells := ansi.StringWidth(line)
	if cells <= width || cells%width != 0 && cells/width < room && cells == len(ansi.Strip(line)) {
		return []string{line}
	}
	return strings.Split(ansi.Hardwrap(line, width, true), "\n")
}

// size is that of the terminal, in columns and rows.
func (b *Block) size() (width, height int) {
	width, height, err := term.GetSize(int(b.file.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// firstDrawWriter is a terminal that tells when something was first drawn.
type firstDrawWriter struct {
	*os.File
	first func()
}

// Write implements io.Writer.
func (d *firstDrawWriter) Write(p []byte) (int, error) {
	n, err := d.File.Write(p)
	d.first()
	return n, err
}

// Close keeps the terminal open: it is not the program's.
func (d *firstDrawWriter) Close() error { return nil }

var _ io.Writer = (*Block)(nil)

// model is the block as bubbletea draws it.
type model struct {
	rows          func(width, height int) []string
	width, height int
	over          bool
}

type (
	tick time.Time
	stop struct{}
)

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return next() }

func next() tea.Cmd { return tea.Tick(frame, func(t time.Time) tea.Msg { return tick(t) }) }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tick:
		return m, next()
	case stop:
		m.over = true
		return m, tea.Quit
	}
	return m, nil
}

// View implements tea.Model. The cursor stays to be seen, so that a terminal whose program is killed has one.
func (m *model) View() tea.View {
	view := tea.View{DisableBracketedPasteMode: true, Cursor: tea.NewCursor(0, 0)}
	if m.over || m.width <= 0 {
		return view
	}
	rows := m.rows(m.width, m.height)
	if most := max(m.height-2, 1); len(rows) > most {
		rows = rows[:most]
	}
	last := len(rows) - 1
	view.Content = strings.Join(rows, "\n")
	view.Cursor = tea.NewCursor(min(ansi.StringWidth(rows[last]), m.width-1), last)
	return view
}
