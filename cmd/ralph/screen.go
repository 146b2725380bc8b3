package main

import (
	"fmt"
	"io"
	"strings"
)

// screen draws a text over the one before, in one write, so that nothing flickers.
type screen struct {
	out   io.Writer
	size  func() (width, height int)
	drawn int // lines of the text before
}

// draw shows a text and below it a block, if that is not nil: the whole block, and as many lines of the text as there
// is room for. The terminal cuts long ones: a line that wraps would be two.
func (s *screen) draw(text string, block func(width int) []string) error {
	lines, rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n"), []string(nil)
	width, height := s.size()
	if block != nil {
		rows = block(width)
		rows = rows[:min(len(rows), max(height-2, 0))]
	}
	if most := max(height-1-len(rows), 1); len(lines) > most {
		lines = lines[:most]
	}
	lines = append(lines, rows...)
	var b strings.Builder
	b.WriteString("\x1b[?7l")
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", s.drawn)
	}
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J\x1b[?7h")
	s.drawn = len(lines)
	_, err := io.WriteString(s.out, b.String())
	return err
}
