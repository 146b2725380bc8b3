package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"charm.land/glamour/v2"
	"charm.land/glamour/v2/ansi"
	"charm.land/glamour/v2/styles"
	"golang.org/x/term"
)

// maxWidth is how many columns reports take at most.
const maxWidth = 100

// screen prints what happens as it happens.
type screen struct {
	width    int
	terminal bool

	mu  sync.Mutex
	out io.Writer
}

// newScreen fits the terminal that out is, or takes the whole width where it is none.
func newScreen(out io.Writer) *screen {
	s := &screen{out: out, width: maxWidth}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.terminal = true
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.width = max(40, min(maxWidth, width))
		}
	}
	return s
}

func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintln(s.out, text) // no one may be reading any more
}

// job prints a line of the job's log.
func (s *screen) job(line string) { s.print("  ralph  │ " + line) }

// github prints what changed on the stand-in.
func (s *screen) github(line string) { s.print("  github │ " + line) }

// show renders reports for reading here.
func (s *screen) show(parts []report) error {
	renderer, err := glamour.NewTermRenderer(glamour.WithStyles(s.style()), glamour.WithWordWrap(s.width),
		glamour.WithPreservedNewLines())
	if err != nil {
		return fmt.Errorf("making the renderer: %w", err)
	}
	for _, part := range parts {
		text, err := renderer.Render(strings.ReplaceAll(unlink(part.markdown), "<br>\n", "\n"))
		if err != nil {
			return fmt.Errorf("rendering %s: %w", part.heading, err)
		}
		_, _ = fmt.Fprintf(s.out, "\n%s\n\n%s\n", s.rule(part), withoutTrailingSpace(text))
	}
	return nil
}

// rule is the line above a report.
func (s *screen) rule(part report) string {
	title := "── " + part.heading + " · " + part.meta + " "
	return title + strings.Repeat("─", max(0, s.width-len([]rune(title))))
}

// style is plain; on a terminal, what is strong is bold there. It has no colours, which no background could swallow.
func (s *screen) style() ansi.StyleConfig {
	plain, margin := styles.NoTTYStyleConfig, uint(0) // a command in a code block should fit a line
	plain.Document.Margin = &margin
	if s.terminal {
		bold := true
		plain.Strong = ansi.StylePrimitive{Bold: &bold}
		plain.Heading.Bold = &bold
	}
	return plain
}

func withoutTrailingSpace(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
